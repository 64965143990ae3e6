# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that a GPU decodes, normalised, as PyTorch tensors that never leave it."""
from typing import Iterable, Iterator

import torch
from gst_cudatensor import Tensor


def description_of(uri: str, size: int) -> str:
    """The pipeline, as gst-launch-1.0 takes it: decoder, cudanormalize and an appsink named sink."""
    quoted = uri.replace("\\", "\\\\").replace('"', '\\"')
    return (f'uridecodebin uri="{quoted}" caps=video/x-raw(memory:CUDAMemory) ! '
            f"cudanormalize backend=cuda width={size} height={size} resize-mode=ultralytics ! "
            "other/tensors(memory:CUDAMemory) ! appsink name=sink sync=false max-buffers=4")


def tensors_of(samples: Iterable) -> Iterator[torch.Tensor]:
    """A batch of one picture, shape (1, 3, size, size), float32 from 0 to 1, for each sample of the
    appsink: the memory of the buffer itself, which goes back to its pool when the tensor is gone and
    PyTorch's stream has come there."""
    for sample in samples:
        yield torch.from_dlpack(Tensor.from_sample(sample))


class Edges(torch.nn.Module):
    """Stands for a network: how much of each picture is edges, in its three channels."""

    def __init__(self) -> None:
        super().__init__()
        sobel = torch.tensor([[1.0, 0.0, -1.0], [2.0, 0.0, -2.0], [1.0, 0.0, -1.0]])
        self.register_buffer("kernels", sobel.expand(3, 1, 3, 3).contiguous())

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """(N, 3, H, W) → (N, 3)"""
        return torch.nn.functional.conv2d(batch, self.kernels, groups=3).abs().mean((2, 3))
