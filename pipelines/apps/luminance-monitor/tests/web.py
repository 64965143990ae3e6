#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks every path and field of API.md with the simulated cameras of serve."""
import http.client
import json
import math
import signal
import socket
import subprocess
import sys
import tempfile
import time

from server import SERVE, Server, environment, expect, until

FRAMES = 5  # per interval
STATISTICS = ["frames", "pixels", "mean", "stddev", "min", "max", "median", "p1", "p5", "p95",
              "p99", "clipped_low", "clipped_high", "histogram"]
CAMERA = ["id", "name", "location", "status", "since", "error", "frames", "reconnects", "fps",
          "last_frame", "reference", "maintenance", "region", "masks", "verdicts", "rules",
          "latest"]
RULE = ["enabled", "raise", "clear", "hold"]
ROW = ["time", "duration", "frames", "mean", "min_mean", "max_mean", "stddev", "p1",
       "median", "p99", "clipped_low", "clipped_high", "verdicts"]


def histogram_of(camera, frame):
    """Returns the histogram that serve.cpp simulates, by its documentation."""
    histogram = [0] * 256
    for luma in range(16, 236):
        shown = 16 + (luma - 16) // 8 if camera == 1 else luma
        histogram[shown] += (7 * camera + (0 if camera == 2 else frame) + luma) % 97 + 1
    return histogram


def statistics_of(histogram, frames):
    pixels = sum(histogram)
    mean = sum(luma * count for luma, count in enumerate(histogram)) / pixels
    variance = sum((luma - mean) ** 2 * count for luma, count in enumerate(histogram)) / pixels
    used = [luma for luma, count in enumerate(histogram) if count]

    def percentile(percent):
        wanted, seen = -(-percent * pixels // 100), 0
        for luma, count in enumerate(histogram):
            seen += count
            if seen >= wanted:
                return luma
        return None

    return {"frames": frames, "pixels": pixels, "mean": mean, "stddev": math.sqrt(variance),
            "min": used[0], "max": used[-1], "median": percentile(50), "p1": percentile(1),
            "p5": percentile(5), "p95": percentile(95), "p99": percentile(99),
            "clipped_low": histogram[16] / pixels, "clipped_high": histogram[235] / pixels,
            "histogram": histogram}


def same(left, right):
    if isinstance(left, float) or isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9)
    return left == right


def expect_interval(latest, camera):
    expect(list(latest) == ["time", "stream_time_ns", "duration"] + STATISTICS, "fields", latest)
    first, rest = divmod(latest["stream_time_ns"], 200_000_000)
    expect(rest == 0 and latest["duration"] == 1.0, "times", latest)
    # If a frame comes late, an interval has fewer.
    frames = [histogram_of(camera, first + i) for i in range(latest["frames"])]
    summed = [sum(counts) for counts in zip(*frames)]
    wanted = statistics_of(summed, latest["frames"])
    wrong = {name: (latest[name], wanted[name]) for name in STATISTICS
             if not same(latest[name], wanted[name])}
    expect(not wrong, f"camera {camera}", wrong)


def expect_camera(camera, index):
    expect(list(camera) == CAMERA, "fields", list(camera))
    expect(camera["id"] == f"camera-{index}", "id", camera["id"])
    expect(camera["location"] == f"rtsp://192.0.2.1/{index}", "location", camera["location"])
    expect(camera["region"] is None and camera["masks"] == [], "region", camera)
    status = {3: "connecting", 4: "waiting"}.get(index, "playing")
    expect(camera["status"] == status, "status", camera["status"])
    expect(abs(camera["since"] / 1000 - time.time()) < 600, "since", camera["since"])
    if index in (3, 4):
        expect(camera["frames"] == 0 and camera["fps"] == 0 and camera["last_frame"] is None and
               camera["latest"] is None, "frames of a camera that has none", camera)
        return
    expect(camera["frames"] > 0 and camera["reconnects"] == 0 and camera["error"] == "", "counts",
           camera)
    expect(abs(camera["last_frame"] / 1000 - time.time()) < 60, "last_frame", camera)
    if camera["latest"]:
        expect_interval(camera["latest"], index)


