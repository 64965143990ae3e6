# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared parts of the page's tests: a headless Chromium, and a program that serves the page, with the
numbers that it serves."""
import atexit
import json
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.remote.remote_connection import RemoteConnection
except ImportError:
    webdriver = None

PATIENCE = 120  # seconds; test machines are slow
SKIPPED = 77


def expect(condition, what, *facts):
    if not condition:
        sys.exit("\n".join([what, *map(str, facts)]))


def need_chromium():
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if webdriver is None or None in programs:
        print("no chromium, chromedriver or python3-selenium")
        sys.exit(SKIPPED)
    return programs


class Browser:
    """A headless Chromium. Waits poll the page; the results of one script belong to the same moment."""

    def __init__(self, width=1280, height=800):
        chromium, driver = need_chromium()
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                         "--disable-gpu", "--no-first-run"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        RemoteConnection.set_timeout(2 * PATIENCE)  # in case the browser hangs
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        self.driver.set_page_load_timeout(PATIENCE)
        self.driver.set_script_timeout(PATIENCE)
        self.requests = []
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def cdp(self, command, **arguments):
        return self.driver.execute_cdp_cmd(command, arguments)

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height,
                 deviceScaleFactor=1, mobile=False)

    def prefer(self, theme):
        self.cdp("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": theme}])

    def open(self, address, route=""):
        self.driver.get(address + route)
        self.wait("return document.documentElement.dataset.connection === 'live'", "no numbers come")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, what, *arguments):
        """Waits until the script returns a true value, and returns it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            result = self.run(script, *arguments)
            if result:
                return result
            time.sleep(0.05)
        self.driver.save_screenshot("build-page-failure.png")
        return expect(False, what, script, *self.console())

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def pointer(self):
        """Returns a chain of mouse actions."""
        return ActionChains(self.driver, duration=20)

    def click(self, selector):
        self.driver.find_element("css selector", selector).click()

    def focused(self):
        """Returns the id of the focused element, its filter, or its part and text."""
        return self.run("const e = document.activeElement; return e.id || e.dataset.filter ||"
                        " e.dataset.part + ' ' + e.textContent")

    def console(self):
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def requested(self):
        """Returns all addresses requested since the browser was opened."""
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        return self.requests

    def picture(self, file):
        self.driver.save_screenshot(str(file))


class Monitor:
    """A program that serves the page, and the intervals that its API reported."""

    def __init__(self, command):
        self._program = subprocess.Popen(list(map(str, command)), text=True,
                                         stdout=subprocess.PIPE)
        atexit.register(self._program.kill)
        for line in self._program.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+/", line):
                self.address = found[0]
                break
        else:
            sys.exit(f"{command[0]} ended before it printed its address")
        threading.Thread(target=self._program.stdout.read, daemon=True).start()
        self._intervals = {}
        threading.Thread(target=self._poll, daemon=True).start()

    @property
    def port(self):
        return int(self.address.rstrip("/").rsplit(":", 1)[1])

    def ask(self, path):
        with urllib.request.urlopen(self.address + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def cameras(self):
        return self.ask("api/v1/cameras")["cameras"]

    def interval(self, camera, begin):
        """Returns the interval that began at `begin`, or None if the API did not show it."""
        end = time.monotonic() + 2
        while (camera, begin) not in self._intervals and time.monotonic() < end:
            time.sleep(0.05)
        return self._intervals.get((camera, begin))

    def send(self, number):
        self._program.send_signal(number)

    def limit_files(self, size):
        """Limits the size of the program's files in bytes, as a full disk does."""
        resource.prlimit(self._program.pid, resource.RLIMIT_FSIZE,
                         (size, resource.RLIM_INFINITY))

    def end(self, number=signal.SIGTERM):
        self._program.send_signal(number)
        return self._program.wait(PATIENCE)

    def _poll(self):
        while self._program.poll() is None:
            try:
                for camera in self.cameras():
                    if camera["latest"]:
                        latest = dict(camera["latest"], fps=camera["fps"])
                        self._intervals[camera["id"], latest["time"]] = latest
            except (OSError, ValueError):
                pass  # the program is ending
            time.sleep(0.2)
