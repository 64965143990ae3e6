#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times CV-CUDA and prints rows for tables.py. CV-CUDA converts NV12 only with the matrix of
BT.601, so it is compared with our results for that matrix."""
import itertools

import cvcuda
import numpy as np
import torch

import common
import faces

WIDTH, HEIGHT, SIDE, CONTENT = 1920, 1080, 640, 360
TOP = (SIDE - CONTENT) // 2
MEAN = [0.485, 0.456, 0.406]
SCALE = [1 / std for std in (0.229, 0.224, 0.225)]


class Calls:
    """Frames and results as CV-CUDA's tensors, and the stream of all calls."""

    def __init__(self, rotation, shape, dtype, layout):
        self.frames = [cvcuda.as_tensor(frames, "NHWC") for frames in rotation.calls]
        self.memory = common.results(shape, dtype, len(self.frames))
        self.results = [cvcuda.as_tensor(result, layout) for result in self.memory]
        self.stream = cvcuda.as_stream(torch.cuda.current_stream())

    def peer(self, queue, batch, compare):
        """`queue` takes the memory for the result of a call, and the frames."""
        def run(i):
            j = i % len(self.results)
            queue(self.results[j], self.frames[i])
            return self.memory[j]

        return common.Peer(run, len(self.frames), batch, compare, self.memory)


def scratch(shape, dtype=torch.uint8):
    return cvcuda.as_tensor(torch.empty(shape, dtype=dtype, device="cuda"), "NHWC")