def cameras_are_whole(server):
    document = until(lambda: (found := server.json("/api/v1/cameras"))["cameras"][0]["fps"] and
                     found, "the first interval")
    expect(list(document) == ["time", "interval", "version", "history_enabled", "history_error",
                              "history_notice", "cameras"], "fields", list(document))
    expect(document["interval"] == 1.0 and document["version"] == "0.1.0" and document["history_enabled"],
           "document", document)
    expect(abs(document["time"] / 1000 - time.time()) < 60, "time", document["time"])
    for index, camera in enumerate(document["cameras"]):
        expect_camera(camera, index)
        expect_camera(server.json(f"/api/v1/cameras/camera-{index}"), index)
    names = [camera["name"] for camera in document["cameras"]]
    expect(names[1] == "<script>document.title = 'run'</script>" and
           names[2] == '"Gate" & \'yard\' \\ </td>' and names[3] == "📷 שלום \u202edrawkcab" and
           names[4] == "no UTF-8: \ufffd\ufffd\ufffd\tand a tab", "names", names)
    expect(document["cameras"][4]["error"] == "Could not connect: <b>refused</b> \ufffd", "error",
           document["cameras"][4]["error"])


def verdicts_are_served(server):
    def names(index):
        camera = server.json(f"/api/v1/cameras/camera-{index}")
        for verdict in camera["verdicts"]:
            expect(list(verdict) == ["name", "title", "since", "value", "threshold", "quantity"], "fields",
                   verdict)
        return [verdict["name"] for verdict in camera["verdicts"]]

    until(lambda: names(1) == ["too-dark"], "too dark, and no verdict that follows from it")
    until(lambda: names(2) == ["frozen"], "frozen")
    until(lambda: names(3) == ["no-frames"], "no frames")
    expect(names(0) == [], "a camera with nothing", names(0))
    dark = server.json("/api/v1/cameras/camera-1")["verdicts"][0]
    expect(dark["title"] == "Too dark" and dark["quantity"] == "mean luma" and
           28 < dark["value"] < 32 and dark["threshold"] == 40, "verdict", dark)


def rules_are_those_in_force(server):
    """The rules have the thresholds of serve.cpp."""
    for index, camera in enumerate(server.json("/api/v1/cameras")["cameras"]):
        rules = camera["rules"]
        expect([rule["name"] for rule in rules][:2] == ["no-frames", "frozen"]
               and len(rules) == 12, "rules", rules)
        for rule in rules:
            expect(list(rule) == ["name", "title", *RULE, "side", "quantity", "schedule"],
                   "fields", rule)
            better = (rule["clear"] <= rule["raise"] if rule["side"] == "above"
                      else rule["clear"] >= rule["raise"])
            expect(better and rule["enabled"] is True and rule["hold"] <= 1, "rule", rule)
        dark = next(rule for rule in rules if rule["name"] == "too-dark")
        expect([dark[name] for name in RULE] == [True, 40, 44 if index == 0 else 45, 1]
               and dark["side"] == "below", "rule", dark)
        if index == 0:
            periods = [[period["from"], period["to"], *(period[name] for name in RULE)]
                       for period in dark["schedule"]]
            expect(periods == [[None, None, True, 41, 45, 1], ["00:00", "12:00", True, 40, 44, 1],
                               ["12:00", "00:00", True, 40, 44, 1]], "schedule", periods)
        expect(all(not rule["schedule"] for rule in rules if rule is not dark or index), "schedule")


def recent_points_are_served(server):
    document = server.json("/api/v1/cameras/camera-0/recent")
    expect(list(document) == ["id", "interval", "points"] and document["id"] == "camera-0",
           "recent", document)
    points = document["points"]
    expect(points and all(len(point) == 4 for point in points), "points", points)
    expect(points == sorted(points), "points are not in order", points)
    latest = server.json("/api/v1/cameras/camera-0")["latest"]
    points = server.json("/api/v1/cameras/camera-0/recent")["points"]
    found = [point for point in points if abs(point[0] - latest["time"]) <= 2]
    expect(len(found) == 1 and math.isclose(found[0][1], latest["mean"], rel_tol=1e-6) and
           found[0][2:] == [latest["p1"], latest["p99"]], "the latest point", found)
    expect(server.json("/api/v1/cameras/camera-3/recent")["points"] == [], "points without frames")


