# SPDX-License-Identifier: LGPL-2.1-or-later
"""The interpreter with other projects' preprocessing, and the report of its tests."""
import os
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def need(name):
    """Continues the program in that interpreter. Skips the test if there is none."""
    python = os.environ.get("CUDATENSOR_TEST_REFERENCES", "")
    if not os.access(python, os.X_OK):
        print(f"ok 1 - {name} # SKIP tests/run.sh has not fetched the preprocessing of other "
              "projects\n1..1")
        sys.exit(0)
    if Path(sys.prefix) != Path(python).parent / "venv":
        os.environ.update(YOLO_CONFIG_DIR=str(Path(python).parent), YOLO_OFFLINE="true",
                          YOLO_VERBOSE="false", TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1",
                          PYTHONDONTWRITEBYTECODE="1")
        sys.stdout.flush()
        os.execv(python, [python, "-W", "ignore", *sys.argv])


def report(cases):
    """Runs pairs of (name, function) and prints the results as TAP. A function returns its
    measurements, or raises AssertionError. Returns the exit status."""
    failed = count = 0
    for count, (name, case) in enumerate(cases, 1):
        try:
            measured = case()
            print(f"ok {count} - {name}{': ' + measured if measured else ''}", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"not ok {count} - {name}: {error}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {count} - {name}")
            print("".join(f"  {line}\n" for line in traceback.format_exc().splitlines()), flush=True)
    print(f"1..{count}")
    return 1 if failed or not count else 0
