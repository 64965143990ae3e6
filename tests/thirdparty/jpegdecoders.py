# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the table of docs/elements.md that compares JPEG decoders with Pillow: JPEG files that
Pillow writes with each chroma subsampling, decoded by each of GStreamer's decoders and converted by
cudanormalize, compared with Pillow's pixels. Needs Pillow, NumPy and the plugin in GST_PLUGIN_PATH.
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

SIZE = 256
DECODERS = ("jpegdec", "jpegdec idct-method=islow", "avdec_mjpeg")


def smooth():
    """Colors that change slowly, as in most of a photograph."""
    y, x = numpy.mgrid[0:SIZE, 0:SIZE] / (SIZE - 1)
    waves = [0.5 + 0.5 * numpy.sin(6 * (a * x + b * y)) for a, b in ((1, 0.3), (0.4, 1), (1, 1))]
    return numpy.stack(waves, -1)


def edges():
    """Edges between saturated colors, as in signs and graphics."""
    y, x = numpy.mgrid[0:SIZE, 0:SIZE]
    return numpy.stack([(x // 7) % 2, (y // 5) % 2, ((x + y) // 11) % 2], -1).astype(float)


def decoded(path, decoder):
    with tempfile.NamedTemporaryFile() as out:
        line = (f"filesrc location={path} ! jpegparse ! {decoder} ! "
                f"cudanormalize dtype=uint8 layout=nhwc ! filesink location={out.name}")
        subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
        data = Path(out.name).read_bytes()
    return numpy.frombuffer(data, numpy.uint8).reshape(SIZE, SIZE, 3).astype(int)


def main():
    print("| decoder | picture | 4:2:0 | 4:2:2 | 4:4:4 |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for decoder in DECODERS:
            for name, picture in (("smooth", smooth()), ("edges", edges())):
                cells = []
                for subsampling in ("4:2:0", "4:2:2", "4:4:4"):
                    path = Path(folder) / "picture.jpg"
                    Image.fromarray((picture * 255).round().astype(numpy.uint8)).save(
                        path, quality=95, subsampling=subsampling)
                    own = numpy.asarray(Image.open(path).convert("RGB")).astype(int)
                    difference = abs(decoded(path, decoder) - own)
                    cells.append(f"{difference.max()} ({difference.mean():.1f})")
                print(f"| `{decoder}` | {name} | {' | '.join(cells)} |")


sys.exit(main())
