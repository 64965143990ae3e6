#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every script of pipelines/ and pipelines/apps/ with wrong arguments that users may give.

usage: arguments.py
Each ends soon, with a status other than 0 and a last line that names the script or its program and the
cause, and leaves the result of an earlier run as it is. --help ends well. The programs are those of the
build in $BUILD_DIR; a script without its program there is left out. With ARGUMENTS_OF=SCRIPT..., only
these.
"""
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = ROOT / "pipelines"
BUILD = Path(os.environ.get("BUILD_DIR", ROOT / "build-scripts"))
# The program of each script, in the build folder.
PROGRAMS = {"camera-to-tensor": "cameratotensor", "fixed-point": "fixedpoint",
            "luminance": "luminance", "super-resolution": "superresolution",
            "apps/multicam": "multicam/multicam",
            "apps/deepstream": "deepstream/deepstream",
            "apps/luminance-monitor": "apps/luminance-monitor/luminance-monitor"}
DEMONSTRATIONS = ("camera-to-tensor", "fixed-point", "luminance", "super-resolution")
WITH_PICTURE = ("camera-to-tensor", "fixed-point", "super-resolution")
# luminance-monitor keeps trying: its sources are cameras, and its page shows the error. Its own
# tests have more cases.
LASTING = ("apps/luminance-monitor",)
# This script needs DeepStream's elements before it checks the contents of its arguments.
WITHOUT_ELEMENTS = ("apps/deepstream",)
LIMIT = 120  # seconds, for a loaded machine


def has_program(script):
    return (BUILD / "pipelines" / PROGRAMS[script]).exists()


def scripts():
    """Returns all scripts except those whose Python packages are large; tests/apps/ has a script for
    each of them."""
    found = {str(path.relative_to(PIPELINES).with_suffix("")) for folder in (PIPELINES, PIPELINES / "apps")
             for path in folder.glob("*.sh")} - {"setup", "plugin", "apps/text-detect", "apps/faces"}
    if found != set(PROGRAMS):
        sys.exit(f"scripts without a program here, or programs without a script: {found ^ set(PROGRAMS)}")
    chosen = os.environ.get("ARGUMENTS_OF", "").split()
    return [script for script in sorted(found) if has_program(script) and script in (chosen or found)]


def run(script, *arguments, environment=None, user=None):
    return subprocess.run([PIPELINES / f"{script}.sh", *map(str, arguments)], text=True, timeout=LIMIT,
                          check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd="/", user=user, group=user,
                          extra_groups=None if user is None else [],
                          env={**os.environ, **(environment or {})})


class Wrong(Exception):
    pass


def expect_failure(done, script, *causes):
    last = [line for line in done.stdout.splitlines() if line.strip()]
    names = (f"{Path(script).name}.sh: ", f"{Path(PROGRAMS[script]).name}: ")
    ours = [line for line in last if line.startswith(names)]
    if done.returncode <= 0 or done.returncode > 125:
        raise Wrong(f"ends with {done.returncode}:\n{done.stdout}")
    if not ours or not any(cause in "\n".join(last) for cause in causes):
        raise Wrong(f"no line that names {causes}:\n{done.stdout}")
    if "Traceback" in done.stdout:
        raise Wrong(f"a traceback:\n{done.stdout}")


@contextlib.contextmanager
def unwritten(path):
    """Yields an earlier result, which must stay unchanged."""
    path.write_text("earlier")
    yield
    if path.read_text() != "earlier":
        raise Wrong(f"{path.name} is overwritten")
    if left := [file.name for file in path.parent.glob(f"{path.name}?*")]:
        raise Wrong(f"{left} is left")


def refuses(script, source, *causes):
    result = source.parent / "result.png" if isinstance(source, Path) else Path(tempfile.gettempdir()) / "result.png"
    extra = [result] if script in WITH_PICTURE else []
    with unwritten(result):
        expect_failure(run(script, source, *extra), script, *causes)


def shows_help(script):
    done = run(script, "--help")
    if done.returncode != 0 or Path(script).name + ".sh" not in done.stdout:
        raise Wrong(f"--help ends with {done.returncode}:\n{done.stdout}")


def refuses_unreadable(script, folder):
    """Runs the program as another user if this is root, who can read everything."""
    if os.getuid() == 0:
        program = BUILD / "pipelines" / PROGRAMS[script]
        done = subprocess.run([program, folder / "secret.mp4"], text=True, check=False, timeout=LIMIT,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, user=65534, group=65534,
                              extra_groups=[], cwd=folder / "open",
                              env={**os.environ, "HOME": str(folder / "open")})
        expect_failure(done, script, "secret.mp4")
    else:
        refuses(script, folder / "secret.mp4", "secret.mp4")


def refuses_more(script, folder):
    done = run(script, PIPELINES / "media/pedestrians.webm", folder / "result.png", "three", "four")
    expect_failure(done, script, "three", "result.png")


def ends_in_time(script, folder):
    """Checks that --timeout ends the wait for the writer of a pipe."""
    start = time.monotonic()
    expect_failure(run(script, folder / "pipe", "--timeout=2"), script, "pipe")
    if time.monotonic() - start > LIMIT / 2:
        raise Wrong(f"--timeout=2 is not kept: {time.monotonic() - start:.0f} s")


def can_be_interrupted(script, folder, *options):
    """Checks that the script can be interrupted while it waits for the writer of a pipe."""
    program = BUILD / "pipelines" / PROGRAMS[script]
    with subprocess.Popen([program, folder / "pipe", *options], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        try:
            time.sleep(2)
            if process.poll() is not None:
                raise Wrong(f"ends at once:\n{process.stdout.read()}")
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT / 2)
        except subprocess.TimeoutExpired:
            raise Wrong("Ctrl-C does not end it") from None
        finally:
            process.kill()


def goes_on_beside_a_pipe(folder):
    """Checks that multicam continues with a working camera beside one that never opens."""
    program = BUILD / "pipelines" / PROGRAMS["apps/multicam"]
    with subprocess.Popen([program, "--loop", folder / "pipe", PIPELINES / "media/pedestrians.webm",
                           "--tensor=width=64 height=64"], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        text, lost = "", False
        try:
            for line in process.stdout:
                text += line
                lost = lost or line.startswith("camera 0: lost: no frames")
                if lost and line.startswith("camera 1: ") and "old" in line:
                    break
            else:
                raise Wrong(f"ends:\n{text}")
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT / 2)
        finally:
            process.kill()


def refuses_read_only(script, folder):
    """Checks that a read-only clone is refused before anything is installed or built."""
    if os.getuid() == 0:
        user = 65534
        denied = folder / "denied"
        denied.mkdir(mode=0o755, exist_ok=True)
    else:
        user, denied = None, Path("/proc")
    # Another user cannot run scripts in folders that they cannot enter.
    copy = Path(tempfile.mkdtemp(dir="/tmp"))
    # A build folder may hold the root of an image, with devices that can be read without end.
    left_out = shutil.ignore_patterns("src", "media", "tests", "build*")
    try:
        shutil.copytree(PIPELINES, copy / "pipelines", ignore=left_out)
        copy.chmod(0o755)
        done = subprocess.run([copy / "pipelines" / f"{script}.sh"], text=True, check=False, timeout=LIMIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              user=user, group=user, extra_groups=None if user is None else [], cwd="/",
                              env={**os.environ, "BUILD_DIR": str(denied / "build")})
    finally:
        shutil.rmtree(copy)
    expect_failure(done, script, "cannot write to")
    if len(done.stdout.splitlines()) != 1:
        raise Wrong(f"more than a sentence:\n{done.stdout}")


def checks_of(script, folder):
    yield "--help", lambda: shows_help(script)
    yield "an empty argument", lambda: refuses(script, "", "empty")
    yield "nothing can be written", lambda: refuses_read_only(script, folder)
    if script in LASTING or script in WITHOUT_ELEMENTS:
        return
    yield "a missing file", lambda: refuses(script, folder / "nofile.mp4", "nofile.mp4' does not exist")
    yield "a folder", lambda: refuses(script, folder, "is a directory")
    yield "an unreadable file", lambda: refuses_unreadable(script, folder)
    yield "no video", lambda: refuses(script, folder / "text.mp4", "text.mp4")
    yield "an empty file", lambda: refuses(script, folder / "empty.mp4", "is empty")
    if script == "apps/multicam":
        yield "Ctrl-C before a pipe has a writer", lambda: can_be_interrupted(script, folder)
        yield "a pipe without a writer", lambda: goes_on_beside_a_pipe(folder)
        return
    yield "more arguments", lambda: refuses_more(script, folder)
    yield "a pipe without a writer", lambda: ends_in_time(script, folder)
    yield "Ctrl-C before a pipe has a writer", lambda: can_be_interrupted(script, folder, "--timeout=0")
    if script in WITH_PICTURE:
        yield "no folder for the picture", lambda: expect_failure(
            run(script, PIPELINES / "media/pedestrians.webm", folder / "none/result.png"), script,
            "No such file or directory")


def fill(folder):
    folder.chmod(0o755)
    (folder / "text.mp4").write_text("no video\n" * 100)
    (folder / "empty.mp4").touch()
    (folder / "secret.mp4").write_bytes(b"secret")
    (folder / "secret.mp4").chmod(0)
    os.mkfifo(folder / "pipe")
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)


def main():
    failed = count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder)
        for script in scripts():
            for what, check in checks_of(script, folder):
                count += 1
                try:
                    check()
                except (Wrong, subprocess.TimeoutExpired) as wrong:
                    failed += 1
                    print(f"not ok {count} - {script}: {what}\n{wrong}", flush=True)
                else:
                    print(f"ok {count} - {script}: {what}", flush=True)
    print(f"1..{count}")
    sys.exit(1 if failed or count == 0 else 0)


main()
