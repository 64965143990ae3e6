#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Maintenance of cameras: it begins, changes and ends by the API or by itself, and lasts across a restart;
meanwhile nobody is notified, and incidents that begin are marked."""
import json
import pathlib
import tempfile
import time
import urllib.request

from notify import DARK, FINE, Receiver, config, reload, webhook
from running import Monitor, wait_for
from server import Server, expect, until

PATH = "/api/v1/cameras/camera-0/maintenance"
JSON = {"Content-Type": "application/json"}
HOUR = 3600 * 1000


def now():
    return int(time.time() * 1000)


def post(server, body, path=PATH, **headers):
    """Returns status and document."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, answered, text = server.get(path, "POST", {**JSON, **headers}, data)
    expect(answered["Content-Type"] == "application/json", path, answered)
    return status, json.loads(text)


def set_to(server, body):
    status, camera = post(server, body)
    expect(status == 200 and camera["id"] == "camera-0", "set", body, status, camera)
    one = server.json("/api/v1/cameras/camera-0")
    expect(one["maintenance"] == camera["maintenance"], "the camera", one["maintenance"])
    return camera["maintenance"]


def metric(server, camera):
    text = server.get("/metrics")[2].decode()
    return next(line.split()[-1] for line in text.splitlines()
                if line.startswith(f'luminance_maintenance{{camera="{camera}"}}'))


def maintenance_begins_and_ends(server):
    expect(server.json("/api/v1/cameras/camera-0")["maintenance"] is None, "at first")
    expect(set_to(server, {"end": True}) is None, "the end of nothing")
    before = now()
    begun = set_to(server, {})
    expect(before <= begun["since"] <= now() and begun["until"] is None and begun["comment"] == "",
           "begun", begun)
    until_then = now() + HOUR
    set_to(server, {"until": until_then, "comment": "new lamp\r\n\U0001f4f7"})
    wanted = {"since": begun["since"], "until": until_then, "comment": "new lamp\n\U0001f4f7"}
    expect(set_to(server, {}) == wanted, "nothing to change")
    expect(set_to(server, {"comment": "x" * 1000}) == {**wanted, "comment": "x" * 1000}, "comment")
    expect(set_to(server, {"until": None}) == {**wanted, "comment": "x" * 1000, "until": None}, "until")
    others = server.json("/api/v1/cameras")["cameras"][1:]
    expect(all(camera["maintenance"] is None for camera in others), "the others", others)
    expect((metric(server, "camera-0"), metric(server, "camera-1")) == ("1", "0"), "metrics")
    expect(set_to(server, {"end": True}) is None, "ended")
    expect(metric(server, "camera-0") == "0", "metrics")
    again = set_to(server, {})
    expect(again["comment"] == "" and again["since"] >= begun["since"], "a second maintenance", again)
    set_to(server, {"end": True})


def the_stream_has_maintenance(server):
    stream = server.stream()
    states = (camera["maintenance"] for name, data in stream if name in ("cameras", "update")
              for camera in data["cameras"] if camera["id"] == "camera-0")
    expect(next(states) is None, "at first")
    set_to(server, {"comment": "told"})
    expect(next(state for state in states if state)["comment"] == "told", "begun")
    set_to(server, {"end": True})
    expect(next(state for state in states if not state) is None, "ended")
    stream.close()


def maintenance_ends_by_itself(server):
    set_to(server, {"until": now() + 1500})
    until(lambda: server.json("/api/v1/cameras/camera-0")["maintenance"] is None, "the end")


def bad_requests_are_refused(server):
    set_to(server, {"comment": "stays"})
    for body in (b"", b"{", b"[]", b"null", b'"end"', b"\xff", b'{"comment": "\xff"}', b"[" * 16000,
                 {"end": False}, {"end": 1}, {"end": True, "comment": ""}, {"until": "tomorrow"},
                 {"until": 1.5}, {"until": True}, {"until": now() - 1000}, {"until": -1},
                 {"until": now() + 367 * 24 * HOUR}, {"until": 2 ** 63}, {"until": 2 ** 64 - 1},
                 {"until": 2 ** 70}, {"until": -2 ** 63}, {"comment": None}, {"comment": "x" * 1001},
                 {"comment": "a\0b"}, {"comment": "a\x1bb"}, {"since": 1}):
        status, document = post(server, body)
        expect(status == 400 and list(document) == ["error"], "bad input",
               body[:40] if isinstance(body, bytes) else body, status, document)
    expect(post(server, b" " * 17000)[0] == 413, "too large a body")
    for header in ({"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        expect(post(server, {"end": True}, **header)[0] == 403, "another site", header)
    expect(post(server, {}, "/api/v1/cameras/nobody/maintenance")[0] == 404, "no such camera")
    for wrong in ("/api/v1/cameras/maintenance", PATH + "/", "/api/v1/cameras/camera-0"):
        expect(post(server, {}, wrong)[0] in (404, 405), wrong)
    server.error(PATH, 405)
    expect(server.json("/api/v1/cameras/camera-0")["maintenance"]["comment"] == "stays",
           "a refused request had an effect")
    set_to(server, {"end": True})


def maintenance_stops_notifications(folder):
    """Both cameras are dark, but only one is in maintenance: only the other one is notified."""
    file, arguments = folder / "cameras.toml", ("--interval=1", "--history", folder / "h.db")

    def maintain(monitor, body):
        request = urllib.request.Request(monitor.address + "/api/v1/cameras/one/maintenance",
                                         json.dumps(body).encode(), JSON)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["maintenance"]

    def incident(monitor, camera):
        return json.loads(monitor.get(f"/api/v1/incidents?verdict=too-dark&camera={camera}"))["incidents"]

    with Receiver() as receiver:
        channels = webhook(folder, receiver.port)
        dark = config(channels, ("one", DARK), ("two", DARK))
        file.write_text(config(channels, ("one", FINE), ("two", FINE)))
        with Monitor("--config", file, *arguments) as monitor:
            begun = maintain(monitor, {"comment": "a new lamp"})
            monitor.wait_for_line("one: maintenance since 20.*: a new lamp")
            reload(monitor, file, dark)
            wait_for("a message", receiver.alerts)
            found = wait_for("an incident", lambda: incident(monitor, "one"))
            expect(found[0]["maintenance"] is True, "the incident is not marked", found)
            expect(incident(monitor, "two")[0]["maintenance"] is False, "the other incident is marked")
            time.sleep(3)
        told = receiver.alerts()
        expect(told == [("raised", "two", "too-dark")], "told", told)
        with Monitor("--config", file, *arguments) as monitor:
            wait_for("the verdict", lambda: monitor.cameras()["one"]["verdicts"])
            expect(monitor.cameras()["one"]["maintenance"] == begun, "maintenance did not go on", begun)
            time.sleep(3)
            expect(not [alert for alert in receiver.alerts() if alert[1] == "one"], "told",
                   receiver.alerts())
            maintain(monitor, {"until": now() + 1000})
            monitor.wait_for_line("one: maintenance is over")
            wait_for("a message about camera one", lambda: ("raised", "one", "too-dark") in receiver.alerts())


def main():
    with tempfile.TemporaryDirectory() as folder:
        for arguments in ((), ("--history", f"{folder}/history.db")):
            with Server(*arguments) as server:
                for test in (maintenance_begins_and_ends, the_stream_has_maintenance,
                             maintenance_ends_by_itself, bad_requests_are_refused):
                    print(test.__name__, *arguments, flush=True)
                    test(server)
        maintenance_stops_notifications(pathlib.Path(folder))


if __name__ == "__main__":
    main()
