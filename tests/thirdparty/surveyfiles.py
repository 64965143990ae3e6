# SPDX-License-Identifier: LGPL-2.1-or-later
"""Files for the survey of Transformers' classes: for each class its defaults, and changes of each
of its keys."""
import copy
import json

IMAGENET = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
HALF = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}
SIZES = ("size", "crop_size", "pad_size")
# One value of each kind that a file may have.
SOME_SIZES = (
    48, [40, 56], {"height": 40, "width": 56}, {"height": 48, "width": 48}, {"shortest_edge": 40},
    {"longest_edge": 64}, {"shortest_edge": 40, "longest_edge": 64},
    {"max_height": 40, "max_width": 56}, {"min_pixels": 1024, "max_pixels": 4096},
)
# Keys that only some classes have, with values that change the tensor of these classes.
STRANGE = {
    "size_divisor": 32, "size_divisibility": 32, "max_size": 64, "crop_pct": 0.8,
    "keep_aspect_ratio": True, "ensure_multiple_of": 32, "do_thumbnail": True,
    "do_align_long_axis": True, "crop_to_patches": True, "do_flip_channel_order": True,
    "min_pixels": 1024, "max_pixels": 4096, "do_reduce_labels": True, "do_anything": True,
    "rescale_offset": True, "include_top": True, "offset": True, "do_grayscale": True,
    "patch_size": 7, "default_to_square": False, "do_convert_rgb": True, "do_convert_rgb ": False,
    "processor_class": "SomeProcessor", "auto_map": {"AutoImageProcessor": "some.Class"},
    "_note": "text", "note": "text", "num_labels": 7, "image_seq_length": 49,
    "data_format": "channels_last", "input_data_format": "channels_last", "device": "cpu",
    "max_crops": 4, "image_grid_pinpoints": [[48, 96], [96, 48]], "padding_value": 1.0,
    "background_color": [127, 127, 127], "transform": "text",
}


def plain(settings):
    """Returns the settings as JSON stores them."""
    return json.loads(json.dumps(settings, default=dict))


def reduced(settings):
    """Returns the settings with an eighth of each size, so that small pictures are reduced, too."""
    made = copy.deepcopy(settings)
    for key in SIZES:
        value = made.get(key)
        if isinstance(value, dict):
            made[key] = {name: max(1, length // 8) for name, length in value.items() if length}
        elif isinstance(value, int) and not isinstance(value, bool):
            made[key] = max(1, value // 8)
    return made


def numbers(value):
    """Returns other values for a number or a list of numbers."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, (int, float)):
        return [value * 2, value / 2 if isinstance(value, float) else max(1, value // 2)]
    return []


def changes(settings, keys):
    """Yields pairs of a description of the change and a file."""
    for key in keys:
        value = settings.get(key)
        others = numbers(value) if key not in ("resample", "rescale_factor") else []
        if value is None or isinstance(value, bool):
            others = [not value] if key.startswith(("do_", "use_", "default_", "keep_", "crop_to_",
                                                    "include_", "return_", "slice_")) else []
        for other in others:
            yield f"{key}={other}", {**settings, key: other}
        if key in settings:
            yield f"without {key}", {name: v for name, v in settings.items() if name != key}
            yield f"{key}=null", {**settings, key: None}
    for size in SOME_SIZES:
        yield f"size={size}", {**settings, "size": size}
        yield f"size={size}, no crop", {**settings, "size": size, "do_center_crop": False}
    for crop in (36, {"height": 30, "width": 36}, [30, 36], {"height": 200, "width": 210},
                 {"shortest_edge": 36}):
        yield f"crop_size={crop}", {**settings, "do_center_crop": True, "crop_size": crop}
    for pad in (200, {"height": 160, "width": 200}, None):
        yield f"pad_size={pad}", {**settings, "do_pad": True, "pad_size": pad}
    for code in range(7):
        yield f"resample={code}", {**settings, "resample": code}
    for code in ("bicubic", None):
        yield f"resample={code}", {**settings, "resample": code}
    for factor in (1 / 127.5, 1, 0):
        yield f"rescale_factor={factor}", {**settings, "rescale_factor": factor}
    for name, values in {"ImageNet": IMAGENET, "one number": {"image_mean": 0.4, "image_std": 0.3},
                         "no numbers": {"image_mean": None, "image_std": None}}.items():
        yield name, {**settings, **values}
        yield f"{name}, normalized", {**settings, **values, "do_normalize": True}
    for square in (True, False):
        yield f"default_to_square={square}", {**settings, "size": 48, "default_to_square": square}
    for key, value in STRANGE.items():
        yield f"{key}={value}", {**settings, key.strip(): value}


def stem_of(name):
    for end in ("ImageProcessor", "VideoProcessor"):
        if name.endswith(end):
            return name[:-len(end)]
    return name


def named(name):
    """Returns the ways in which files name a class."""
    if name.endswith("VideoProcessor"):
        yield "its name", {"video_processor_type": name}
        return
    yield "its name", {"image_processor_type": name}
    yield "its name, Fast", {"image_processor_type": f"{name}Fast"}
    yield "its name, feature extractor", {"feature_extractor_type": f"{stem_of(name)}FeatureExtractor"}
    yield "its name, image processor as feature extractor", {"feature_extractor_type": name}


def files(name, settings, keys):
    """Yields (title, file, whether pictures must be large) for a class of Transformers with these
    default settings and keys; `settings` is None if it has no defaults."""
    for title, head in named(name):
        yield title, head, title == "its name"
        yield f"{title}, size=48", {**head, "size": 48}, False
    head = dict(list(named(name))[0][1])
    if settings is None:
        return
    whole = {**plain(settings), **head}
    yield "its defaults", whole, True
    small = reduced(whole)
    yield "its defaults, reduced", small, False
    for title, made in changes(small, keys):
        yield title, made, False
    if name.endswith("VideoProcessor"):
        for sample in True, False:
            yield (f"num_frames=3, do_sample_frames={sample}",
                   {**small, "num_frames": 3, "do_sample_frames": sample}, False)
    for title, made in changes({**head, "size": small.get("size", 48)}, ()):
        yield f"{title} alone", made, False
