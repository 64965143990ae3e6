#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Login and logout, and what happens to clients that guess passwords."""
import http.client
import re
import sys
import tempfile
import threading
import time
from urllib.parse import urlencode

from access import context_for, make_identity
from server import PATIENCE, Server, basic, expect, until

TOKEN, USER, PASSWORD = "t0ken-" + "x" * 50, "Jörg", "geheim: 🔑&=+"
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def log_in(server, headers=None, **fields):
    return server.get("/login", "POST", {**HTML, **FORM, **(headers or {})}, urlencode(fields))


def cookie_of(answer):
    status, headers, _ = answer
    expect(status == 303 and headers["Location"] == "./", "no login", answer)
    return headers["Set-Cookie"].split(";")[0]


def fields_of(html):
    return re.findall(r'<input (?:type="password" )?name="(\w+)"', html.decode())


def browsers_get_a_login_form():
    """Other programs get the status 401."""
    with Server("--cameras", 1, "--token", TOKEN) as server:
        for path, way in (("/", "login"), ("/metrics", "login"), ("/index.html", "login"),
                          ("/api/v1/cameras", "../../login"), ("/a/", "../login")):
            status, headers, _ = server.get(path, headers=HTML)
            expect((status, headers["Location"]) == (303, way), "no way to the form", path, headers)
        status, headers, body = server.get("/login", headers=HTML)
        expect(status == 200 and headers["Content-Type"].startswith("text/html") and
               fields_of(body) == ["token"] and b"MESSAGE" not in body, "the form", body)
        for file in ("login.css", "login.js", "style.css", "dom.js", "icon.svg"):
            expect(server.get("/" + file)[0] == 200, file)
        expect(server.json("/api/v1/session") == {"logged_in": False, "user": ""}, "a session")
        for path in ("/", "/page.js", "/metrics", "/api/v1/stream", "/login.html"):
            for headers in ({}, {"Accept": "*/*"}, {"Accept": "text/event-stream"}):
                status, answer, body = server.get(path, headers=headers)
                expect(status == 401 and answer["WWW-Authenticate"].startswith("Bearer") and
                       body.startswith(b'{"error":'), path, status, body)
    with Server("--cameras", 1, "--basic", f"{USER}:{PASSWORD}") as server:
        status, headers, body = server.get("/", headers=HTML)
        expect(status == 401 and headers["WWW-Authenticate"].startswith("Basic") and
               fields_of(body) == ["user", "password"], "behind the dialog is the form", body)
        expect(fields_of(server.get("/login", headers=HTML)[2]) == ["user", "password"], "the form")
        cookie_of(log_in(server, user=USER, password=PASSWORD))
    with Server("--cameras", 1, "--token", TOKEN, "--basic", f"{USER}:{PASSWORD}") as server:
        body = server.get("/login", headers=HTML)[2]
        expect(fields_of(body) == ["user", "password", "token"], "the form", body)
        cookie_of(log_in(server, token=TOKEN))
        cookie_of(log_in(server, user=USER, password=PASSWORD))
        for fields in ({"user": USER}, {"password": PASSWORD}, {"user": USER, "password": TOKEN},
                       {"token": PASSWORD}, {}):
            server.change_source()
            expect(log_in(server, **fields)[0] == 403, "let in", fields)
    with Server("--cameras", 1) as server:
        for method in ("GET", "POST"):
            status, headers, _ = server.get("/login", method, FORM)
            expect((status, headers["Location"]) == (303, "./"), "nobody is asked", headers)


def sessions_last_until_logout():
    with Server("--cameras", 1, "--token", TOKEN) as server:
        answer = log_in(server, token=TOKEN)
        expect(re.fullmatch(rf"luminance-monitor-{server.port}=[0-9a-f]{{64}}; Max-Age=604800; "
                            "Path=/; HttpOnly; SameSite=Strict", answer[1]["Set-Cookie"]),
               "the cookie", answer[1])
        cookie, other = cookie_of(answer), cookie_of(log_in(server, token=TOKEN))
        expect(cookie != other, "two logins share a session")
        with_cookie = {"Cookie": f"a=b; {cookie}; c=d"}
        for path in ("/", "/page.js", "/metrics", "/api/v1/cameras"):
            expect(server.get(path, headers=with_cookie)[0] == 200, path)
        expect(server.get("/api/v1/session", headers=with_cookie)[2] == b'{"logged_in":true,"user":""}', "yes")
        for wrong in (cookie[:-1], cookie + "0", cookie.replace("luminance", "x"), cookie.split("=")[0],
                      cookie.split("=")[0] + "=", "=", ";", "x" * 5000):
            expect(server.get("/page.js", headers={"Cookie": wrong})[0] == 401, "let in", wrong)
        secure = log_in(server, {"X-Forwarded-Proto": "https"}, token=TOKEN)[1]["Set-Cookie"]
        expect(secure.endswith("; Secure"), "behind a proxy with TLS", secure)

        streams = [open_stream(server, one) for one in (cookie, other)]
        status, headers, _ = server.get("/logout", "POST", {"Cookie": cookie})
        expect(status == 303 and headers["Location"] == "login" and "Max-Age=0" in headers["Set-Cookie"],
               "logout", headers)
        expect(server.get("/", headers=with_cookie)[0] == 401, "let in after the logout")
        expect(server.get("/", headers={"Cookie": other})[0] == 200, "the logout ended another session")
        until(lambda: is_cut(streams[0]), "the stream ends with its session")
        expect(not is_cut(streams[1]), "the logout ended another stream")
        for stream in streams:
            stream.close()
        expect(server.get("/logout", headers={"Cookie": other})[0] == 303 and
               server.get("/", headers={"Cookie": other})[0] == 200, "a link logs nobody out")