def history_is_kept(server):
    path = "/api/v1/cameras/camera-0/history"
    until(lambda: len(server.json(path)["rows"]) > 3, "rows")
    document = server.json(path)
    expect(list(document) == ["id", "rows"], "fields", document)
    expect(all(list(row) == ROW for row in document["rows"]), "fields", document["rows"][0])
    times = [row["time"] for row in document["rows"]]
    expect(times == sorted(times), "rows are not in order", times)
    part = server.json(f"{path}?from={times[1]}&to={times[2]}")["rows"]
    expect([row["time"] for row in part] == times[1:3], "a part of the rows", part)
    expect(len(server.json(f"{path}?points=1")["rows"]) == 1, "rows are not merged to one")
    for index, verdict in ((1, "too-dark"), (2, "frozen")):
        rows = server.json(f"/api/v1/cameras/camera-{index}/history")["rows"]
        expect(any(verdict in row["verdicts"] for row in rows), f"no row says {verdict}", rows)
    for query in ("from=x", "to=-1", "points=0", "points=5001", "points=1e3", "from=5&to=4",
                  "from=99999999999999999999", "to=%2b1", "points=600%00"):
        error = server.error(f"{path}?{query}", 400)
        expect(query.split("=")[0] in error or "query" in error, "error", error)


def events_are_kept(server):
    until(lambda: len(server.json("/api/v1/events")["events"]) >= 3, "events")
    events = server.json("/api/v1/events")["events"]
    for event in events:
        expect(list(event) == ["time", "camera", "verdict", "title", "raised", "value",
                               "quantity"], "fields", event)
    times = [event["time"] for event in events]
    expect(times == sorted(times, reverse=True), "events are not in order", times)
    dark = server.json("/api/v1/events?camera=camera-1")["events"]
    expect({event["camera"] for event in dark} == {"camera-1"} and
           {event["verdict"] for event in dark} == {"too-dark"}, "of one", dark)
    one = server.json(f"/api/v1/events?to={times[0]}&limit=1")["events"]
    expect(len(one) == 1 and one[0]["time"] == times[0], "limit", one)
    expect(server.json("/api/v1/events?camera=%27%20OR%201=1--")["events"] == [], "injection")
    for query in ("limit=0", "limit=1001", "from=%ff", "to="+"9" * 40):
        server.error(f"/api/v1/events?{query}", 400)


def stills_are_jpeg(server):
    for index in (0, 1, 2):
        status, headers, body = server.get(f"/api/v1/cameras/camera-{index}/still.jpg")
        expect(status == 200 and headers["Content-Type"] == "image/jpeg" and
               body[:3] == b"\xff\xd8\xff" and body[-2:] == b"\xff\xd9", "still", headers)
    for index in (3, 4):
        server.error(f"/api/v1/cameras/camera-{index}/still.jpg", 404)


def the_page_is_served(server):
    for path, kind in (("/", "text/html; charset=utf-8"),
                       ("/page.js", "text/javascript; charset=utf-8"),
                       ("/style.css", "text/css; charset=utf-8"), ("/icon.svg", "image/svg+xml")):
        status, headers, body = server.get(path)
        expect(status == 200 and headers["Content-Type"] == kind and body, path, headers)
        expect(headers["Cache-Control"] == "no-cache", path, headers)
        known = {"If-None-Match": f'"other", W/{headers["ETag"]}'}
        status, again, body = server.get(path, headers=known)
        expect(status == 304 and not body and again["ETag"] == headers["ETag"], path, again)
        expect(server.get(path, headers={"If-None-Match": '"other"'})[0] == 200, path)


