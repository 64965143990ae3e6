#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scripts that install packages print a message and wait while another process holds a lock of apt or
dpkg.

The test uses private folders of apt without packages.
"""
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("state/lists/lock", "dpkg/lock-frontend")
CONFIG = """
Dir::State "{0}/state";
Dir::State::status "{0}/dpkg/status";
Dir::Cache "{0}/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "/dev/null";
DPkg::Lock::Timeout "0";
"""


def install():
    return subprocess.Popen(
        ["bash", "-c", ". pipelines/setup.sh; need_packages no-such-package"], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def waits_for(lock):
    """The script waits until the lock is free. It then fails, because the package does not exist."""
    with open(lock, "w", encoding="ascii") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        script = install()
        killer = threading.Timer(120, script.kill)
        killer.start()
        text = ""
        for line in script.stdout:
            text += line
            if line.startswith("Waiting"):
                break
        fcntl.lockf(file, fcntl.LOCK_UN)
    text += script.stdout.read()
    killer.cancel()
    assert script.wait(60) == 1, text
    assert text.startswith("Installing no-such-package ("), text
    waiting = [line for line in text.splitlines() if line.startswith("Waiting")]
    assert len(waiting) == 1 and str(lock) in waiting[0], text
    assert "Could not get lock" not in text, text
    assert "Unable to locate package no-such-package" in text, text


def main():
    if os.getuid() != 0 or not shutil.which("apt-get"):
        print("skipped: needs root and apt-get")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for name in "state/lists/partial", "dpkg", "cache/archives/partial":
            (Path(folder) / name).mkdir(parents=True)
        (Path(folder) / "dpkg/status").touch()
        config = Path(folder) / "apt.conf"
        config.write_text(CONFIG.format(folder))
        os.environ["APT_CONFIG"] = str(config)
        for lock in LOCKS:
            waits_for(Path(folder) / lock)
    print(f"the script waited for {' and '.join(LOCKS)}")


main()
