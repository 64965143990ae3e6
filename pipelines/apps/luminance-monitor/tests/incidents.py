#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Incidents in the API: they begin and end with their verdicts, have a picture, can be acknowledged
and commented, though not from another site, and are listed in pages, as CSV and by --export."""
import base64
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import urllib.parse

import running
from server import Server, expect, until
from videos import CLIP

PATH = "/api/v1/incidents"
FIELDS = ["id", "camera", "name", "verdict", "title", "quantity", "side", "begin", "end", "duration",
          "reason", "value", "threshold", "acknowledged", "acknowledged_by", "comment", "maintenance", "picture"]
COLUMNS = ["id", "camera", "name", "verdict", "title", "begin", "end", "duration", "reason", "value",
           "threshold", "quantity", "side", "acknowledged", "acknowledged_by", "comment", "maintenance"]
USER, SECRET = "operator", "geheim"
JSON = {"Content-Type": "application/json"}


def listed(server, **filters):
    document = server.json(f"{PATH}?{urllib.parse.urlencode(filters)}")
    expect(list(document) == ["incidents", "next"], "fields", list(document))
    for incident in document["incidents"]:
        expect(list(incident) == FIELDS, "fields", list(incident))
    return document["incidents"]


def post(server, path, body, **headers):
    """Returns status and document."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, answered, text = server.get(path, "POST", {**JSON, **headers}, data)
    expect(answered["Content-Type"] == "application/json", path, answered)
    return status, json.loads(text)


def incidents_begin_and_end(server):
    """The first camera gets dark and light again; the second one stays dark."""
    dark = {"camera": "camera-0", "verdict": "too-dark"}
    until(lambda: listed(server, camera="camera-1", verdict="too-dark"), "a dark camera")
    expect(not listed(server, **dark), "a camera with nothing")
    server.signal(signal.SIGUSR1)
    begun = until(lambda: listed(server, **dark), "an incident of the dark camera")[0]
    wanted = {"name": "Entrance", "title": "Too dark", "quantity": "mean luma", "side": "below",
              "end": None, "reason": None, "threshold": 40, "acknowledged": None,
              "acknowledged_by": "", "comment": "", "maintenance": False}
    expect({name: begun[name] for name in wanted} == wanted and 28 < begun["value"] < 32, "begun",
           begun)
    server.signal(signal.SIGUSR1)
    ended = until(lambda: listed(server, state="closed", **dark), "the end of the incident")[0]
    expect(ended["id"] == begun["id"] and ended["begin"] == begun["begin"] and
           ended["reason"] == "value" and ended["value"] <= begun["value"], "ended", ended)
    expect(ended["duration"] == (ended["end"] - ended["begin"]) / 1000 > 0, "duration", ended)
    expect(not listed(server, state="open", **dark), "the incident is still open")
    expect(server.json(f"{PATH}/{ended['id']}") == listed(server, **dark)[0], "one")
    lasts = listed(server, camera="camera-1", verdict="too-dark", state="open")
    expect(len(lasts) == 1 and lasts[0]["duration"] > 0, "the incident that lasts", lasts)


def incidents_have_pictures(server):
    with_picture = until(lambda: [one for one in listed(server) if one["picture"]], "a picture")[0]
    status, headers, body = server.get(f"{PATH}/{with_picture['id']}/picture.jpg")
    expect(status == 200 and headers["Content-Type"] == "image/jpeg" and
           body[:3] == b"\xff\xd8\xff" and body[-2:] == b"\xff\xd9", "picture", status, headers)
    expect(with_picture["begin"] <= with_picture["picture"] <= time.time() * 1000, "the time of the picture",
           with_picture)
    silent = until(lambda: listed(server, camera="camera-3", verdict="no-frames"), "no frames")[0]
    expect(silent["picture"] is None, "a camera that has no picture", silent)
    server.error(f"{PATH}/{silent['id']}/picture.jpg", 404)
    server.error(f"{PATH}/{2 ** 40}/picture.jpg", 404)


def incidents_are_paged(server):
    def all_pages():
        found, before = [], ""
        while before is not None:
            page = server.json(f"{PATH}?limit=2&before={before}")
            expect(len(page["incidents"]) == 2 or page["next"] is None, "a page", page)
            found += [one["id"] for one in page["incidents"]]
            before = page["next"]
        return found

    everything = until(lambda: len(all_listed := listed(server, limit=1000)) > 4 and all_listed,
                       "five incidents")
    keys = [(one["begin"], one["id"]) for one in everything]
    expect(keys == sorted(keys, reverse=True), "the newest first", keys)
    # Another incident may begin meanwhile.
    until(lambda: all_pages() == [one["id"] for one in listed(server, limit=1000)], "all in pages")
    first = everything[-1]
    early = listed(server, to=first["begin"])
    expect(early and all(one["begin"] <= first["begin"] for one in early), "until then", early)
    expect(listed(server, to=first["begin"] - 1) == [], "before the first")
    expect({one["end"] for one in listed(server, **{"from": 2 ** 45})} == {None}, "only incidents that last")


