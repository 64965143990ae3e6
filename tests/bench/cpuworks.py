# SPDX-License-Identifier: LGPL-2.1-or-later
"""The operations that cpu.py times, ours and those of other software. Each is a callable that takes
one frame."""
import ctypes

import cv2
import numpy as np

from faces import at_samples, face_matrices
from pillows import PILLOW, PILLOW_SIMD

# Software without a setting for the number of threads.
ALONE = {"memcpy", "NumPy", "numpy.bincount", "Pillow and NumPy", "Pillow-SIMD and NumPy"}

WIDTH, HEIGHT, SIZE = 1920, 1080, 640
PAD = 114
MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


class Ours:
    """An operation of operations.cpp. `result` holds the result of the last call."""

    def __init__(self, lib, make, result, *args):
        function = getattr(lib, make)
        function.restype = ctypes.c_void_p
        lib.bench_run.argtypes, lib.bench_free.argtypes = [ctypes.c_void_p] * 3, [ctypes.c_void_p]
        args = [a.encode() if isinstance(a, str) else a for a in args]
        self.run, self.free, self.result = lib.bench_run, lib.bench_free, result
        self.handle = function(*args)
        if not self.handle:
            raise SystemExit(f"cannot create {make}{args}")

    def __call__(self, frame):
        self.run(self.handle, frame.ctypes.data, self.result.ctypes.data)
        return self.result

    def __del__(self):
        self.free(self.handle)


class VideoConverter:
    """GstVideoConverter through converter.cpp, with its own frames."""

    def __init__(self, lib, in_format, in_shape, out_format, out_shape, content, threads):
        lib.converter_new.restype = lib.converter_data.restype = ctypes.c_void_p
        lib.converter_data.argtypes = [ctypes.c_void_p, ctypes.c_int]
        lib.converter_run.argtypes = lib.converter_free.argtypes = [ctypes.c_void_p]
        top, height = content
        self.run, self.free = lib.converter_run, lib.converter_free
        self.handle = ctypes.c_void_p(lib.converter_new(
            in_format.encode(), WIDTH, HEIGHT, out_format.encode(), out_shape[-2], SIZE, top,
            height, threads))
        self.source = self.view(lib, 0, in_shape)
        self.result = self.view(lib, 1, out_shape)

    def view(self, lib, out, shape):
        data = lib.converter_data(self.handle, out)
        size = int(np.prod(shape))
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(data)).reshape(shape)

    def __call__(self, frame):
        # An element maps the camera's buffer, so no copy is timed: each call converts the frame
        # that the converter holds.
        self.run(self.handle)
        return self.result

    def __del__(self):
        self.free(self.handle)


def content(size):
    """The first row of the letterboxed picture, and the number of its rows."""
    rows = size * HEIGHT // WIDTH
    return (size - rows) // 2, rows


def opencv_from_bgr(picture, size):
    height, width = picture.shape[:2]
    rows, columns = size * height // max(height, width), size * width // max(height, width)
    top, left = (size - rows) // 2, (size - columns) // 2
    picture = cv2.resize(picture, (columns, rows), interpolation=cv2.INTER_LINEAR)
    picture = cv2.copyMakeBorder(picture, top, size - rows - top, left, size - columns - left,
                                 cv2.BORDER_CONSTANT, value=(PAD,) * 3)
    # blobFromImage has no standard deviation per channel, so it does slightly less work.
    return cv2.dnn.blobFromImage(picture, 1 / 255 / 0.226, mean=(123.7, 116.3, 103.5), swapRB=True)


def opencv_from_nv12(frame, size):
    return opencv_from_bgr(cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_NV12), size)


def opencv_from_rgbp(frame, size):
    r, g, b = frame
    return opencv_from_bgr(cv2.merge([b, g, r]), size)


def opencv_from_yuy2(frame, size):
    return opencv_from_bgr(cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_YUY2), size)


def opencv_from_p010(frame, size):
    """OpenCV has no format of ten bits."""
    return opencv_from_nv12(cv2.convertScaleAbs(frame, alpha=1 / 256), size)


def opencv_faces(frame, matrices, size):
    picture = cv2.cvtColor(frame, cv2.COLOR_YUV2RGB_NV12)
    faces = [cv2.warpAffine(picture, matrix, (size, size), flags=cv2.INTER_LINEAR)
             for matrix in matrices]
    return cv2.dnn.blobFromImages(faces, 1 / 255 / 0.226, mean=(123.7, 116.3, 103.5))


