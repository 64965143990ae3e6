# SPDX-License-Identifier: LGPL-2.1-or-later
"""The flicker of lamps on 50 or 60 Hz mains, with the arithmetic and the numbers of
luminance-monitor (watch/flicker.cpp), vectorized."""
from __future__ import annotations

from collections import deque
from typing import Optional

import numpy

_WINDOW, _MIN_WINDOW = 4.0, 2.0  # seconds
_MIN_SAMPLES, _MAX_SAMPLES = 16, 1000
_LIGHTS = (100.0, 120.0)  # Hz
_SLOWEST = 1.0  # Hz: slower swings cannot be distinguished from changes in the picture
_OFF, _STEP = 0.3, 0.1  # Hz: mains, clocks of cameras and timestamps are off by this much
_MIN_SHARE = 0.5  # of the variance that the swing must explain
_LATE, _ADAPTATION = 0.6, 0.1


class Flicker:
    """Measures flicker from the mean luma of frames, added in the order of their times."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque()

    def add(self, time: float, mean: float) -> None:
        """Adds a frame's time, in seconds, and its mean luma."""
        if self._samples and time <= self._samples[-1][0]:
            self._samples.clear()
        self._samples.append((time, mean))
        while time - self._samples[0][0] > _WINDOW or len(self._samples) > _MAX_SAMPLES:
            self._samples.popleft()

    def percent(self) -> Optional[float]:
        """Returns the amplitude of the swing in the last 4 seconds, in percent of the mean: 0
        without a swing, or if the frame rate hides it; None for fewer than 16 frames or 2
        seconds."""
        if len(self._samples) < _MIN_SAMPLES:
            return None
        times, means = numpy.array(self._samples).T
        length = times[-1] - times[0]
        if length < _MIN_WINDOW:
            return None
        frames = _numbers(times)
        follows = numpy.diff(frames) == 1
        at, change = frames[1:][follows], numpy.diff(means)[follows]
        rate, mean = frames[-1] / length, means.mean()
        swings = [_swing(at, change, hertz / rate) for hertz in _frequencies(rate)]
        largest = max((amplitude for amplitude, share in swings if share >= _MIN_SHARE), default=0.0)
        return float(100 * largest / mean) if mean > 0 else 0.0


def _frequencies(rate: float) -> list[float]:
    """Returns the frequencies, in Hz, at which a camera with `rate` frames per second may see the
    lights."""
    found = []
    for light in _LIGHTS:
        middle = abs(light - rate * round(light / rate))
        found += [middle - _OFF + i * _STEP for i in range(round(2 * _OFF / _STEP) + 1)]
    return [hertz for hertz in found if _SLOWEST <= hertz <= rate / 2 + 1e-9]


def _numbers(times: numpy.ndarray) -> numpy.ndarray:
    """Returns numbers for frames from their times, which jitter. Lost frames leave gaps in the
    numbers."""
    gaps = numpy.sort(numpy.diff(times))
    gap = gaps[len(gaps) // 2]
    numbers, expected, frame = [0.0], times[0], 0.0
    for time in times[1:]:
        expected, frame = expected + gap, frame + 1
        if time - expected > _LATE * gap:
            lost = round((time - expected) / gap)
            frame, expected = frame + lost, expected + lost * gap
        expected += _ADAPTATION * (time - expected)
        numbers.append(frame)
    return numpy.array(numbers)


def _swing(at: numpy.ndarray, change: numpy.ndarray, cycles: float) -> tuple[float, float]:
    """Returns the amplitude of a swing of `cycles` per frame in the luma, and its share of the
    variance, by least squares of the changes from frame to frame."""
    phase = 2 * numpy.pi * cycles * at
    c, s = numpy.cos(phase), numpy.sin(phase)
    cc, cs, ss, xc, xs, xx = c @ c, c @ s, s @ s, change @ c, change @ s, change @ change
    if xx == 0:
        return 0.0, 0.0
    determinant = cc * ss - cs * cs
    gain = 2 * numpy.sin(numpy.pi * cycles)
    if determinant < 1e-6 * cc * cc:  # at half the frame rate the sine is all zeros
        return abs(xc / cc) / gain, xc * xc / (cc * xx)
    a, b = (xc * ss - xs * cs) / determinant, (xs * cc - xc * cs) / determinant
    return numpy.hypot(a, b) / gain, (a * xc + b * xs) / xx
