#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Collects the licenses of the files that bundle.py copied, and lists the files in
licenses/packages.csv. Fails for a package that is not in licenses.csv, so that nothing new is shipped
before someone has read its license.

usage: licenses.py RUNTIME DECODERS [CUDA_LICENSE]

DECODERS: the folder of decoders.sh
CUDA_LICENSE: the license of the CUDA runtime, if the plugin contains it
"""
import csv
import functools
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXPRESSIONS = {row["source"]: row["license"] for row in
               csv.DictReader(Path(__file__).with_name("licenses.csv").read_text().splitlines())}
COMPILED_IN = Path("/usr/include/nlohmann/json.hpp")  # a header-only library
NOTE = """The files of this package beside its Python files come from the source packages in packages.csv.
Their copyright and licenses are in the files that it names.

Debian's packages are unchanged but for the names of libraries and symbols, which
packaging/wheel/bundle.py of gst-cudatensor's source replaces. Debian keeps their source
packages. FFmpeg is built from Debian's source package with these options of its configure:

{options}
"""


def own_version():
    return tomllib.loads((ROOT / "gst/python/pyproject.toml").read_text())["project"]["version"]


def cuda_version():
    text = subprocess.run(["nvcc", "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return re.search(r"release ([\d.]+)", text)[1]


@functools.lru_cache(maxsize=None)
def package_of(path):
    """Returns the Debian package that a file comes from: (source, package, version)."""
    for name in (path, Path("/usr") / path.relative_to("/"), Path("/") / path.relative_to("/usr")
                 if path.is_relative_to("/usr") else path):
        found = subprocess.run(["dpkg-query", "--search", name], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=False)
        if found.returncode == 0:
            package = found.stdout.split(": ")[0].split(",")[0]
            form = "${source:Package}\t${binary:Package}\t${Version}"
            return tuple(subprocess.run(["dpkg-query", "--show", f"--showformat={form}", package],
                                        check=True, text=True, stdout=subprocess.PIPE).stdout.split("\t"))
    sys.exit(f"{path} does not belong to a Debian package")


def rows_of(runtime, decoders, cuda_license):
    """Returns for each package: source, package, version, path of its license, its files."""
    rows = {}

    def add(source, package, version, text, file):
        rows.setdefault((source, package, version, text), []).append(file)

    def add_debian(path, file):
        source, package, version = package_of(path)
        text = Path("/usr/share/doc") / package.split(":")[0] / "copyright"
        if not text.exists():
            sys.exit(f"{text} is missing: install {package} again, without dpkg's option "
                     f"path-exclude, which leaves such files out")
        add(source, package, version, text, file)

    for line in (runtime / "SOURCES").read_text().splitlines():
        file, path = line.split("\t")
        path = Path(path).resolve()
        if "libgstcudatensor" in file:
            add("gst-cudatensor", "gst-cudatensor", own_version(), ROOT / "LICENSE", file)
            if cuda_license:
                add("cuda-runtime", "cuda-runtime", cuda_version(), cuda_license, file)
            add_debian(COMPILED_IN, file)
        elif path.is_relative_to(decoders):
            add("ffmpeg", "ffmpeg", (decoders / "version").read_text().strip(),
                decoders / "source/COPYING.LGPLv2.1", file)
        else:
            add_debian(path, file)
    return [(*key, files) for key, files in sorted(rows.items())]


def main():
    runtime, decoders, *cuda_license = (Path(path).resolve() for path in sys.argv[1:])
    folder = runtime / "licenses"
    folder.mkdir(exist_ok=True)
    rows = rows_of(runtime, decoders, cuda_license[0] if cuda_license else None)
    unknown = {source for source, *_ in rows} - EXPRESSIONS.keys()
    if unknown:
        sys.exit(f"licenses.csv lacks {', '.join(sorted(unknown))}: read their licenses and add them")
    with (folder / "packages.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("package", "version", "source", "license", "license_file", "files"))
        for source, package, version, text, files in rows:
            name = f"{package.split(':')[0]}.txt"
            shutil.copy(text, folder / name)
            (folder / name).chmod(0o644)
            table.writerow((package, version, source, EXPRESSIONS[source], name, " ".join(files)))
    (folder / "README").write_text(NOTE.format(options=(decoders / "built").read_text().strip()))
    (runtime / "SOURCES").unlink()
    kinds = sorted({EXPRESSIONS[source] for source, *_ in rows})
    print(" AND ".join(f"({kind})" if " OR " in kind else kind for kind in
                       sorted({part for kind in kinds for part in kind.split(" AND ")})))


main()