class SeparatePasses:
    """The steps of a chain of elements: convert and scale, cast, arithmetic, transpose."""

    def __init__(self, lib, threads):
        self.convert = VideoConverter(lib, "NV12", (HEIGHT * 3 // 2, WIDTH), "RGB",
                                      (SIZE, SIZE, 3), content(SIZE), threads)
        self.source = self.convert.source

    def __call__(self, frame):
        tensor = self.convert(frame).astype(np.float32)
        tensor *= 1 / 255
        tensor -= MEAN
        tensor *= 1 / STD
        return np.ascontiguousarray(tensor.transpose(2, 0, 1))


def resized_edges(shape, out, mode, edge):
    """The size of the picture before it is padded or cropped."""
    (height, width), (out_height, out_width) = shape, out
    if mode == "stretch":
        return out
    if mode == "ultralytics":
        ratio = min(out_height / height, out_width / width)
        return round(height * ratio), round(width * ratio)
    return (edge, edge * width // height) if width > height else (edge * height // width, edge)


def pillow_from_rgb(image, rgb, out, mode, edge, method, dtype):
    """What torchvision, timm and Transformers do with Pillow. `image`: its module Image."""
    height, width = resized_edges(rgb.shape[:2], out, mode, edge)
    picture = image.fromarray(rgb).resize((width, height), getattr(image.Resampling, method.upper()))
    left, top = round((width - out[1]) / 2), round((height - out[0]) / 2)
    if mode == "ultralytics":
        padded = image.new("RGB", out[::-1], (PAD,) * 3)
        padded.paste(picture, (-left, -top))
        picture = padded
    elif mode != "stretch":
        picture = picture.crop((left, top, left + out[1], top + out[0]))
    tensor = np.asarray(picture).transpose(2, 0, 1).astype(np.float32)
    tensor *= (1 / 255 / STD)[:, None, None]
    tensor -= (MEAN / STD)[:, None, None]
    return tensor.astype(dtype)


def opencv_area_from_rgb(rgb, out, mode, edge, dtype):
    """The same with OpenCV's filter for reductions. Not for padded pictures."""
    height, width = resized_edges(rgb.shape[:2], out, mode, edge)
    picture = cv2.resize(rgb, (width, height), interpolation=cv2.INTER_AREA)
    left, top = round((width - out[1]) / 2), round((height - out[0]) / 2)
    picture = np.ascontiguousarray(picture[top:top + out[0], left:left + out[1]])
    return cv2.dnn.blobFromImage(picture, 1 / 255 / 0.226, mean=(123.7, 116.3, 103.5)).astype(dtype)


def rgb_from_nv12(frame):
    return cv2.cvtColor(frame, cv2.COLOR_YUV2RGB_NV12)


def rgb_from_bgr(frame):
    return cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)


def three_planes(planes, size):
    return [cv2.resize(plane, (size, size), interpolation=cv2.INTER_LINEAR) for plane in planes]


def numpy_shuffle(tensor, factor):
    """Returns depth to space of (c, h, w)."""
    c, h, w = tensor.shape
    parts = tensor.reshape(c // factor**2, factor, factor, h, w)
    return parts.transpose(0, 3, 1, 4, 2).reshape(c // factor**2, h * factor, w * factor)


def read_video(path, count):
    """The first frames of a video, BGR."""
    video = cv2.VideoCapture(path)
    frames = [video.read()[1] for _ in range(count)]
    if any(frame is None or frame.shape != (HEIGHT, WIDTH, 3) for frame in frames):
        raise SystemExit(f"{path} has fewer than {count} frames of {WIDTH}x{HEIGHT}")
    return frames


def nv12_of(bgr):
    height, width = bgr.shape[:2]
    i420 = cv2.cvtColor(bgr, cv2.COLOR_BGR2YUV_I420)
    chroma = i420[height:].reshape(2, -1)
    return np.vstack([i420[:height], np.stack([chroma[0], chroma[1]], 1).reshape(-1, width)])


def nv12_of_size(frames, width, height):
    return [nv12_of(cv2.resize(frame, (width, height))) for frame in frames]


def rgbp_of(bgr):
    return np.ascontiguousarray(bgr.transpose(2, 0, 1)[::-1])


def yuy2_of(nv12):
    chroma = np.repeat(nv12[HEIGHT:], 2, 0)
    return np.ascontiguousarray(np.stack([nv12[:HEIGHT], chroma], 2))


def p010_of(nv12):
    return nv12.astype(np.uint16) << 8


def check_alike(a, b, levels, what):
    """Ends the program if a and b differ by more than `levels` of 255 on average."""
    difference = np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).mean()
    if difference > levels:
        raise SystemExit(f"{what} differs from ours by {difference:.2f} levels of 255 on average")


def mean_of(histogram):
    return (histogram * np.arange(256)).sum() / histogram.sum()


def denormalized(tensor):
    """The RGB levels, one row per channel."""
    return (tensor.reshape(3, -1) * STD[:, None] + MEAN[:, None]) * 255


class Works:
    """Each work is a method that returns a title, frames and the calls to time, by name. `bgr` and
    `nv12` are the same frames."""

    def __init__(self, lib, bgr, nv12, threads):
        self.lib, self.bgr, self.nv12, self.threads = lib, bgr, nv12, threads
        self.luma = [frame[:HEIGHT] for frame in self.nv12]

    def tensor(self, pixel_format, frames, size, opencv):
        ours = Ours(self.lib, "bench_tensor", np.empty((3, size, size), np.float32), pixel_format,
                    WIDTH, HEIGHT, size, 0, self.threads)
        top, rows = content(size)
        inner = slice(top * size, (top + rows) * size)
        check_alike(denormalized(ours(frames[0]))[:, inner],
                    (opencv(frames[0], size).reshape(3, -1) * 0.226 * 255
                     + np.array([[123.7], [116.3], [103.5]]))[:, inner], 2, "OpenCV's tensor")
        return (f"{pixel_format} 1920×1080 → letterboxed {size}×{size} NCHW float32", frames,
                {"ours": ours, "OpenCV": lambda frame: opencv(frame, size)})

    def tensor_from_nv12(self):
        passes = SeparatePasses(self.lib, self.threads)
        passes.source[:] = self.nv12[0]
        convert = passes.convert
        title, frames, calls = self.tensor("NV12", self.nv12, SIZE, opencv_from_nv12)
        check_alike(denormalized(passes(None)), denormalized(calls["ours"](frames[0])), 2,
                    "the result of the separate passes")
        return title, frames, {
            **calls, "GstVideoConverter to RGB only": convert,
            "GstVideoConverter to RGB, then NumPy: cast, scale, subtract, scale, transpose": passes}

    def tensor_608_from_nv12(self):
        return self.tensor("NV12", self.nv12, 608, opencv_from_nv12)

    def tensor_from_bgr(self):
        return self.tensor("BGR", self.bgr, SIZE, opencv_from_bgr)

    def tensor_608_from_bgr(self):
        return self.tensor("BGR", self.bgr, 608, opencv_from_bgr)

    def tensor_from_rgbp(self):
        return self.tensor("RGBP", [rgbp_of(frame) for frame in self.bgr], SIZE, opencv_from_rgbp)

    def tensor_from_yuy2(self):
        return self.tensor("YUY2", [yuy2_of(frame) for frame in self.nv12], SIZE, opencv_from_yuy2)

    def tensor_from_p010(self):
        return self.tensor("P010_10LE", [p010_of(frame) for frame in self.nv12], SIZE,
                           opencv_from_p010)

    def turned(self, name, direction, turn):
        """`direction`: the number of GstVideoOrientationMethod."""
        ours = Ours(self.lib, "bench_tensor", np.empty((3, SIZE, SIZE), np.float32), "NV12", WIDTH,
                    HEIGHT, SIZE, direction, self.threads)

        def opencv(frame):
            return opencv_from_bgr(turn(cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_NV12)), SIZE)

        pad, rows = content(SIZE)
        inner = slice(pad, pad + rows)
        inside = (slice(None), slice(None), inner) if direction in (1, 3, 6, 7) else (slice(None), inner)
        check_alike(denormalized(ours(self.nv12[0])[inside].copy()),
                    opencv(self.nv12[0])[0][inside].reshape(3, -1) * 0.226 * 255
                    + np.array([[123.7], [116.3], [103.5]]), 2, "OpenCV's tensor")
        return (f"NV12 1920×1080, {name} → letterboxed {SIZE}×{SIZE} NCHW float32", self.nv12,
                {"ours": ours, "OpenCV": opencv})

    def turned_by_90(self):
        return self.turned("90r", 1, lambda bgr: cv2.rotate(bgr, cv2.ROTATE_90_CLOCKWISE))

    def turned_by_180(self):
        return self.turned("180", 2, lambda bgr: cv2.rotate(bgr, cv2.ROTATE_180))

    def faces(self):
        size, count = 112, 64
        matrices = face_matrices(size, count, WIDTH, HEIGHT)
        ours = Ours(self.lib, "bench_matrices", np.empty((count, 3, size, size), np.float32), WIDTH,
                    HEIGHT, size, count, matrices.ctypes.data_as(ctypes.c_void_p), self.threads)
        samples = at_samples(matrices)
        opencv = lambda frame: opencv_faces(frame, samples, size)
        for mine, other in zip(ours(self.nv12[0]), opencv(self.nv12[0])):
            check_alike(denormalized(mine), other.reshape(3, -1) * 0.226 * 255
                        + np.array([[123.7], [116.3], [103.5]]), 2, "a face of OpenCV")
        return (f"{count} faces of NV12 1920×1080 → {size}×{size} NCHW float32, each by a matrix",
                self.nv12, {"ours": ours, "OpenCV's warpAffine": opencv})

    def filter(self, frames, shape, out, mode, edge=0, method="bicubic", dtype=np.float32,
               pixel_format="NV12"):
        to_rgb = {"NV12": rgb_from_nv12, "BGR": rgb_from_bgr, "RGB": lambda frame: frame}[pixel_format]
        ours = Ours(self.lib, "bench_filter", np.empty((3, *out), dtype), pixel_format, shape[1],
                    shape[0], out[1], out[0], mode, method, edge, np.dtype(dtype).itemsize,
                    self.threads)
        calls = {"ours": ours}
        for name, image in (("Pillow", PILLOW), ("Pillow-SIMD", PILLOW_SIMD)):
            if image is not None:
                calls[f"{name} and NumPy"] = lambda frame, image=image: pillow_from_rgb(
                    image, to_rgb(frame), out, mode, edge, method, dtype)
        for name, call in calls.items():
            check_alike(denormalized(ours(frames[0])), denormalized(call(frames[0])),
                        2 if pixel_format == "NV12" else 0.1, f"the tensor of {name}")
        if mode != "ultralytics" and out[0] < shape[0]:
            calls["OpenCV, `INTER_AREA`"] = lambda frame: opencv_area_from_rgb(
                to_rgb(frame), out, mode, edge, dtype)
        title = (f"{pixel_format} {shape[1]}×{shape[0]} → {out[1]}×{out[0]} NCHW "
                 f"{np.dtype(dtype).name}, {method} with antialias, {mode}")
        return title, frames, calls

    def filter_to_224_from_rgb(self):
        return self.filter([rgb_from_bgr(frame) for frame in self.bgr], (HEIGHT, WIDTH), (224, 224),
                           "torchvision", 256, pixel_format="RGB")

    def filter_to_224_from_nv12(self):
        return self.filter(self.nv12, (HEIGHT, WIDTH), (224, 224), "torchvision", 256,
                           dtype=np.float16)

    def filter_to_224_from_bgr(self):
        return self.filter(self.bgr, (HEIGHT, WIDTH), (224, 224), "torchvision", 256,
                           dtype=np.float16, pixel_format="BGR")

    def filter_to_640_from_nv12(self):
        return self.filter(self.nv12, (HEIGHT, WIDTH), (SIZE, SIZE), "ultralytics",
                           method="bilinear")

    def filter_to_336_from_4k(self):
        return self.filter(nv12_of_size(self.bgr, 3840, 2160), (2160, 3840), (336, 336),
                           "transformers", 336)

    def filter_up_from_nv12(self):
        return self.filter(nv12_of_size(self.bgr, 640, 480), (480, 640), (1080, 1920), "stretch")

    def histogram(self, title, frames):
        ours = Ours(self.lib, "bench_histogram", np.empty(256, np.uint64), "GRAY8", WIDTH, HEIGHT,
                    self.threads)

        def calc_hist(frame):
            return cv2.calcHist([frame], [0], None, [256], [0, 256])

        if not np.array_equal(ours(frames[0]), calc_hist(frames[0]).ravel().astype(np.uint64)):
            raise SystemExit("OpenCV's histogram differs from ours")
        return (f"histogram of 1920×1080 luma, {title}", frames, {
            "ours": ours, "OpenCV's calcHist": calc_hist,
            "numpy.bincount": lambda frame: np.bincount(frame.ravel(), minlength=256)})

    def histogram_of_video(self):
        return self.histogram("video", self.luma)

    def histogram_of_noise(self):
        rng = np.random.default_rng(1)
        return self.histogram("noise", [rng.integers(0, 256, (HEIGHT, WIDTH), np.uint8)
                                        for _ in range(4)])

    def histogram_of_one_gray_level(self):
        return self.histogram("one gray level", [np.full((HEIGHT, WIDTH), 77, np.uint8)
                                           for _ in range(4)])

    def histogram_of_bgrx(self):
        frames = [np.ascontiguousarray(np.pad(cv2.resize(frame, (1280, 1024)),
                                              ((0, 0), (0, 0), (0, 1)))) for frame in self.bgr]
        ours = Ours(self.lib, "bench_histogram", np.empty(256, np.uint64), "BGRx", 1280, 1024,
                    self.threads)

        def opencv(frame):
            gray = cv2.cvtColor(frame, cv2.COLOR_BGRA2GRAY)
            return cv2.calcHist([gray], [0], None, [256], [0, 256])

        check_alike(mean_of(ours(frames[0])), mean_of(opencv(frames[0]).ravel()), 1,
                    "OpenCV's luminance")
        return ("histogram of the luminance of 1280×1024 BGRx", frames,
                {"ours": ours, "OpenCV's cvtColor and calcHist": opencv})

    def yuv444(self, size):
        ours = Ours(self.lib, "bench_yuv444", np.empty((3, size, size), np.uint8), WIDTH, HEIGHT,
                    size, size, self.threads)
        full = [np.repeat(np.repeat(frame[HEIGHT:].reshape(-1, WIDTH // 2, 2), 2, 0), 2, 1)
                for frame in self.nv12]
        planes = {id(frame): [frame[:HEIGHT]] + [np.ascontiguousarray(chroma[..., c])
                                                 for c in (0, 1)]
                  for frame, chroma in zip(self.nv12, full)}
        check_alike(ours(self.nv12[0]), three_planes(planes[id(self.nv12[0])], size), 1,
                    "OpenCV's picture")
        return (f"NV12 1920×1080 → Y444 {size}×{size}, Q13.18", self.nv12, {
            "ours": ours,
            "OpenCV's resize of three planes of full size":
                lambda frame: three_planes(planes[id(frame)], size)})

    def yuv444_640(self):
        title, frames, calls = self.yuv444(SIZE)
        converter = VideoConverter(self.lib, "NV12", (HEIGHT * 3 // 2, WIDTH), "Y444",
                                   (3, SIZE, SIZE), (0, SIZE), self.threads)
        converter.source[:] = frames[0]
        check_alike(converter(None), calls["ours"](frames[0]), 2, "GstVideoConverter's picture")
        return title, frames, {**calls, "GstVideoConverter": converter}

    def yuv444_608(self):
        return self.yuv444(608)

    def shuffle(self, dtype, factor):
        c, h, w = 64 // factor**2 * factor**2, 544, 960
        rng = np.random.default_rng(1)
        tensor = rng.random((c, h, w), np.float32).astype(dtype)
        ours = Ours(self.lib, "bench_pixelshuffle", np.empty_like(tensor), tensor.itemsize, c, h, w,
                    factor, self.threads)
        copy = np.empty_like(tensor)
        ours(tensor)
        if not np.array_equal(ours.result.ravel(), numpy_shuffle(tensor, factor).ravel()):
            raise SystemExit("NumPy's pixel shuffle differs from ours")
        return (f"pixel shuffle (1, {c}, {h}, {w}) {np.dtype(dtype).name}, r = {factor}", [tensor],
                {"ours": ours, "memcpy": lambda frame: ctypes.memmove(
                    copy.ctypes.data, frame.ctypes.data, frame.nbytes),
                 "NumPy": lambda frame: numpy_shuffle(frame, factor)})

    def shuffle_2(self):
        return self.shuffle(np.float16, 2)

    def shuffle_3(self):
        return self.shuffle(np.float16, 3)

    def shuffle_4(self):
        return self.shuffle(np.float16, 4)

    def shuffle_float32(self):
        return self.shuffle(np.float32, 2)

    def all(self):
        return [self.tensor_from_nv12, self.tensor_608_from_nv12, self.tensor_from_bgr,
                self.tensor_608_from_bgr, self.tensor_from_rgbp, self.tensor_from_yuy2,
                self.tensor_from_p010, self.turned_by_90, self.turned_by_180, self.faces,
                self.filter_to_224_from_nv12, self.filter_to_224_from_bgr,
                self.filter_to_224_from_rgb, self.filter_to_640_from_nv12, self.filter_to_336_from_4k, self.filter_up_from_nv12,
                self.histogram_of_video, self.histogram_of_noise,
                self.histogram_of_one_gray_level, self.histogram_of_bgrx, self.yuv444_640,
                self.yuv444_608, self.shuffle_2, self.shuffle_3, self.shuffle_4,
                self.shuffle_float32]
