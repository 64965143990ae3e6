#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every gst-launch-1.0 line of the given files as printed, each in a separate folder.

Only a video sink that needs a display is replaced. A line passes if gst-launch-1.0 exits with 0,
reports no error, and writes files that are not empty.
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def launch_lines(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r"[\s*]*(gst-launch-1\.0 .*)", line)
        if match:
            yield f"{path.relative_to(ROOT)}:{number}", match.group(1)


def missing_decoder(line):
    """Returns the hardware decoder or DeepStream element that a line needs and this machine
    lacks."""
    for element in re.findall(r"\bnv(?:\w+dec|v4l2decoder|videoconvert)\b", line):
        # Plugins have their own versions.
        if subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0", element],
                          check=False).returncode:
            return element
    return None


def missing_network(line):
    """Returns the model that the reader must provide for a line. tests/thirdparty/detections.py and
    inference.py run these lines."""
    model = re.search(r"\b(?:onnxinference model-file|cudainference model)=(\S+)", line)
    return model[1] if model and not Path(model[1]).exists() else None


def missing_device(line):
    """Returns the camera that a line needs and this machine lacks."""
    return next((device for device in re.findall(r"\bdevice=(\S+)", line)
                 if not Path(device).exists()), None)


def run(line):
    """Runs a line. Returns its problem, or None."""
    command = line.replace("autovideosink", "fakesink")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pipelines", "tests"):
            (Path(folder) / name).symlink_to(ROOT / name)
        done = subprocess.run(["bash", "-c", command], cwd=folder, timeout=120, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode != 0 or re.search(r"^(ERROR|WARNING)", done.stdout, re.M):
            return f"exit {done.returncode}\n{done.stdout}"
        for name in re.findall(r"filesink location=(\S+)", command):
            written = Path(folder) / name
            if not written.is_file() or written.stat().st_size == 0:
                return f"{name} was not written"
    return None


def main():
    failed = count = 0
    for name in sys.argv[1:]:
        for place, line in launch_lines(Path(name).resolve()):
            count += 1
            missing = missing_decoder(line) or missing_device(line) or missing_network(line)
            if missing:
                print(f"ok {count} - {place} # SKIP no {missing}")
                continue
            wrong = run(line)
            print(f"{'ok' if wrong is None else 'not ok'} {count} - {place}")
            if wrong is not None:
                failed += 1
                print(wrong)
    print(f"1..{count}")
    if count == 0:
        sys.exit("no launch line found")
    sys.exit(1 if failed else 0)


main()
