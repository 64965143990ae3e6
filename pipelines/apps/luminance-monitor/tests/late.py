# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program, or only its main loop, is stopped for longer than a camera may be silent: no camera is
reported as silent."""
import ctypes
import os
import pathlib
import signal
import tempfile
import time

import videos
from running import Monitor, wait_for

SILENCE = 3  # seconds
STOP = 7
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17  # requests of ptrace()
ALL_CHILDREN = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(request, thread):
    if LIBC.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), 'ptrace')


def stop_program(pid):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(STOP)
    os.kill(pid, signal.SIGCONT)


def stop_main_loop(pid):
    """Stops only the thread of the main loop; the cameras' threads continue."""
    try:
        ptrace(SEIZE, pid)
    except OSError as error:
        print(f'the main loop cannot be stopped here: {error}')
        return
    ptrace(INTERRUPT, pid)
    os.waitpid(pid, ALL_CHILDREN)
    time.sleep(STOP)
    ptrace(DETACH, pid)


def frames(monitor):
    return monitor.cameras()['camera-mkv']['frames']


def reports(monitor):
    return [line for line in monitor.output if 'No frames' in line]


def main(folder):
    path = pathlib.Path(folder) / 'camera.mkv'
    videos.write(path, videos.ordinary(300), 10)
    with Monitor('--loop', f'--set=no-frames.raise={SILENCE}', path) as monitor:
        wait_for('frames', lambda: frames(monitor) > 10)
        for stop in (stop_program, stop_main_loop, stop_program):
            before = frames(monitor)
            stop(monitor.pid)
            wait_for('frames again', lambda: frames(monitor) > before + 20)
            assert not reports(monitor), (stop.__name__, reports(monitor))
            print(stop.__name__, 'is not seen')


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
