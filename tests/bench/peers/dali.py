#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times DALI and prints rows for tables.py. DALI reads no NV12, so it is compared for packed BGR."""
import nvidia.dali as dali
import torch
from nvidia.dali import fn, types

import common

WIDTH, HEIGHT, SIDE = 1920, 1080, 224
MEAN = [255 * mean for mean in (0.485, 0.456, 0.406)]
STD = [255 * std for std in (0.229, 0.224, 0.225)]


def classifier(peers, batch):
    """Shorter edge to 256, bicubic and antialiased, then the middle 224x224. DALI's pipeline runs
    ahead of its results, so a call is timed from the frames to the results."""
    frames = common.Rotation(lambda pattern: common.packed(WIDTH, HEIGHT, 3, pattern),
                             (batch, HEIGHT, WIDTH, 3)).calls

    @dali.pipeline_def(batch_size=batch, num_threads=1, device_id=0, prefetch_queue_depth=1,
                       exec_dynamic=True)
    def make():
        pictures = fn.external_source(name="frames", device="gpu", layout="HWC", no_copy=True)
        small = fn.resize(pictures, resize_shorter=256, interp_type=types.INTERP_CUBIC,
                          antialias=True)
        rgb = fn.color_space_conversion(small, image_type=types.BGR, output_type=types.RGB)
        return fn.crop_mirror_normalize(rgb, dtype=types.FLOAT16, output_layout="CHW",
                                        crop=(SIDE, SIDE), mean=MEAN, std=STD)

    pipeline = make()
    pipeline.build()
    stream = torch.cuda.current_stream()

    def run(i):
        pipeline.feed_input("frames", frames[i] if batch > 1 else [frames[i][0]],
                            cuda_stream=stream)
        result, = pipeline.run(stream)
        tensors = result.as_tensor()
        return torch.from_dlpack(tensors)

    expected = peers.expected("filter-224-bgr", torch.float16)

    def compare(frame, result):
        common.check_about(result, expected.of(frame, 3 * SIDE * SIDE), 255 * 0.226)

    return common.Peer(run, len(frames), batch, compare)


def main():
    options = common.parse_options()
    common.begin("DALI", dali.__version__)
    peers = common.Peers(options)
    for batch, end in ((1, ""), (64, "-batch")):
        peers.add("filter-224-bgr" + end, "DALI", lambda: classifier(peers, batch))


main()
