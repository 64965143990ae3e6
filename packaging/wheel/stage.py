#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the folder from which the wheel is built: the Python package with runtime/, and its metadata.

usage: stage.py STAGE RUNTIME LICENSE_EXPRESSION
"""
import shutil
import sys
import tomllib
from pathlib import Path

import tomli_w

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "gst_cudatensor"


def metadata(expression):
    """Returns the metadata of the package without runtime/, with the changes for the wheel."""
    made = tomllib.loads((ROOT / "gst/python/pyproject.toml").read_text())
    made["build-system"]["requires"] = ["setuptools>=77"]
    made["project"].update({
        "license": expression, "license-files": ["LICENSE", f"{PACKAGE}/runtime/licenses/*"],
        "requires-python": ">=3.10", "readme": "README.md",
        "description": "Video to tensors on NVIDIA GPUs and CPUs, with a GStreamer of its own"})
    # PyGObject works only with the system's GStreamer.
    made["project"]["optional-dependencies"].pop("gst")
    made["tool"]["setuptools"]["package-data"][PACKAGE] += ["runtime/**/*"]
    return made


def main():
    stage, runtime, expression = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if stage.exists():
        shutil.rmtree(stage)
    shutil.copytree(ROOT / "gst/python" / PACKAGE, stage / PACKAGE,
                    ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(runtime, stage / PACKAGE / "runtime")
    shutil.copy(Path(__file__).with_name("setup.py"), stage)
    shutil.copy(Path(__file__).with_name("README.md"), stage)
    shutil.copy(ROOT / "LICENSE", stage)
    (stage / "pyproject.toml").write_text(tomli_w.dumps(metadata(expression)))


main()
