#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks a wheel: auditwheel confirms its platform tag; its files need only its own libraries and those
of C and C++; no library has the name of a system library; no symbol is missing; its metadata has the extra
of the archive, and no dependency without an extra; the size is within the limit.

usage: check.py WHEEL SIZE_LIMIT_MB
"""
import email
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bundle import SYSTEM

problems = []


def output_of(*command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode != 0:
        problems.append(f"{command[0]} fails: {done.stdout}")
    return done.stdout


def check_audit(wheel):
    text = " ".join(output_of("auditwheel", "show", wheel).split())
    tag = wheel.stem.split("-")[-1]
    found = re.search(r'following platform tag: "(manylinux_(\d+)_(\d+)_x86_64)"', text)
    if not found or tuple(map(int, found.groups()[1:])) > tuple(map(int, re.findall(r"_(\d+)(?=_)", tag)[:2])):
        problems.append(f"auditwheel does not confirm the tag {tag}: {text}")
    else:
        print(f"auditwheel: {found[1]}")


def check_file(path, own):
    needed = re.findall(r"\((NEEDED|SONAME|RPATH|RUNPATH)\).*\[(.*)\]", output_of("readelf", "-d", path))
    for kind, name in needed:
        if kind == "NEEDED" and name not in own and not SYSTEM.match(name):
            problems.append(f"{path.name} needs {name}, which is not in the wheel")
        if kind == "SONAME" and path.parent.name == "lib" and name != path.name:
            problems.append(f"{path.name} has the SONAME {name}")
        if kind in ("RPATH", "RUNPATH") and not name.startswith("$ORIGIN"):
            problems.append(f"expected an RPATH below $ORIGIN in {path.name}, got {name}")
    missing = re.findall(r"undefined symbol: (\S+)|(\S+) => not found", output_of("ldd", "-r", path))
    if missing:
        problems.append(f"{path.name} lacks {missing[:5]}")


def check_files(folder):
    """Checks each ELF file. Returns their number."""
    own = {path.name for path in folder.glob("gst_cudatensor/runtime/lib/*")}
    count = 0
    for path in folder.rglob("*"):
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            check_file(path, own)
            count += 1
    return count


def check_metadata(folder):
    (path,) = folder.glob("*.dist-info/METADATA")
    metadata = email.message_from_string(path.read_text("utf-8"))
    required = metadata.get_all("Requires-Dist", [])
    ray = [each for each in required if re.match(r"ray\[data\].*extra == .archive.", each)]
    if not ray or "archive" not in metadata.get_all("Provides-Extra", []):
        problems.append(f"expected an extra archive that requires ray[data], got {required}")
    without_extra = [each for each in required if "extra ==" not in each]
    if without_extra:
        problems.append(f"expected no dependency without an extra, got {without_extra}")


def main():
    wheel, limit = Path(sys.argv[1]), float(sys.argv[2])
    check_audit(wheel)
    with tempfile.TemporaryDirectory() as name:
        zipfile.ZipFile(wheel).extractall(name)
        count = check_files(Path(name))
        check_metadata(Path(name))
    size = wheel.stat().st_size / 1e6
    if size > limit:
        problems.append(f"expected at most {limit:g} MB, got {size:.1f} MB")
    if count < 100:
        problems.append(f"expected at least 100 programs and libraries, got {count}")
    print("\n".join(problems[:20]) or f"{wheel.name}: {count} programs and libraries, {size:.1f} MB")
    sys.exit(bool(problems))


main()