def camera(width, height, batch):
    return common.Rotation(lambda pattern: common.nv12(width, height, pattern),
                           (batch, height * 3 // 2, width, 1))


def comparison(expected, size, levels):
    return lambda frame, result: common.check_about(result, expected.of(frame, size), levels)


def six_calls(peers, batch):
    calls = Calls(camera(WIDTH, HEIGHT, batch), (batch, 3, SIDE, SIDE), torch.float32, "NCHW")
    rgb, small = scratch((batch, HEIGHT, WIDTH, 3)), scratch((batch, CONTENT, SIDE, 3))
    padded = scratch((batch, SIDE, SIDE, 3))
    floats, normal = (scratch((batch, SIDE, SIDE, 3), torch.float32) for _ in range(2))
    stream = calls.stream

    def queue(out, frames):
        cvcuda.cvtcolor_into(rgb, frames, cvcuda.ColorConversion.YUV2RGB_NV12, stream=stream)
        cvcuda.resize_into(small, rgb, cvcuda.Interp.LINEAR, stream=stream)
        cvcuda.copymakeborder_into(padded, small, cvcuda.Border.CONSTANT, [114.0, 114.0, 114.0],
                                   top=TOP, left=0, stream=stream)
        cvcuda.convertto_into(floats, padded, 1 / 255, stream=stream)
        cvcuda.normalize_into(normal, floats, MEAN, SCALE, stream=stream)
        cvcuda.reformat_into(out, normal, stream=stream)

    expected = peers.expected("tensor-601", torch.float32)
    return calls.peer(queue, batch, comparison(expected, 3 * SIDE * SIDE, 255 * 0.226))


def two_calls(peers, batch):
    """Stretches, because this call neither pads nor normalizes channels separately."""
    calls = Calls(camera(WIDTH, HEIGHT, batch), (batch, 3, SIDE, SIDE), torch.float32, "NCHW")
    rgb = scratch((batch, HEIGHT, WIDTH, 3))
    stream = calls.stream

    def queue(out, frames):
        cvcuda.cvtcolor_into(rgb, frames, cvcuda.ColorConversion.YUV2RGB_NV12, stream=stream)
        cvcuda.resize_crop_convert_reformat_into(out, rgb, (SIDE, SIDE), cvcuda.Interp.LINEAR,
                                                 (0, 0), scale=1 / 255, stream=stream)

    expected = peers.expected("tensor-stretched-601", torch.float32)
    return calls.peer(queue, batch, comparison(expected, 3 * SIDE * SIDE, 255))


def turned(peers, batch):
    """Turned by 90 degrees after the resize, where there is least to turn."""
    calls = Calls(camera(WIDTH, HEIGHT, batch), (batch, 3, SIDE, SIDE), torch.float32, "NCHW")
    rgb, small = scratch((batch, HEIGHT, WIDTH, 3)), scratch((batch, CONTENT, SIDE, 3))
    upright, padded = scratch((batch, SIDE, CONTENT, 3)), scratch((batch, SIDE, SIDE, 3))
    floats, normal = (scratch((batch, SIDE, SIDE, 3), torch.float32) for _ in range(2))
    clockwise = np.array([[0, -1, CONTENT - 1], [1, 0, 0]], np.float32)
    stream = calls.stream

    def queue(out, frames):
        cvcuda.cvtcolor_into(rgb, frames, cvcuda.ColorConversion.YUV2RGB_NV12, stream=stream)
        cvcuda.resize_into(small, rgb, cvcuda.Interp.LINEAR, stream=stream)
        cvcuda.warp_affine_into(upright, small, clockwise, cvcuda.Interp.NEAREST,
                                border_mode=cvcuda.Border.CONSTANT, border_value=[114.0],
                                stream=stream)
        cvcuda.copymakeborder_into(padded, upright, cvcuda.Border.CONSTANT, [114.0, 114.0, 114.0],
                                   top=0, left=TOP, stream=stream)
        cvcuda.convertto_into(floats, padded, 1 / 255, stream=stream)
        cvcuda.normalize_into(normal, floats, MEAN, SCALE, stream=stream)
        cvcuda.reformat_into(out, normal, stream=stream)

    expected = peers.expected("turned-90r-601", torch.float16)
    return calls.peer(queue, batch, comparison(expected, 3 * SIDE * SIDE, 255 * 0.226))


def aligned_faces(peers, size=112, count=64):
    """All faces of a frame in one call, after the conversion of the frame."""
    calls = Calls(camera(WIDTH, HEIGHT, 1), (count, 3, size, size), torch.float32, "NCHW")
    rgb = torch.empty((HEIGHT, WIDTH, 3), dtype=torch.uint8, device="cuda")
    slots = torch.empty((count, size, size, 3), dtype=torch.uint8, device="cuda")
    picture, crops = cvcuda.as_tensor(rgb[None], "NHWC"), cvcuda.as_tensor(slots, "NHWC")
    sources, results = cvcuda.ImageBatchVarShape(count), cvcuda.ImageBatchVarShape(count)
    for slot in slots:
        sources.pushback(cvcuda.as_image(rgb, cvcuda.Format.RGB8))
        results.pushback(cvcuda.as_image(slot, cvcuda.Format.RGB8))
    floats, normal = (scratch((count, size, size, 3), torch.float32) for _ in range(2))
    samples = faces.at_samples(faces.face_matrices(size, count, WIDTH, HEIGHT))
    transforms = cvcuda.as_tensor(
        torch.tensor(samples.reshape(count, 6), dtype=torch.float32, device="cuda"), "NW")
    stream = calls.stream

    def queue(out, frames):
        cvcuda.cvtcolor_into(picture, frames, cvcuda.ColorConversion.YUV2RGB_NV12, stream=stream)
        cvcuda.warp_affine_into(results, sources, transforms, cvcuda.Interp.LINEAR,
                                border_mode=cvcuda.Border.CONSTANT, border_value=[114.0],
                                stream=stream)
        cvcuda.convertto_into(floats, crops, 1 / 255, stream=stream)
        cvcuda.normalize_into(normal, floats, MEAN, SCALE, stream=stream)
        cvcuda.reformat_into(out, normal, stream=stream)

    expected = peers.expected("faces-601", torch.float16)
    return calls.peer(queue, 1, comparison(expected, count * 3 * size * size, 255 * 0.226))


def bgr(peers, width, height):
    """3840x2160 NV12 to this size."""
    calls = Calls(camera(3840, 2160, 1), (1, height, width, 3), torch.uint8, "NHWC")
    whole = scratch((1, 2160, 3840, 3))
    stream, same_size = calls.stream, width == 3840

    def queue(out, frames):
        cvcuda.cvtcolor_into(out if same_size else whole, frames,
                             cvcuda.ColorConversion.YUV2BGR_NV12, stream=stream)
        if not same_size:
            cvcuda.resize_into(out, whole, cvcuda.Interp.LINEAR, stream=stream)

    expected = peers.expected("bgr-4k-601" if same_size else "bgr-half-601", torch.uint8)
    return calls.peer(queue, 1, comparison(expected, 3 * width * height, 1))


def histogram(peers, name, width, height, frame):
    calls = Calls(common.Rotation(frame, (1, height, width, 1)), (1, 256, 1), torch.int32, "HWC")
    expected = peers.expected(name, torch.int64)
    return calls.peer(
        lambda out, picture: cvcuda.histogram_into(out, picture, stream=calls.stream), 1,
        lambda frame, result: common.check_equal(result, expected.of(frame, 256)))


def classifier(peers, batch, resize, of_nv12):
    """Shorter edge to 256, bicubic and antialiased, then the middle 224x224. `resize` takes the
    scaled picture of 8-bit samples, the source and a stream. The result has float32."""
    name = "filter-224-f16-601" if of_nv12 else "filter-224-bgr"
    source = camera(WIDTH, HEIGHT, batch) if of_nv12 else common.Rotation(
        lambda pattern: common.packed(WIDTH, HEIGHT, 3, pattern), (batch, HEIGHT, WIDTH, 3))
    calls = Calls(source, (batch, 3, 224, 224), torch.float32, "NCHW")
    rgb, small = scratch((batch, HEIGHT, WIDTH, 3)), scratch((batch, 256, 455, 3))
    middle = scratch((batch, 224, 224, 3))
    floats, normal = (scratch((batch, 224, 224, 3), torch.float32) for _ in range(2))
    conversion = cvcuda.ColorConversion
    conversion = conversion.YUV2RGB_NV12 if of_nv12 else conversion.BGR2RGB
    stream = calls.stream

    def queue(out, frames):
        cvcuda.cvtcolor_into(rgb, frames, conversion, stream=stream)
        resize(small, rgb, stream)
        cvcuda.customcrop_into(middle, small, cvcuda.RectI(116, 16, 224, 224), stream=stream)
        cvcuda.convertto_into(floats, middle, 1 / 255, stream=stream)
        cvcuda.normalize_into(normal, floats, MEAN, SCALE, stream=stream)
        cvcuda.reformat_into(out, normal, stream=stream)

    expected = peers.expected(name, torch.float16)
    return calls.peer(queue, batch, comparison(expected, 3 * 224 * 224, 255 * 0.226))


def high_quality(small, rgb, stream):
    cvcuda.hq_resize_into(small, rgb, antialias=True, interpolation=cvcuda.Interp.CUBIC,
                          stream=stream)


def as_pillow(small, rgb, stream):
    cvcuda.pillowresize_into(small, rgb, cvcuda.Format.RGB8, cvcuda.Interp.CUBIC, stream=stream)


def add_filters(peers):
    resizes = {"hq_resize": high_quality, "pillowresize": as_pillow}
    for (batch, end), (call, resize) in itertools.product(((1, ""), (64, "-batch")),
                                                          resizes.items()):
        for of_nv12, name in ((True, "filter-224-f16"), (False, "filter-224-bgr")):
            peers.add(name + end, f"CV-CUDA, 6 calls with {call}, float32",
                      lambda: classifier(peers, batch, resize, of_nv12))


def add_tensors(peers):
    for name, batch in (("tensor", 1), ("batch", 64)):
        peers.add(name, "CV-CUDA, 6 calls", lambda: six_calls(peers, batch))
        peers.add(name, "CV-CUDA, 2 calls: stretched, without mean and std",
                  lambda: two_calls(peers, batch))


def add_turned(peers):
    for batch, end in ((1, ""), (64, "-batch")):
        peers.add("turned-90r" + end, "CV-CUDA, 7 calls, float32", lambda: turned(peers, batch))
    peers.add("faces", "CV-CUDA, 5 calls, float32", lambda: aligned_faces(peers))


def add_histograms(peers):
    for name, width, height in (("histogram", 1920, 1080), ("histogram-4k", 3840, 2160)):
        peers.add(name, "CV-CUDA", lambda: histogram(
            peers, name, width, height, lambda pattern: common.noise(width * height, pattern)))
        peers.add(name + "-flat", "CV-CUDA", lambda: histogram(
            peers, name + "-flat", width, height, lambda _: common.flat(width * height)))


def main():
    options = common.parse_options()
    common.begin("CV-CUDA", cvcuda.__version__)
    peers = common.Peers(options)
    add_tensors(peers)
    add_filters(peers)
    add_turned(peers)
    peers.add("bgr-4k", "CV-CUDA", lambda: bgr(peers, 3840, 2160))
    peers.add("bgr-half", "CV-CUDA, 2 calls", lambda: bgr(peers, 1920, 1080))
    add_histograms(peers)


main()
