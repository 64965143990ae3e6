# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways from a file of H.264 to batches of tensors, for frames.py. Each is a generator that takes the
file's path and the work, keyword arguments of gst_cudatensor.Frames that select frames, and gives
tensors (N, 3, SIDE, SIDE) of float16 from 0 to 1: frames letterboxed, on the GPU if there is one."""
import functools

BATCH, SIDE, PAD = 64, 640, 114


def ours(path, work):
    import gst_cudatensor
    import torch

    with gst_cudatensor.Frames(path, batch=BATCH, width=SIDE, height=SIDE,
                               resize_mode="ultralytics", dtype="float16", **work) as frames:
        for batch in frames:
            yield torch.from_dlpack(batch)


def rows_of(height, width):
    """The height of the picture in its letterbox, and the rows above it."""
    rows = round(height * SIDE / width)
    return rows, (SIDE - rows) // 2


def letterboxed(frames):
    """Letterboxes a tensor (N, 3, H, W) of bytes with PyTorch."""
    import torch

    rows, top = rows_of(*frames.shape[2:])
    out = torch.full((len(frames), 3, SIDE, SIDE), PAD / 255, dtype=torch.float16,
                     device=frames.device)
    # Resizing in float16 is faster on the GPU than in float32, and exact to half a level.
    kind = torch.float16 if frames.is_cuda else torch.float32
    out[:, :, top:top + rows] = torch.nn.functional.interpolate(
        frames.to(kind) / 255, size=(rows, SIDE), mode="bilinear", align_corners=False)
    return out


@functools.lru_cache(maxsize=None)
def compiled():
    import torch

    return torch.compile(letterboxed, dynamic=True)


def letterboxed_by_cv_cuda(frames):
    """Letterboxes a tensor (N, H, W, 3) of bytes. CV-CUDA has no float16, so PyTorch converts in
    one call."""
    import cvcuda
    import torch

    rows, top = rows_of(*frames.shape[1:3])
    stream = cvcuda.as_stream(torch.cuda.current_stream())
    small = cvcuda.resize(cvcuda.as_tensor(frames, "NHWC"), (len(frames), rows, SIDE, 3),
                          cvcuda.Interp.LINEAR, stream=stream)
    padded = torch.empty((len(frames), SIDE, SIDE, 3), dtype=torch.uint8, device="cuda")
    cvcuda.copymakeborder_into(cvcuda.as_tensor(padded, "NHWC"), small, cvcuda.Border.CONSTANT,
                               [float(PAD)] * 3, top=top, left=0, stream=stream)
    out = torch.empty((len(frames), 3, SIDE, SIDE), dtype=torch.float16, device="cuda")
    return torch.mul(padded.permute(0, 3, 1, 2), 1 / 255, out=out)


def wanted(work, count, rate):
    """The indices of the wanted frames among `count`."""
    import numpy

    if "every" in work:
        return list(range(0, count, round(rate)))
    if "count" in work:
        return numpy.linspace(0, count - 1, work["count"], dtype=int).tolist()
    return list(range(count))


def pynvvideocodec(path, work, letterbox, color="RGBP"):
    import PyNvVideoCodec
    import torch

    settings = {"gpu_id": 0, "use_device_memory": True,
                "output_color_type": getattr(PyNvVideoCodec.OutputColorType, color)}

    def batch_of(frames):
        return letterbox(torch.stack([torch.from_dlpack(frame) for frame in frames]))

    if not work:
        decoder = PyNvVideoCodec.ThreadedDecoder(path, BATCH, **settings)
        while frames := decoder.get_batch_frames(BATCH):
            yield batch_of(frames)
        return decoder.end()
    decoder = PyNvVideoCodec.SimpleDecoder(path, **settings)
    indices = wanted(work, len(decoder), decoder.get_stream_metadata().average_fps)
    for i in range(0, len(indices), BATCH):
        yield batch_of(decoder.get_batch_frames_by_index(indices[i:i + BATCH]))


def pynvvideocodec_and_pytorch(path, work):
    return pynvvideocodec(path, work, letterboxed)


def pynvvideocodec_and_compiled(path, work):
    return pynvvideocodec(path, work, compiled())


def pynvvideocodec_and_cv_cuda(path, work):
    return pynvvideocodec(path, work, letterboxed_by_cv_cuda, "RGB")


def in_batches(frames):
    """`frames` are tensors (3, H, W)."""
    import torch

    kept = []
    for frame in frames:
        kept.append(frame)
        if len(kept) == BATCH:
            yield letterboxed(torch.stack(kept))
            kept = []
    if kept:
        yield letterboxed(torch.stack(kept))


def pyav(path, work):
    import av
    import torch

    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        indices = set(wanted(work, stream.frames, float(stream.average_rate)))
        yield from in_batches(
            torch.from_numpy(frame.to_ndarray(format="rgb24")).permute(2, 0, 1)
            for i, frame in enumerate(container.decode(stream)) if i in indices)


def torchcodec(path, work):
    import torch
    from torchcodec.decoders import VideoDecoder

    decoder = VideoDecoder(path, device="cuda" if torch.cuda.is_available() else "cpu")
    indices = wanted(work, len(decoder), decoder.metadata.average_fps)
    for i in range(0, len(indices), BATCH):
        yield letterboxed(decoder.get_frames_at(indices[i:i + BATCH]).data)


def dali_frames(path, work):
    """Returns a node of a DALI pipeline for sequences of frames, and their number."""
    from nvidia.dali import fn

    count, rate = count_and_rate(path)
    if not work:
        frames = fn.readers.video(device="gpu", filenames=[path], sequence_length=BATCH,
                                  pad_sequences=True, name="frames")
        return frames, -(-count // BATCH)
    encoded, _ = fn.readers.file(files=[path])
    indices = wanted(work, count, rate)
    return fn.decoders.video(encoded, device="mixed", frames=indices), 1


@functools.lru_cache(maxsize=None)
def count_and_rate(path):
    """Returns the number and the rate of frames. DALI does not tell them; another way's count costs
    DALI no time."""
    import gst_cudatensor

    with gst_cudatensor.Frames(path, batch=BATCH, device="cpu", count=2) as frames:
        first, last = next(iter(frames)).pts
    with gst_cudatensor.Frames(path, batch=2, device="cpu", stop="1s") as frames:
        second = next(iter(frames)).pts[1]
    step = second - first
    return round((last - first) / step) + 1, 1e9 / step


def dali(path, work):
    import torch
    from nvidia.dali import fn, pipeline_def, types

    @pipeline_def(batch_size=1, num_threads=1, device_id=0, exec_dynamic=True)
    def make():
        frames, make.calls = dali_frames(path, work)
        small = fn.resize(frames, size=(SIDE, SIDE), mode="not_larger", antialias=False,
                          interp_type=types.INTERP_LINEAR)
        # The fill value outside of the picture is a value before the normalization.
        return fn.crop_mirror_normalize(small, dtype=types.FLOAT16, output_layout="FCHW",
                                        crop=(SIDE, SIDE), mean=[0.0] * 3, std=[255.0] * 3,
                                        out_of_bounds_policy="pad", fill_values=[PAD / 255] * 3)

    pipeline = make()
    pipeline.build()
    stream = torch.cuda.current_stream()
    for _ in range(make.calls):
        result, = pipeline.run(stream)
        yield torch.from_dlpack(result.as_tensor())[0]


WAYS = {"gst-cudatensor": (ours, "gst_cudatensor"),
        "PyNvVideoCodec and PyTorch": (pynvvideocodec_and_pytorch, "PyNvVideoCodec"),
        "PyNvVideoCodec and compiled PyTorch": (pynvvideocodec_and_compiled, "PyNvVideoCodec"),
        "PyNvVideoCodec and CV-CUDA": (pynvvideocodec_and_cv_cuda, "cvcuda"),
        "DALI": (dali, "nvidia.dali"),
        "torchcodec and PyTorch": (torchcodec, "torchcodec"),
        "PyAV and PyTorch": (pyav, "av")}
