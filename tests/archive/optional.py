#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that the package needs nothing of its extra `archive`, that the extra names what the archive
imports, and that the command names what is missing."""
import ast
import re
import subprocess
import sys
from pathlib import Path

import gst_cudatensor

PACKAGE = Path(gst_cudatensor.__file__).parent
HIDDEN = "import sys; sys.modules.update(ray=None, pyarrow=None); "
#: The user chooses between onnxruntime and onnxruntime-gpu, which cannot both be installed.
CHOSEN_BY_THE_USER = {"onnxruntime"}
NEW_MODULES = """
import sys
before = set(sys.modules)
import gst_cudatensor
print(*sorted(set(sys.modules) - before))
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], text=True, timeout=60, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def import_loads_the_standard_library_only():
    """Also packages that are installed are not imported: they would cost each program a second."""
    loaded = run(NEW_MODULES)
    assert loaded.returncode == 0, loaded.stderr
    names = loaded.stdout.split()
    assert "gst_cudatensor._frames" in names, names
    assert not [name for name in names if name.startswith("gst_cudatensor.archive")], names
    foreign = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names)
    assert foreign == {"gst_cudatensor"}, foreign


def imported_by(folder):
    """Returns the packages outside of the standard library that the modules of a folder import."""
    found = set()
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names)


def extra_names_all_imports():
    text = (PACKAGE.parent / "pyproject.toml").read_text()
    line = re.search(r"^archive = (\[.*\])$", text, re.M)
    required = {re.match(r"\w+", each)[0] for each in ast.literal_eval(line[1])}
    imported = imported_by(PACKAGE / "archive")
    assert {"ray", "pyarrow", "numpy"} <= imported, imported
    assert imported - CHOSEN_BY_THE_USER <= required, (imported, required)


def command_names_the_missing_package():
    missing = run(HIDDEN + "from gst_cudatensor.archive.__main__ import main; "
                  "sys.exit(main(['x', '--output', 'y', '--model', 'luminance']))")
    assert missing.returncode == 1 and "pip install 'WHEEL[archive]'" in missing.stderr, \
        (missing.returncode, missing.stderr)


import_loads_the_standard_library_only()
extra_names_all_imports()
command_names_the_missing_package()
