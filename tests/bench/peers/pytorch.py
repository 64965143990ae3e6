#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times PyTorch, eager and compiled, and prints rows for tables.py."""
import torch
import torch.nn.functional as F

import common
import faces

WIDTH, HEIGHT, SIDE, CONTENT = 1920, 1080, 640, 360
# BT.709, limited range: R, G and B of Y - 16, U - 128 and V - 128.
MATRIX = [[1.16438356, 0.0, 1.79274107], [1.16438356, -0.21324861, -0.53290933],
          [1.16438356, 2.11240179, 0.0]]
BLACK = [16.0, 128.0, 128.0]


def column(values):
    return torch.tensor(values, device="cuda").view(1, 3, 1)


def product():
    """Color conversion as a matrix product, with the fewest calls."""
    matrix = torch.tensor(MATRIX, device="cuda")
    offset = -(matrix @ torch.tensor(BLACK, device="cuda")).view(1, 3, 1)

    def to_rgb(y, uv):
        yuv = torch.cat([y, uv], 1).flatten(2)
        rgb = torch.baddbmm(offset, matrix.expand(len(yuv), 3, 3), yuv)
        return rgb.view(len(yuv), 3, *y.shape[2:])

    return to_rgb


def sums(y, uv):
    """Color conversion as sums, which a compiler fuses with the surrounding operations."""
    y, u, v = y[:, 0] - BLACK[0], uv[:, 0] - BLACK[1], uv[:, 1] - BLACK[2]
    return torch.stack([a * y + b * u + c * v for a, b, c in MATRIX], 1)


