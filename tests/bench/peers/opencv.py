#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times OpenCV on the CPU, with all its threads, and prints rows for tables.py. The frame is in the
memory of the host, and so is the result."""
import time

import cv2
import numpy as np
import torch

import common
import cpuworks
import faces

WIDTH, HEIGHT, SIDE = 1920, 1080, 640
LEVELS = 255 * 0.226


class CpuClock(common.Clock):
    def microseconds(self, calls, call):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        return (time.perf_counter() - begin) * 1e6 / calls


def peer(peers, name, make):
    frames = [common.nv12(WIDTH, HEIGHT, pattern).view(-1, WIDTH).cpu().numpy()
              for pattern in range(common.PATTERNS)]
    expected = peers.expected(name, torch.float16)

    def compare(frame, result):
        wanted = expected.of(frame, result.size)
        common.check_about(torch.from_numpy(np.ascontiguousarray(result)).cuda(), wanted, LEVELS)

    return common.Peer(lambda i: make(frames[i]), len(frames), 1, compare)


def turned(frame):
    rgb = cv2.rotate(cv2.cvtColor(frame, cv2.COLOR_YUV2BGR_NV12), cv2.ROTATE_90_CLOCKWISE)
    return cpuworks.opencv_from_bgr(rgb, SIDE)


def main():
    options = common.parse_options()
    common.begin("OpenCV", cv2.__version__)
    peers = common.Peers(options)
    if options.kernel_times:
        return
    peers.clock = CpuClock(options.quick)
    samples = faces.at_samples(faces.face_matrices(112, 64, WIDTH, HEIGHT))
    who = "OpenCV on the CPU, float32"
    peers.add("turned-90r", who, lambda: peer(peers, "turned-90r-601", turned))
    peers.add("faces", who, lambda: peer(
        peers, "faces-601", lambda frame: cpuworks.opencv_faces(frame, samples, 112)))


main()
