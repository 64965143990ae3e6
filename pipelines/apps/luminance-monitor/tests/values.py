# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the quantities by which verdicts are judged, for the clip and changed versions of it: they are the
grounds of the default rules. They are computed from the pixels, without the monitor."""
import numpy as np

import videos

FOLLOW = 5  # time constant in seconds, as in watch/verdicts.cpp


def blurred(frame, size):
    """Returns the mean of size x size pixels: a picture far out of focus."""
    def along(rows):
        sums = np.cumsum(np.pad(rows, ((0, 0), (size // 2 + 1, size // 2)), 'edge'), axis=1)
        return (sums[:, size:] - sums[:, :-size]) / size
    return np.rint(along(along(frame.astype(float)).T).T).astype(np.uint8)


def shares_of(frame):
    return np.bincount(frame.ravel(), minlength=256) / frame.size


def blocks_of(frame):
    return frame.reshape(12, frame.shape[0] // 12, 16, frame.shape[1] // 16).mean((1, 3))


def moved(frame, before):
    """Returns the change by histogram, which does not depend on where pixels are, and by blocks."""
    return (np.abs(np.cumsum(shares_of(frame) - shares_of(before))).sum(),
            np.abs(blocks_of(frame) - blocks_of(before)).mean())


def values(frames, fps):
    usual, rows = None, []
    for frame in frames:
        shares = shares_of(frame)
        below = np.cumsum(shares)
        p5, p95 = (int(np.searchsorted(below, share - 1e-12)) for share in (0.05, 0.95))
        usual = shares if usual is None else usual
        rows.append((frame.mean(), p95 - p5, shares[:17].sum(), shares[235:].sum(),
                     np.abs(np.cumsum(shares - usual)).sum()))
        usual = usual + (1 - np.exp(-1 / fps / FOLLOW)) * (shares - usual)
    return np.array(rows)


def show(name, frames, fps=10):
    low, high = values(frames, fps).min(axis=0), values(frames, fps).max(axis=0)
    print(f'| {name} | {low[0]:.0f} to {high[0]:.0f} | {low[1]:.0f} to {high[1]:.0f} '
          f'| {high[2]:.3f} | {high[3]:.3f} | {high[4]:.1f} |')


ORDINARY = videos.ordinary(200)
NOISE = np.random.default_rng(1)
print('| | mean luma | p5 to p95 | black pixels, max. | white pixels, max. | change in luma, max. |')
print('|---|---|---|---|---|---|')
show('the clip', ORDINARY)
for factor in (0.5, 0.3, 0.2, 0.15):
    show(f'light times {factor}', [videos.scaled(f, factor) for f in ORDINARY[:20]])
for more in (60, 80, 110):
    show(f'{more} brighter', [videos.scaled(f, 1, more) for f in ORDINARY[:20]])
for factor in (0.3, 0.12):
    show(f'fog: contrast times {factor}',
         [np.rint(120 + (f.astype(float) - 120) * factor).astype(np.uint8) for f in ORDINARY[:20]])
for size in (15, 95, 145):
    show(f'blurred over {size} of {videos.WIDTH} pixels', [blurred(f, size) for f in ORDINARY[:5]])
show('covered: grey with noise of 2',
     [np.rint(70 + NOISE.normal(0, 2, ORDINARY[0].shape)).astype(np.uint8) for _ in range(20)])

print()
print('| | by histogram | by blocks |')
print('|---|---|---|')
BEGIN = ORDINARY[0]
PARTS = [(share, luma) for luma in (30, 120) for share in (0.2, 0.3, 0.4, 0.6)]
for name, changed in (
        ('the clip, people walking', ORDINARY), *(
            (f'turned by {degrees}°', [videos.turned(f, degrees) for f in ORDINARY[:20]])
            for degrees in (5, 10, 20, 45)),
        ('upside down', [f[::-1, ::-1] for f in ORDINARY[:20]]),
        ('mirrored', [f[:, ::-1] for f in ORDINARY[:20]]),
        ('shifted by an eighth of its width', [np.roll(f, 48, 1) for f in ORDINARY[:20]]), *(
            (f'{share:.0%} covered by a luma of {luma}',
             [videos.part_covered(f, share, luma, NOISE) for f in ORDINARY[:20]])
            for share, luma in PARTS),
        ('light on: 45 brighter', [videos.scaled(f, 1, 45) for f in ORDINARY[:20]]),
        ('foggy', [np.rint(120 + (f.astype(float) - 120) * 0.12).astype(np.uint8) for f in ORDINARY[:20]])):
    apart = np.array([moved(frame, BEGIN) for frame in changed])
    print('| %s | %.1f to %.1f | %.1f to %.1f |' % (
        name, apart[:, 0].min(), apart[:, 0].max(), apart[:, 1].min(), apart[:, 1].max()))
