# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nine cameras made of the clip, of parts of it, and of what can happen to a camera."""
import subprocess
from pathlib import Path

CLIP = Path(__file__).resolve().parent / "media/pedestrians.webm"
FRAMES = 79

# What is made of the clip, and the verdict that is expected of it; None where it is not made.
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
    """`others` has settings of cameras that are not made of the clip, by their names. `size`: caps of the
    pictures, if they have another size than the clip's."""
    lines = []
    for number, (name, (effect, _)) in enumerate(CAMERAS.items()):
        lines += ["[[cameras]]", f'name = "{name}"']
        if others and name in others:
            lines += others[name]
        elif effect:
            make(f"{effect} ! videoscale ! {size}" if size else effect, folder / f"{number}.mkv")
            lines.append(f'uri = "{number}.mkv"')
        else:
            lines.append('uri = "rtsp://127.0.0.1:1/hall"')  # nobody is there
    file = folder / "cameras.toml"
    file.write_text("\n".join(lines))
    return file
