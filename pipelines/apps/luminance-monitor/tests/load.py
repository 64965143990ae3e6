#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two hundred readers of the stream at once, some of which are slow or do not read at all; then a thousand
readers that come and go."""
import os
import re
import selectors
import sys
import time
from pathlib import Path

from sanitizers import SANITIZED
from server import Server, expect, until

FAST, SLOW, STALLED, CAMERAS = 140, 50, 10, 32
SECONDS = 30
SLOW_BYTES, SLOW_PAUSE = 16384, 0.4  # bytes per read, and seconds between reads
LATE = 5.0  # seconds, on a machine that does other things, too
# Before the latest event, a slow reader gets what the kernel has buffered on both sides, and one event.
SLOW_LATE = 14.0 + LATE
REQUEST = b"GET /api/v1/stream HTTP/1.0\r\nHost: localhost\r\n\r\n"
EVENT = re.compile(rb'event: update\ndata: \{"time":(\d+),')


class Reader:
    def __init__(self, server, pause=0.0, size=1 << 20, receive_buffer=None):
        self.connection = server.connect(receive_buffer)
        self.connection.sendall(REQUEST)
        self.connection.setblocking(False)
        self.pause, self.size = pause, size
        self.next = 0.0  # time of the next read
        self.rest = b""
        self.events = {}  # delay in seconds until an event was complete here, by the time when it was made
        self.got = 0
        self.is_over = False

    def read(self):
        self.next = time.monotonic() + self.pause
        try:
            data = self.connection.recv(self.size)
        except BlockingIOError:
            return
        except ConnectionError:
            data = b""
        self.is_over = not data
        self.got += len(data)
        *events, self.rest = (self.rest + data).split(b"\n\n")
        for event in events:
            if made := EVENT.match(event):
                self.events[int(made[1])] = time.time() - int(made[1]) / 1000


def read_for(seconds, readers):
    """Has each reader read at its pace."""
    selector = selectors.DefaultSelector()
    waiting = list(readers)
    for reader in readers:
        selector.register(reader.connection, selectors.EVENT_READ, reader)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        now = time.monotonic()
        for reader in [reader for reader in waiting if reader.next <= now]:
            waiting.remove(reader)
        ready = selector.select(0.05)
        for key, _ in ready:
            reader = key.data
            if reader.next > time.monotonic():
                continue
            reader.read()
            expect(not reader.is_over, "a reader was dropped",
                   f"pause {reader.pause}, after {reader.got} bytes")
        if ready and all(key.data.next > time.monotonic() for key, _ in ready):
            time.sleep(0.02)  # only slow readers have data
    selector.close()


def drain(reader):
    """Reads what was on its way, and returns whether the connection has ended."""
    reader.read()
    return reader.is_over


def cpu_seconds(server):
    fields = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def expect_fast(readers, begin):
    made = sorted(set.union(*(set(reader.events) for reader in readers)))
    # Not every reader gets the first and the last events.
    inner = [at for at in made if begin + 2000 < at < made[-1] - 1000 * LATE / 2]
    expect(len(inner) > (0 if SANITIZED else SECONDS / 3), "updates", made)
    missed = sum(at not in reader.events for reader in readers for at in inner)
    latest = max(max(reader.events.values()) for reader in readers if reader.events)
    print(f"{len(readers)} fast readers: {len(inner)} updates each, {missed} missed, the latest after "
          f"{latest:.2f} s")
    if SANITIZED:  # a sanitizer leaves them little CPU time: the delays are not theirs
        return len(made)
    expect(missed == 0, "updates were missed")
    expect(latest < LATE, "updates came late", latest)
    return len(made)


def expect_slow(readers, updates):
    counts = [len(reader.events) for reader in readers]
    latest = max(list(reader.events.values())[-1] for reader in readers if reader.events)
    print(f"{len(readers)} slow readers: {min(counts)} to {max(counts)} updates of {updates}, the last "
          f"{latest:.1f} s old")
    if SANITIZED:
        return
    expect(min(counts) >= 2 and max(counts) < 0.8 * updates, "slow readers do not get fewer updates", counts)
    expect(latest < SLOW_LATE, "slow readers do not get the latest updates", latest)


def many_readers_get_updates(server):
    fast = [Reader(server) for _ in range(FAST)]
    slow = [Reader(server, SLOW_PAUSE, SLOW_BYTES, 16384) for _ in range(SLOW)]
    stalled = [Reader(server, receive_buffer=16384) for _ in range(STALLED)]
    begin = 1000 * time.time()
    read_for(8, fast + slow)
    memory, cpu = server.memory(), cpu_seconds(server)
    read_for(SECONDS, fast + slow)
    grown, cpu = server.memory() - memory, cpu_seconds(server) - cpu
    print(f"memory {memory / 1e6:.1f} MB, then {grown / 1e6:+.2f} MB; "
          f"{100 * cpu / SECONDS:.0f} % of a core")
    expect(memory < 60_000_000 or SANITIZED, "memory", memory)
    expect(grown < 4_000_000 or SANITIZED, "memory grows", grown)
    updates = expect_fast(fast, begin)
    expect_slow(slow, updates)
    expect(server.connections() == FAST + SLOW, "readers that do not read are not dropped",
           server.connections())
    for reader in stalled:
        until(lambda reader=reader: drain(reader), "the end of a connection that was not read")
    for reader in fast + slow + stalled:
        reader.connection.close()


def many_readers_come_and_go(server):
    def visit(count):
        readers = [Reader(server) for _ in range(count)]
        for reader in readers[::2]:  # the others leave before there is an answer
            until(lambda reader=reader: reader.read() or reader.got, "an answer")
        for reader in readers:
            reader.connection.close()
        until(lambda: server.connections() == 0, "connections are closed")

    for _ in range(4):
        visit(50)
    memory = server.memory()
    for _ in range(20):
        visit(50)
    grown = server.memory() - memory
    print(f"1000 came and went: memory {grown / 1e6:+.2f} MB")
    expect(grown < 1_000_000 or SANITIZED, "memory grows", grown)


def main():
    with Server("--cameras", CAMERAS) as server:
        until(lambda: server.json("/api/v1/cameras")["cameras"][0]["latest"], "an interval")
        many_readers_get_updates(server)
        until(lambda: server.connections() == 0, "connections are closed")
        many_readers_come_and_go(server)
        expect(server.get("/healthz")[0] == 200, "alive")


if __name__ == "__main__":
    sys.exit(main())