def planes(frames):
    """The luma of NV12 frames, and their chroma, which has half the size."""
    luma = frames[:, :HEIGHT].unsqueeze(1).float()
    chroma = frames[:, HEIGHT:].reshape(-1, HEIGHT // 2, WIDTH // 2, 2)
    return luma, chroma.permute(0, 3, 1, 2).float()


def resized(plane, height, width):
    return F.interpolate(plane, (height, width), mode="bilinear", align_corners=False)


def whole_rgb(to_rgb, frames):
    luma, chroma = planes(frames)
    return to_rgb(luma, resized(chroma, HEIGHT, WIDTH)).clamp(0, 255)


def normalizer(dtype):
    scale, offset = (column(numbers).view(1, 3, 1, 1) for numbers in (common.SCALE, common.OFFSET))
    return lambda rgb: (rgb * scale + offset).to(dtype)


def tensor_maker(to_rgb, dtype, turned=False):
    """`turned`: by 90 degrees, after the resize, where there is least to turn."""
    normalized = normalizer(dtype)
    pad = (SIDE - CONTENT) // 2
    borders = (pad, pad) if turned else (0, 0, pad, pad)

    def make(frames):
        rgb = to_rgb(*(resized(plane, CONTENT, SIDE) for plane in planes(frames))).clamp(0, 255)
        if turned:
            rgb = rgb.rot90(-1, (2, 3))
        return normalized(F.pad(rgb, borders, value=114.0))

    return make


def faces_maker(to_rgb, size, matrices):
    """Slots by matrices of one frame, which is converted as a whole."""
    normalized = normalizer(torch.float16)
    inverse = torch.linalg.inv(torch.cat([torch.tensor(matrices), torch.tensor(
        [[[0.0, 0.0, 1.0]]], dtype=torch.float64).expand(len(matrices), 1, 3)], 1))
    # From and to the range -1 to 1 of affine_grid() and grid_sample().
    slot = torch.tensor([[size / 2, 0, size / 2], [0, size / 2, size / 2], [0, 0, 1]]).double()
    frame = torch.tensor([[2 / WIDTH, 0, -1], [0, 2 / HEIGHT, -1], [0, 0, 1]]).double()
    theta = (frame @ inverse @ slot)[:, :2].float().cuda()
    grid = F.affine_grid(theta, (len(matrices), 3, size, size), align_corners=False)

    def make(frames):
        rgb = whole_rgb(to_rgb, frames).expand(len(matrices), 3, HEIGHT, WIDTH)
        return normalized(F.grid_sample(rgb, grid, mode="bilinear", align_corners=False))

    return make


def aligned_faces(peers, make):
    frames = common.Rotation(lambda pattern: common.nv12(WIDTH, HEIGHT, pattern),
                             (1, HEIGHT * 3 // 2, WIDTH)).calls
    expected = peers.expected("faces", torch.float16)

    def compare(frame, result):
        common.check_about(result, expected.of(frame, result.numel()), 255 * 0.226)

    return common.Peer(lambda i: make(frames[i]), len(frames), 1, compare)


def classifier_maker(to_rgb, dtype):
    """Shorter edge to 256, antialiased, then the middle 224x224, as torchvision does."""
    normalized = normalizer(dtype)

    def make(frames):
        rgb = F.interpolate(whole_rgb(to_rgb, frames), (256, 455), mode="bicubic",
                            align_corners=False, antialias=True)
        return normalized(rgb[:, :, 16:240, 116:340].clamp(0, 255))

    return make


def bgr_classifier(frames):
    """The same of packed BGR pictures."""
    rgb = frames.flip(3).permute(0, 3, 1, 2).float()
    rgb = F.interpolate(rgb, (256, 455), mode="bicubic", align_corners=False, antialias=True)
    return normalizer(torch.float16)(rgb[:, :, 16:240, 116:340].round().clamp(0, 255))


def classified(peers, batch):
    frames = common.Rotation(lambda pattern: common.packed(WIDTH, HEIGHT, 3, pattern),
                             (batch, HEIGHT, WIDTH, 3)).calls
    expected = peers.expected("filter-224-bgr", torch.float16)

    def compare(frame, result):
        common.check_about(result, expected.of(frame, 3 * 224 * 224), 255 * 0.226)

    return common.Peer(lambda i: bgr_classifier(frames[i]), len(frames), batch, compare)


def to_tensor(peers, make, batch, name="tensor", dtype=torch.float32, side=SIDE):
    frames = common.Rotation(lambda pattern: common.nv12(WIDTH, HEIGHT, pattern),
                             (batch, HEIGHT * 3 // 2, WIDTH)).calls
    expected = peers.expected(name, dtype)

    def compare(frame, result):
        common.check_about(result, expected.of(frame, 3 * side * side), 255 * 0.226)

    return common.Peer(lambda i: make(frames[i]), len(frames), batch, compare)


def histogram(peers, name, pixels, frame):
    frames = common.Rotation(frame, (1, pixels)).calls
    expected = peers.expected(name, torch.int64)

    def compare(frame, result):
        common.check_equal(result, expected.of(frame, 256))

    return common.Peer(lambda i: torch.bincount(frames[i].view(-1), minlength=256), len(frames), 1,
                       compare)


def shuffle(peers, name, shape, dtype, make):
    """Large results are compared by their digest."""
    size = torch.empty(shape, dtype=dtype, device="meta").nbytes
    mask = common.FLOAT16 if dtype == torch.float16 else common.FLOAT32
    frames = common.Rotation(lambda pattern: common.noise(size, pattern, mask), shape, dtype).calls
    if name.startswith("video"):
        expected = peers.expected(name, torch.uint8)
    else:
        expected = peers.expected(name + ".digest", torch.int64)

    def compare(frame, result):
        if result.dtype == torch.uint8:
            common.check_equal(result, expected.of(frame, result.numel()))
        else:
            common.check_digest(result, expected.of(frame, 1))

    return common.Peer(lambda i: make(frames[i]), len(frames), 1, compare)


def shuffle_maker(factor):
    return lambda tensor: F.pixel_shuffle(tensor, factor)


def video_maker(factor, is_bgr):
    def make(tensor):
        picture = F.pixel_shuffle(tensor, factor).float().mul(255).add(0.5).floor().clamp(0, 255)
        picture = picture.to(torch.uint8)
        return (picture.flip(1) if is_bgr else picture).permute(0, 2, 3, 1).contiguous()

    return make


def compiled(function):
    torch.compiler.reset()  # resets the number of compilations of the same lines
    return torch.compile(function, dynamic=False)


def add_tensors(peers):
    for batch, name in ((1, "tensor"), (64, "batch")):
        for dtype, end in ((torch.float32, ""), (torch.float16, "-f16")):
            peers.add(name + end, "PyTorch", lambda: to_tensor(
                peers, tensor_maker(product(), dtype), batch))
            peers.add(name + end, "PyTorch, compiled", lambda: to_tensor(
                peers, compiled(tensor_maker(sums, dtype)), batch))


def add_filters(peers):
    name, half = "filter-224-f16", torch.float16
    for batch, end in ((1, ""), (64, "-batch")):
        peers.add(name + end, "PyTorch", lambda: to_tensor(
            peers, classifier_maker(product(), half), batch, name, half, 224))
        peers.add("filter-224-bgr" + end, "PyTorch", lambda: classified(peers, batch))


def add_turned(peers):
    for who, wrap, to_rgb in (("PyTorch", lambda make: make, product()),
                              ("PyTorch, compiled", compiled, sums)):
        for batch, end in ((1, ""), (64, "-batch")):
            peers.add("turned-90r" + end, who, lambda: to_tensor(
                peers, wrap(tensor_maker(to_rgb, torch.float16, turned=True)), batch, "turned-90r",
                torch.float16))
        matrices = faces.face_matrices(112, 64, WIDTH, HEIGHT)
        peers.add("faces", who, lambda: aligned_faces(peers, wrap(faces_maker(to_rgb, 112, matrices))))


def add_histograms(peers):
    for pixels, name in ((WIDTH * HEIGHT, "histogram"), (4 * WIDTH * HEIGHT, "histogram-4k")):
        peers.add(name, "torch.bincount", lambda: histogram(
            peers, name, pixels, lambda pattern: common.noise(pixels, pattern)))
        peers.add(name + "-flat", "torch.bincount", lambda: histogram(
            peers, name + "-flat", pixels, lambda _: common.flat(pixels)))


def add_shuffles(peers):
    half, single = torch.float16, torch.float32

    def add(name, shape, dtype, make):
        peers.add(name, "PyTorch", lambda: shuffle(peers, name, shape, dtype, make))
        if name.endswith("-2"):  # a compilation takes seconds
            peers.add(name, "PyTorch, compiled",
                      lambda: shuffle(peers, name, shape, dtype, compiled(make)))

    add("shuffle-2", (1, 256, 1088, 1920), half, shuffle_maker(2))
    add("shuffle-3", (1, 252, 1088, 1920), half, shuffle_maker(3))
    add("shuffle-4", (1, 256, 1088, 1920), half, shuffle_maker(4))
    add("shuffle-2-f32", (1, 128, 1088, 1920), single, shuffle_maker(2))
    add("video-2", (1, 12, 1080, 1920), half, video_maker(2, True))
    add("video-4", (1, 48, 540, 960), half, video_maker(4, True))
    add("video-2-f32", (1, 12, 1080, 1920), single, video_maker(2, False))


def main():
    options = common.parse_options()
    common.begin("PyTorch", torch.__version__)
    peers = common.Peers(options)
    with torch.no_grad():
        add_tensors(peers)
        add_filters(peers)
        add_turned(peers)
        add_histograms(peers)
        add_shuffles(peers)


main()
