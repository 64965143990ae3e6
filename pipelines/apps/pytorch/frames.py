# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that a GPU decodes and normalizes, as PyTorch tensors in GPU memory."""
import struct
import zlib
from typing import Iterable, Iterator

import torch
from gst_cudatensor import Tensor


def description_of(uri: str, size: int) -> str:
    """Returns a pipeline in the syntax of gst-launch-1.0: decoder, cudanormalize and an appsink
    named sink."""
    quoted = uri.replace("\\", "\\\\").replace('"', '\\"')
    return (f'uridecodebin uri="{quoted}" caps=video/x-raw(memory:CUDAMemory) ! '
            f"cudanormalize backend=cuda width={size} height={size} resize-mode=ultralytics "
            "video-direction=auto interlaced=as-progressive ! other/tensors(memory:CUDAMemory) ! "
            "appsink name=sink sync=false max-buffers=4")


def tensors_of(samples: Iterable) -> Iterator[torch.Tensor]:
    """Yields a batch of one picture for each sample of the appsink: shape (1, 3, size, size),
    float32 from 0 to 1. The tensor uses the memory of the buffer, which returns to its pool when
    the tensor has been freed and PyTorch's stream has executed the work queued before that."""
    for sample in samples:
        yield torch.from_dlpack(Tensor.from_sample(sample))


class Edges(torch.nn.Module):
    """A simple network: the mean strength of the edges in each channel."""

    def __init__(self) -> None:
        super().__init__()
        sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
        self.register_buffer("kernels", sobel.expand(3, 1, 3, 3).contiguous())

    def strength(self, batch: torch.Tensor) -> torch.Tensor:
        """Returns the strength of the edges at each pixel, of the same shape (N, 3, H, W)."""
        return torch.nn.functional.conv2d(batch, self.kernels, padding=1, groups=3).abs()

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Returns the mean strength of the edges, of shape (N, 3), for a batch of (N, 3, H, W)."""
        return self.strength(batch).mean((2, 3))


def write_png(picture: torch.Tensor, path: str) -> None:
    """Writes a picture of shape (3, H, W), float from 0 to 1."""
    rows = (picture.clamp(0, 1) * 255).round().to(torch.uint8).permute(1, 2, 0).cpu()
    height, width, _ = rows.shape
    data = b"".join(b"\0" + bytes(row.flatten().tolist()) for row in rows)
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
              (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in chunks:
            checksum = struct.pack(">I", zlib.crc32(kind + content))
            file.write(struct.pack(">I", len(content)) + kind + content + checksum)