def incidents_are_acknowledged(server):
    stream = server.stream()
    versions = (data["version"] for name, data in stream if name == "incidents")
    version = next(versions)
    one = listed(server, camera="camera-1", verdict="too-dark")[0]
    path = f"{PATH}/{one['id']}"
    status, done = post(server, path, {"acknowledged": True, "comment": "=1+1, \"ü\"\n2"})
    expect(status == 200 and list(done) == FIELDS and done["acknowledged"] > one["begin"] and
           done["comment"] == "=1+1, \"ü\"\n2", "acknowledged", status, done)
    expect(next(versions) > version, "the stream says nothing")
    stream.close()
    expect([each["id"] for each in listed(server, acknowledged="yes")] == [one["id"]], "filter")
    expect(one["id"] not in [each["id"] for each in listed(server, acknowledged="no")], "filter")
    status, again = post(server, path, {"acknowledged": True})
    expect(again["acknowledged"] == done["acknowledged"] and again["comment"] == done["comment"],
           "again", again)
    status, undone = post(server, path, {"acknowledged": False})
    expect(undone["acknowledged"] is None and undone["comment"] == done["comment"], "undone", undone)
    expect(done["acknowledged_by"] == undone["acknowledged_by"] == "", "a name that nobody gave", done)
    for given, kept in (("Ann", "Ann"), (" Zoë  Ü. ", "Zoë  Ü."), ("\U0001f4f7" * 100,) * 2, ("  ", ""),
                        ("=1+1, \"ü\"", "=1+1, \"ü\"")):
        status, named = post(server, path, {"acknowledged": True, "acknowledged_by": given})
        expect(status == 200 and named["acknowledged_by"] == server.json(path)["acknowledged_by"] == kept, "by", named)
        for later in ({"acknowledged": True}, {"acknowledged": True, "acknowledged_by": "another"}, {"comment": ""}):
            expect(post(server, path, later)[1]["acknowledged_by"] == kept, "by another", later)
        expect(post(server, path, {"acknowledged": False})[1]["acknowledged_by"] == "", "undone")
    for comment in ("x" * 1000, "\U0001f4f7" * 1000, "", "done"):
        status, changed = post(server, path, {"comment": comment})
        expect(status == 200 and changed["comment"] == comment, "comment", status, changed)
    expect(post(server, path, {})[0] == 200, "nothing to change")


def bad_changes_are_refused(server):
    one = listed(server, camera="camera-1", verdict="too-dark")[0]
    path = f"{PATH}/{one['id']}"
    for body in (b"", b"{", b"[]", b"null", b"true", b'"text"', b"\xff", b'{"comment": "\xff"}',
                 b'{"comment": "\\ud800"}', b"[" * 16000, {"comment": 1}, {"comment": None},
                 {"acknowledged": "yes"}, {"acknowledged": 1}, {"comment": "x" * 1001},
                 {"comment": "a\0b"}, {"comment": "a\x1bb"}, {"comment": "a\x7fb"}, {"value": 1},
                 {"comment": "not kept", "acknowledged": None}, {"acknowledged_by": "Ann"},
                 {"acknowledged": False, "acknowledged_by": "Ann"}, *(
                     {"acknowledged": True, "acknowledged_by": name} for name in (
                         1, None, ["Ann"], "x" * 101, "A\nB", "A\tB", "A\0", "\x1b[1m", "\x85"))):
        status, document = post(server, path, body)
        expect(status == 400 and list(document) == ["error"], "bad input", body[:40] if
               isinstance(body, bytes) else body, status, document)
    expect(post(server, path, b" " * 17000)[0] == 413, "too large a body")
    for header in ({"Origin": "https://elsewhere.example"}, {"Sec-Fetch-Site": "cross-site"}):
        expect(post(server, path, {"comment": "theirs"}, **header)[0] == 403, "another site", header)
    for wrong in (f"{PATH}/{2 ** 40}", f"{PATH}/x", f"{PATH}/-1", f"{PATH}/{'9' * 30}", f"{PATH}/1x"):
        expect(post(server, wrong, {"comment": "lost"})[0] == 404, wrong)
    for wrong in (PATH, f"{PATH}.csv", f"{path}/picture.jpg"):
        expect(post(server, wrong, {"comment": "lost"})[0] == 405, wrong)
    now = server.json(path)
    expect(all(now[name] == one[name] for name in ("acknowledged", "acknowledged_by", "comment")),
           "a refused request had an effect", now, one)


