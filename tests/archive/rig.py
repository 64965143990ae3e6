# SPDX-License-Identifier: LGPL-2.1-or-later
"""Common code of the archive's tests: the interpreter with Ray, videos, results."""
import os
import subprocess
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLIP = ROOT / "pipelines/media/pedestrians.webm"
FRAMES_PER_SECOND = 30


def need(name):
    """Continues the program in the interpreter that has Ray. Skips the test if there is none."""
    python = os.environ.get("CUDATENSOR_TEST_RAY", "")
    if not os.access(python, os.X_OK):
        print(f"ok 1 - {name} # SKIP tests/run.sh has not fetched Ray\n1..1")
        sys.exit(0)
    if Path(sys.prefix) != Path(python).parent.parent:
        os.environ.update(PYTHONDONTWRITEBYTECODE="1", RAY_DEDUP_LOGS="0", RAY_USAGE_STATS_ENABLED="0",
                          RAY_DATA_DISABLE_PROGRESS_BARS="1")
        sys.stdout.flush()
        os.execv(python, [python, "-W", "ignore", *sys.argv])
    # The workers import the models of the tests.
    os.environ["PYTHONPATH"] = f"{os.environ.get('PYTHONPATH', '')}:{Path(__file__).parent}"


def report(cases):
    """Runs pairs of (name, function) and prints the results as TAP. A function returns its
    measurements, or raises AssertionError. Returns the exit status."""
    failed = 0
    for count, (name, case) in enumerate(cases, 1):
        try:
            measured = case()
            print(f"ok {count} - {name}{': ' + measured if measured else ''}", flush=True)
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {count} - {name}")
            print("".join(f"  {line}\n" for line in traceback.format_exc().splitlines()), flush=True)
    print(f"1..{len(cases)}")
    return 1 if failed or not cases else 0


def raises(kind, function, *arguments, **named):
    """Returns the text of the exception of this kind that a call raises. Raises AssertionError if
    it raises none."""
    try:
        function(*arguments, **named)
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def make_video(path, seconds, source="videotestsrc pattern=ball", size=(160, 120)):
    """Writes a VP8 file with a key frame each second."""
    width, height = size
    line = (f"{source} num-buffers={round(seconds * FRAMES_PER_SECOND)} ! video/x-raw,format=I420,"
            f"width={width},height={height},framerate={FRAMES_PER_SECOND}/1 ! vp8enc deadline=1 "
            f"cpu-used=8 keyframe-max-dist={FRAMES_PER_SECOND} ! webmmux ! filesink location={path}")
    subprocess.run(["gst-launch-1.0", "-q", *line.split()], check=True)
    return path


@contextmanager
def folder():
    """Yields a folder that is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="archive-") as name:
        yield Path(name)


def rows_in(output):
    """Returns a job's rows as dictionaries, in the order of files and times."""
    from pyarrow import parquet

    rows = parquet.read_table(str(Path(output) / "rows")).to_pylist()
    return sorted(rows, key=lambda row: (row["uri"], row["start"], row["time"] or 0))


def check_once(output, rows=None):
    """Raises AssertionError unless each chunk of the list has rows, and no two rows are the same."""
    from pyarrow import parquet

    rows = rows_in(output) if rows is None else rows
    listed = parquet.read_table(str(Path(output) / "chunks"))["chunk_id"].to_pylist()
    assert len(listed) == len(set(listed)), "a chunk is listed twice"
    assert {row["chunk_id"] for row in rows} == set(listed), "chunks without rows, or unknown ones"
    keys = [(row["chunk_id"], row["time"], row["error"]) for row in rows]
    assert len(keys) == len(set(keys)), f"{len(keys) - len(set(keys))} rows are there twice"
    return len(listed)
