# SPDX-License-Identifier: LGPL-2.1-or-later
"""The expected measurements of frames, computed independently of the monitor."""
import math

import numpy as np


def statistics_of(frames, black=16, white=235):
    """Returns the statistics that a message of cudahistogram has, computed by their definitions."""
    pixels = np.concatenate([frame.ravel() for frame in frames])
    histogram = np.bincount(pixels, minlength=256)
    ordered = np.sort(pixels)
    percentile = lambda p: int(ordered[math.ceil(p * len(pixels) / 100) - 1])
    return {
        'frames': len(frames), 'pixels': len(pixels), 'histogram': histogram.tolist(),
        'mean': pixels.mean(dtype=np.float64), 'stddev': pixels.std(dtype=np.float64),
        'min': int(pixels.min()), 'max': int(pixels.max()), 'median': percentile(50),
        'p1': percentile(1), 'p5': percentile(5), 'p95': percentile(95), 'p99': percentile(99),
        'clipped_low': np.count_nonzero(pixels <= black) / len(pixels),
        'clipped_high': np.count_nonzero(pixels >= white) / len(pixels)}


def expect_same(got, wanted, what):
    for name, value in wanted.items():
        if isinstance(value, float):
            assert math.isclose(got[name], value, rel_tol=1e-12), (what, name, got[name], value)
        else:
            assert got[name] == value, (what, name, got[name], value)