def other_paths_and_methods_are_errors(server):
    for path in ("/nothing", "/api", "/api/v1/cameras/", "/api/v1/cameras/nobody",
                 "/api/v1/cameras/camera-0/", "/api/v1/cameras/camera-0/nothing",
                 "/api/v1/cameras/camera-0/recent/", "//", "/../etc/passwd", "/%2e%2e/page.js",
                 "/page.js/", "/PAGE.JS", "/healthz/", "/api/v1/incidents/",
                 "/api/v1/incidents/x", "/api/v1/incidents/1/", "/api/v1/incidentscsv"):
        server.error(path, 404)
    for path in ("/%", "/%zz", "/%00", "/page.js%00", "/%ff", "/?a=%f", "/healthz?%c0%af"):
        server.error(path, 400)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "MOVE"):
        server.error("/api/v1/cameras", 405, method=method)
        expect(server.get("/", method)[1]["Allow"] == "GET, HEAD", method)


def head_is_get_without_body(server):
    for path in ("/", "/healthz", "/api/v1/cameras", "/api/v1/cameras/camera-0/still.jpg",
                 "/metrics", "/nothing", "/api/v1/stream", "/api/v1/incidents.csv",
                 "/api/v1/incidents/1/picture.jpg"):
        head = server.get(path, "HEAD")
        expect(head[2] == b"", path, head)
        if path != "/api/v1/stream":
            get = server.get(path)
            expect(head[0] == get[0] and head[1]["Content-Type"] == get[1]["Content-Type"], path)


def headers_protect_the_page(server):
    for path in ("/", "/healthz", "/api/v1/cameras", "/nothing", "/%"):
        headers = server.get(path)[1]
        policy = headers["Content-Security-Policy"]
        expect("default-src 'self'" in policy and "frame-ancestors 'none'" in policy and
               "unsafe" not in policy, "policy", policy)
        expect(headers["X-Content-Type-Options"] == "nosniff" and
               headers["Referrer-Policy"] == "same-origin", path, headers)
        expect(headers["Cache-Control"] == ("no-cache" if path == "/" else "no-store"), path)


def metrics_are_served(server):
    status, headers, body = server.get("/metrics")
    expect(status == 200 and headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8",
           "metrics", headers)
    expect(b'camera-0' in body and body.endswith(b"\n"), "metrics", body[:500])


def the_stream_sends_changes(server):
    events = server.stream()
    name, first = next(events)
    expect(name == "cameras" and list(first) == ["time", "interval", "version", "history_enabled",
                                                 "history_error", "history_notice", "cameras"],
           "the first event", name)
    expect(len(first["cameras"]) == 5, "cameras", len(first["cameras"]))
    begin, seen, updates = time.monotonic(), {}, 0
    while updates < 8:
        event = next(events)
        if event[0] == "incidents":
            expect(list(event[1]) == ["version"] and event[1]["version"] > 0, "incidents", event)
        if event[0] in ("heartbeat", "incidents"):
            continue
        name, data = event
        updates += 1
        # `cameras` is empty if only the state of the history or the incidents have changed.
        expect(name == "update" and list(data) == ["time", "history_error", "history_notice", "cameras"],
               "update", name, list(data))
        for camera in data["cameras"]:
            expect_camera(camera, int(camera["id"][-1]))
            seen[camera["id"]] = camera
    # The first updates may have waited somewhere, and arrive in a burst.
    expect(time.monotonic() - begin > 0.5 * (updates - 3), "more than two updates a second")
    expect({"camera-0", "camera-1", "camera-2"} <= set(seen), "cameras that changed", set(seen))

    server.signal(signal.SIGUSR1)
    while not (event[0] == "update" and any(
            camera["id"] == "camera-0" and
            "too-dark" in [verdict["name"] for verdict in camera["verdicts"]]
            for camera in event[1]["cameras"])):
        event = next(events)
    server.signal(signal.SIGUSR1)
    events.close()