def open_stream(server, cookie):
    connection = server.connect()
    connection.sendall(f"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
                       .encode())
    expect(b" 200 OK" in connection.recv(65536), "a stream by a cookie")
    connection.settimeout(0.5)
    return connection


def is_cut(connection):
    try:
        while connection.recv(65536):
            pass
        return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True


def posts_of_other_sites_are_refused():
    with Server("--cameras", 1, "--token", TOKEN) as server:
        here = f"{server.host}:{server.port}"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Origin": "http://127.0.0.1:1"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Sec-Fetch-Site": "same-site", "Origin": f"http://{here}"}):
            for path in ("/login", "/logout"):
                status, answer, _ = server.get(path, "POST", {**FORM, **headers},
                                               urlencode({"token": TOKEN}))
                expect(status == 403 and not answer["Set-Cookie"], "a page of another site", headers)
        for headers in ({"Origin": f"http://{here}"}, {"Sec-Fetch-Site": "same-origin"},
                        {"Origin": "https://page.example", "X-Forwarded-Host": "page.example"}):
            cookie_of(log_in(server, headers, token=TOKEN))
        body = urlencode({"token": TOKEN})
        for kind in ("text/plain", "application/json", ""):
            server.change_source()
            status = server.get("/login", "POST", {"Content-Type": kind}, body)[0]
            expect(status == 403, "a body that is not a form is accepted", kind, status)


def cookies_are_secure_with_tls():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = make_identity(folder, "one")
        with Server("--cameras", 1, "--token", TOKEN, "--certificate", certificate, "--key", key,
                    tls=context_for(certificate)) as server:
            answer = log_in(server, token=TOKEN)
            expect(answer[1]["Set-Cookie"].endswith("; Secure"), "the cookie", answer[1])
            expect(server.get("/", headers={"Cookie": cookie_of(answer)})[0] == 200, "let in")


def timed(ask):
    begin = time.monotonic()
    return ask(), time.monotonic() - begin


def wrong_passwords_are_delayed():
    """Only clients that guess are delayed, not other clients, nor those that are logged in."""
    with Server("--cameras", 1, "--token", TOKEN, "--basic", "a:b") as server:
        cookie = cookie_of(log_in(server, token=TOKEN))
        wrong = {"Authorization": "Bearer x"}
        times = [timed(lambda: server.get("/metrics", headers=wrong)) for _ in range(9)]
        expect([answer[0] for answer, _ in times] == [401] * 9, "wrong", times)
        for (_, took), delay in zip(times[5:], (0.25, 0.5, 1, 2)):
            expect(took > 0.9 * delay, "no delay", [took for _, took in times])
        over = threading.Event()
        guessers = [threading.Thread(target=guess, args=(server.port, over)) for _ in range(8)]
        for thread in guessers:
            thread.start()
        right = {"Authorization": f"Bearer {TOKEN}"}
        refused = until(lambda: refused_of(server.get("/metrics", headers=right)),
                        "a refusal of the right token during an attack")
        expect(int(refused[1]["Retry-After"]) >= 1, "Retry-After", refused[1])
        status, headers, body = until(lambda: refused_of(log_in(server, token=TOKEN)), "the form")
        expect(headers["Retry-After"] and b"Too many wrong" in body, "the form", body)
        for _ in range(50):
            expect(server.get("/metrics", headers={"Cookie": cookie})[0] == 200, "a client that is logged in")
        expect(server.get("/healthz")[0] == 200, "nobody is asked")
        server.change_source()
        for _ in range(50):
            expect(server.get("/metrics", headers=right)[0] == 200, "another address")
        over.set()
        for thread in guessers:
            thread.join(PATIENCE)
        line = until(lambda: next((line for line in server.lines if "wrong passwords" in line), None),
                     "the log says nothing")
        expect("from 127.0.0.1: 1" in line, "the log", line)


def guess(port, over):
    """Sends wrong passwords from 127.0.0.1, without waiting, until `over` is set."""
    while not over.is_set():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/metrics", headers={"Authorization": basic("a", "c")})
        connection.getresponse().read()
        connection.close()
        time.sleep(0.02)


def refused_of(answer):
    return answer if answer[0] == 429 else None


def clients_behind_a_proxy_are_delayed_separately():
    right, wrong = f"Bearer {TOKEN}", "Bearer x"

    def ask(server, authorization, client):
        return timed(lambda: server.get("/metrics", headers={
            "Authorization": authorization, "X-Forwarded-For": f"198.51.100.1, {client}"}))[1]
    with Server("--cameras", 1, "--token", TOKEN, "--trust-forwarded-for") as server:
        for _ in range(7):
            last = ask(server, wrong, "192.0.2.1")
        expect(last > 0.4, "the client that guesses is not delayed", last)
        expect(ask(server, wrong, "192.0.2.2") < last, "another client is delayed")
        expect(server.get("/metrics", headers={"Authorization": right})[0] == 200, "the proxy is refused")
    with Server("--cameras", 1, "--token", TOKEN) as server:
        for client in range(7):
            last = ask(server, wrong, f"192.0.2.{client}")
        expect(last > 0.4, "X-Forwarded-For is trusted without --trust-forwarded-for", last)


def main():
    browsers_get_a_login_form()
    sessions_last_until_logout()
    posts_of_other_sites_are_refused()
    cookies_are_secure_with_tls()
    wrong_passwords_are_delayed()
    clients_behind_a_proxy_are_delayed_separately()


if __name__ == "__main__":
    sys.exit(main())
