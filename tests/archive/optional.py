#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the package needs neither Ray nor PyArrow, and that the command names what is
missing."""
import subprocess
import sys

HIDDEN = "import sys; sys.modules.update(ray=None, pyarrow=None); "


def run(code):
    return subprocess.run([sys.executable, "-c", HIDDEN + code], text=True, timeout=60, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def main():
    loaded = run("import gst_cudatensor; sys.exit(gst_cudatensor.__name__ + '.archive' in sys.modules)")
    assert loaded.returncode == 0, loaded.stderr
    command = ("from gst_cudatensor.archive.__main__ import main; "
               "sys.exit(main(['x', '--output', 'y', '--model', 'luminance']))")
    missing = run(command)
    assert missing.returncode == 1 and "pip install 'WHEEL[archive]'" in missing.stderr, \
        (missing.returncode, missing.stderr)


main()