def connections_are_kept(server):
    connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
    connection.request("GET", "/healthz")
    expect(json.loads(connection.getresponse().read()) == {"status": "ok"}, "healthz")
    kept = connection.sock
    for path in ("/nothing", "/api/v1/cameras", "/api/v1/cameras/camera-1/still.jpg", "/", "/%"):
        connection.request("GET", path)
        connection.getresponse().read()
        expect(path == "/%" or connection.sock is kept, "another connection", path)
    connection.close()
    two = server.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                     b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    expect(two.count(b"HTTP/1.1 200 OK") == 1 and two.count(b"HTTP/1.1 404 Not Found") == 1 and
           two.index(b"200 OK") < two.index(b"404"), "pipelined", two)
    old = server.raw(b"GET /healthz HTTP/1.0\r\n\r\n")
    expect(old.startswith(b"HTTP/1.") and old.endswith(b'{"status":"ok"}'), "HTTP/1.0", old)
    whole = server.raw(b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n"
                       b"Connection: close\r\n\r\n")
    expect(b" 200 OK" in whole, "an absolute URI", whole)


def no_secret_is_shown(server):
    paths = ["/", "/metrics", "/api/v1/cameras", "/api/v1/events", "/api/v1/incidents", "/api/v1/incidents.csv",
             "/api/v1/cameras/camera-0"]
    for path in paths:
        expect(b"camera-secret" not in server.get(path)[2], path)


def without_history_there_are_no_records():
    with Server("--cameras", 1) as server:
        expect(server.json("/api/v1/cameras")["history_enabled"] is False, "history")
        server.error("/api/v1/events", 404)
        server.error("/api/v1/incidents", 404)
        server.error("/api/v1/cameras/camera-0/history", 404)


def refused(*arguments):
    done = subprocess.run([SERVE, *map(str, arguments)], env=environment(), timeout=120,
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and done.stderr.count("\n") == 1, f"{arguments}", done.stderr)
    return done.stderr


def has_ipv6():
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
        return True
    except OSError:
        return False


def the_server_listens_at_its_address():
    for address in ["127.0.0.1", "localhost", "0.0.0.0"] + (["::1", "::"] if has_ipv6() else []):
        with Server("--cameras", 1, "--address", address, "--allow-anonymous") as server:
            expect(f"{'[' + address + ']' if ':' in address else address}:{server.port}" in
                   server.address, "address", server.address)
            expect(server.json("/healthz") == {"status": "ok"}, address)
            error = refused("--address", address, "--allow-anonymous", "--port", server.port)
            expect(address in error and str(server.port) in error and "use" in error, "error",
                   error)
    for address in ("192.0.2.1", "nobody.invalid", "not an address"):
        expect(address in refused("--address", address), "error")


def there_may_be_no_cameras():
    with Server("--cameras", 0) as server:
        expect(server.json("/api/v1/cameras")["cameras"] == [], "no cameras")
        events = server.stream()
        expect(next(events)[1]["cameras"] == [], "no cameras")
        begin = time.monotonic()
        times = []
        for _ in range(4):
            name, data = next(events)
            expect(name == "heartbeat" and list(data) == ["time"], "a heartbeat", name, data)
            times.append(data["time"])
        elapsed = time.monotonic() - begin
        expect(2.5 < elapsed < 10 and all(a < b for a, b in zip(times, times[1:])),
               "not one heartbeat a second", elapsed, times)
        events.close()


def main():
    with tempfile.TemporaryDirectory() as folder, \
            Server("--history", f"{folder}/history.db") as server:
        for test in (cameras_are_whole, verdicts_are_served, rules_are_those_in_force,
                     recent_points_are_served, history_is_kept, events_are_kept,
                     stills_are_jpeg, the_page_is_served, other_paths_and_methods_are_errors,
                     head_is_get_without_body, headers_protect_the_page, metrics_are_served,
                     the_stream_sends_changes,
                     connections_are_kept, no_secret_is_shown):
            print(test.__name__, flush=True)
            test(server)
    without_history_there_are_no_records()
    the_server_listens_at_its_address()
    there_may_be_no_cameras()


if __name__ == "__main__":
    sys.exit(main())