def bad_queries_are_refused(server):
    for query in ("limit=0", "limit=1001", "from=x", "to=-1", "from=5&to=4", "state=x",
                  "acknowledged=x", "verdict=x", "before=x", "before=1", "before=-", "before=1-x",
                  "before=-1-1", "before=1-1-1", "before=" + "9" * 40 + "-1", "from=%ff"):
        server.error(f"{PATH}?{query}", 400)
        if not query.startswith("limit"):
            server.error(f"{PATH}.csv?{query}", 400)
    for path in (f"{PATH}/", f"{PATH}/x", f"{PATH}/-1", f"{PATH}/+1", f"{PATH}/{2 ** 40}", f"{PATH}s",
                 f"{PATH}/1/", f"{PATH}/1/picture.png", f"{PATH}.csv/", f"{PATH}.json",
                 f"{PATH}/{'9' * 30}"):
        server.error(path, 404)
    expect(listed(server, camera="nobody") == listed(server, camera="' OR 1=1--") == [], "nobody")


def incidents_are_exported(server):
    one = listed(server, camera="camera-1", verdict="too-dark")[0]
    post(server, f"{PATH}/{one['id']}", {"acknowledged": True, "acknowledged_by": "=Ann, \"ü\"",
                                        "comment": "=1+1, \"ü\"\n2"})
    status, headers, body = server.get(f"{PATH}.csv?camera=camera-1&verdict=too-dark")
    expect(status == 200 and headers["Content-Type"] == "text/csv; charset=utf-8", "CSV", headers)
    rows = list(csv.DictReader(io.StringIO(body.decode(), newline=""), strict=True))
    expect(len(rows) == 1 and list(rows[0]) == COLUMNS, "CSV", body)
    wanted = {"id": str(one["id"]), "camera": "camera-1", "verdict": "too-dark", "title": "Too dark",
              "end": "", "reason": "", "threshold": "40", "quantity": "mean luma", "side": "below",
              "acknowledged_by": "'=Ann, \"ü\"", "comment": "'=1+1, \"ü\"\n2", "maintenance": "no"}
    expect({name: rows[0][name] for name in wanted} == wanted, "CSV", rows[0])
    expect(rows[0]["begin"].endswith("Z") and rows[0]["acknowledged"].endswith("Z") and
           float(rows[0]["duration"]) > 0, "CSV", rows[0])
    whole = server.get(f"{PATH}.csv")[2].decode()
    rows = list(csv.DictReader(io.StringIO(whole, newline=""), strict=True))
    expect({int(row["id"]) for row in rows} >= {each["id"] for each in listed(server)}, "CSV", whole)


def the_logged_in_user_is_recorded():
    """If the monitor knows the user, by password or session, it ignores any other name in the request."""
    secrets = {"password": {"Authorization": f"Basic {base64.b64encode(f'{USER}:{SECRET}'.encode()).decode()}"},
               "token": {"Authorization": "Bearer other"}}
    with tempfile.TemporaryDirectory() as folder, \
            Server("--history", f"{folder}/h.db", "--basic", f"{USER}:{SECRET}", "--token", "other") as server:
        def session_of(**fields):
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = server.get("/login", "POST", form, urllib.parse.urlencode(fields).encode())
            return {"Cookie": answer[1]["Set-Cookie"].partition(";")[0]}

        secrets |= {"form": session_of(user=USER, password=SECRET), "token in the form": session_of(token="other")}
        find = f"{PATH}?camera=camera-1&verdict=too-dark"
        number = until(lambda: json.loads(server.get(find, headers=secrets["token"])[2])["incidents"],
                       "an incident")[0]["id"]
        for way, headers in secrets.items():
            knows = way in ("password", "form")
            session = json.loads(server.get("/api/v1/session", headers=headers)[2])
            expect(session == {"logged_in": "Cookie" in headers, "user": USER if knows else ""}, way, session)
            for given in ({}, {"acknowledged_by": "Ann"}, {"acknowledged_by": ""}):
                status, done = post(server, f"{PATH}/{number}", {"acknowledged": True, **given}, **headers)
                expect(status == 200 and done["acknowledged_by"] ==
                       (USER if knows else given.get("acknowledged_by", "")), way, given, done)
                post(server, f"{PATH}/{number}", {"acknowledged": False}, **headers)
        # With a session without a user, the monitor ignores a password: nobody can guess passwords this way.
        both = {**secrets["token in the form"], **secrets["password"]}
        done = post(server, f"{PATH}/{number}", {"acknowledged": True, "acknowledged_by": "Ann"}, **both)[1]
        expect(done["acknowledged_by"] == "Ann", "the session counts", done)
        wrong = {"Authorization": "Basic b3BlcmF0b3I6"}
        statuses = [server.get("/api/v1/session", headers=wrong)[0] for _ in range(3)]
        expect(statuses == [401] * 3, "wrong passwords", statuses)


