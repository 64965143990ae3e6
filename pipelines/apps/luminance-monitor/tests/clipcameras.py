# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nine cameras: the clip, parts of it, and the clip with typical faults of cameras."""
import subprocess
from pathlib import Path

CLIP = Path(__file__).resolve().parent / "media/pedestrians.webm"
FRAMES = 79

# By name: the elements that change the clip (None: no video is made), and the expected verdict.
CAMERAS = {
    "Car park": ("videocrop", ""),
    "Footpath": ("videocrop left=300 top=120", ""),
    "Yard at night": ("videobalance contrast=0.17 saturation=0.5", "too-dark"),
    "Lawn": ("videocrop right=330 top=240", ""),
    "Gate 2": ("videobalance brightness=0.45", "too-bright"),
    "Doorway": ("videocrop left=160 right=240 bottom=300", ""),
    "Loading ramp": ("videobalance contrast=0.06 brightness=0.3", "low-contrast"),
    "Bicycle stand": (f"imagefreeze num-buffers={FRAMES}", "frozen"),
    "Hall": (None, "no-frames"),
}


def make(effect, file):
    subprocess.run(f"gst-launch-1.0 -q filesrc location={CLIP} ! matroskademux ! vp8dec ! {effect} ! "
                   f"jpegenc ! matroskamux ! filesink location={file}",
                   shell=True, check=True, timeout=120)


def configure(folder, others=None, size=""):
    """Writes the videos and a configuration of them, and returns its path. `others`: the settings of
    cameras that are not made of the clip, by name. `size`: caps of the pictures, unless they have the
    clip's size."""
    lines = []
    for number, (name, (effect, _)) in enumerate(CAMERAS.items()):
        lines += ["[[cameras]]", f'name = "{name}"']
        if others and name in others:
            lines += others[name]
        elif effect:
            make(f"{effect} ! videoscale ! {size}" if size else effect, folder / f"{number}.mkv")
            lines.append(f'uri = "{number}.mkv"')
        else:
            lines.append('uri = "rtsp://127.0.0.1:1/hall"')  # nothing listens there
    file = folder / "cameras.toml"
    file.write_text("\n".join(lines))
    return file
