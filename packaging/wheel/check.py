#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks a wheel: auditwheel confirms its platform tag; its files need only its own libraries and those
of C and C++; no library has the name of a system library; no symbol is missing; its metadata has the extra
of the archive, and no dependency without an extra; the SBOM is valid and names each of these files; the size
is within the limit.

usage: check.py WHEEL SIZE_LIMIT_MB
"""
import email
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

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


def check_sbom(folder, files):
    """Checks that the SBOM is valid, names these files and no others, and tells what is known of each
    component."""
    found = list(folder.glob("*.dist-info/sboms/*"))
    if len(found) != 1:
        problems.append(f"expected one SBOM, got {len(found)}")
        return
    text = found[0].read_text()
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        problems.append(f"{found[0].name} is not valid: {error.data.message}")
    bom = json.loads(text)
    components = [bom["metadata"]["component"], *bom.get("components", [])]
    named = {Path(occurrence["location"]) for component in components
             for occurrence in component.get("evidence", {}).get("occurrences", [])}
    own = {path.relative_to(folder) for path in files}
    problems.extend(f"the SBOM does not name {path}" for path in sorted(own - named))
    problems.extend(f"the SBOM names {path}, which is not in the wheel" for path in sorted(named - own))
    problems.extend(f"the SBOM does not tell the {key} of {component['name']}" for component in components
                    for key in ("version", "purl", "licenses") if not component.get(key))
    print(f"SBOM: {len(components)} components")


def check_files(folder):
    """Checks each ELF file, and the SBOM. Returns the number of ELF files."""
    own = {path.name for path in folder.glob("gst_cudatensor/runtime/lib/*")}
    files = [path for path in folder.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
    for path in files:
        check_file(path, own)
    check_sbom(folder, files)
    return len(files)


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