def without_history_there_are_none():
    with Server("--cameras", 1) as server:
        for path in (PATH, f"{PATH}.csv", f"{PATH}/1", f"{PATH}/1/picture.jpg"):
            server.error(path, 404)
        expect(post(server, f"{PATH}/1", {})[0] == 404, "without a history")


def an_incident_of_a_video_outlasts_a_restart():
    """The incident has a picture, and continues after a restart."""
    def only(monitor):
        found = json.loads(monitor.get(PATH))["incidents"]
        return found[0] if found and found[0]["picture"] else None

    with tempfile.TemporaryDirectory() as folder:
        history, config = pathlib.Path(folder) / "h.db", pathlib.Path(folder) / "cameras.toml"
        config.write_text(f'loop = true\n[[cameras]]\nid = "clip"\nname = "Clip"\nuri = "{CLIP}"\n'
                          "[verdicts]\n" + "".join(f"{name} = false\n" for name in (
                              "no-frames", "frozen", "moved", "covered", "blurred", "too-bright",
                              "low-contrast", "flicker", "clipped-low", "clipped-high",
                              "sudden-change")) +
                          "[verdicts.too-dark]\nraise = 200\nclear = 201\nhold = 0\n")
        ids = set()
        for _ in range(2):
            with running.Monitor("--config", config, "--history", history) as monitor:
                ids.add(running.wait_for("a picture", lambda: only(monitor))["id"])
                running.wait_for("the verdict", lambda: monitor.cameras()["clip"]["verdicts"])
        expect(len(ids) == 1, "the incident did not continue after the restart", ids)
        done = subprocess.run([running.PROGRAM, "--history", history, "--export", "incidents"],
                              check=True, capture_output=True, text=True)
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        expect(len(rows) == 1 and rows[0]["camera"] == "clip" and rows[0]["end"] == "" and
               list(rows[0]) == COLUMNS, "exported", done.stdout)


def restarted_cameras_get_pictures():
    """A reload restarts cameras while pictures of several incidents of each are made."""
    def text(max_fps):
        rules = "".join(f"[verdicts.{name}]\nraise = {limit}\nclear = {clear}\nhold = 0\n"
                        for name, limit, clear in (("too-dark", 200, 201), ("too-bright", 5, 4)))
        return "loop = true\n" + "".join(
            f'[[cameras]]\nid = "c{i}"\nname = "C {i}"\nuri = "{CLIP}"\nmax-fps = {max_fps}\n'
            for i in range(12)) + rules

    def has_pictures(monitor):
        found = json.loads(monitor.get(PATH + "?state=open"))["incidents"]
        return len({one["camera"] for one in found if one["picture"]}) == 12

    with tempfile.TemporaryDirectory() as folder:
        history, config = pathlib.Path(folder) / "h.db", pathlib.Path(folder) / "cameras.toml"
        config.write_text(text(5))
        with running.Monitor("--config", config, "--history", history) as monitor:
            for max_fps in (6, 7, 8):
                running.wait_for("an incident", lambda: '"begin"' in monitor.get(PATH + "?state=open"))
                config.write_text(text(max_fps))
                os.kill(monitor.pid, signal.SIGHUP)
                monitor.wait_for_line("configuration reloaded: .* 12 changed")
            running.wait_for("pictures of all cameras", lambda: has_pictures(monitor))


def main():
    with tempfile.TemporaryDirectory() as folder, \
            Server("--history", f"{folder}/history.db") as server:
        for test in (incidents_begin_and_end, incidents_have_pictures, incidents_are_paged,
                     incidents_are_acknowledged, bad_changes_are_refused, bad_queries_are_refused,
                     incidents_are_exported):
            print(test.__name__, flush=True)
            test(server)
    the_logged_in_user_is_recorded()
    without_history_there_are_none()
    an_incident_of_a_video_outlasts_a_restart()
    restarted_cameras_get_pictures()


if __name__ == "__main__":
    main()
