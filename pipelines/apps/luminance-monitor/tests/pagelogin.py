#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagelogin.py [FOLDER]: logs in and out of the page in a headless Chromium, as people do. Pictures go
to the folder."""
import os
import sys
from pathlib import Path

from browser import Browser, Monitor, expect
from contrast import poor_contrasts

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
LIVE = "return document.documentElement.dataset.connection === 'live'"
FORM = "return document.querySelectorAll('form').length > 0 && location.pathname === '/login'"
# The tiles are laid out a moment after the window was resized.
FITS_A_PHONE = "return document.documentElement.scrollWidth <= 320"


def picture(browser, name):
    if FOLDER:
        browser.picture(FOLDER / f"{name}.png")


def type_in(browser, **fields):
    for name, text in fields.items():
        field = browser.driver.find_element("css selector", f"input[name={name}]")
        field.clear()
        field.send_keys(text)
    field.send_keys("\n")


def looks_right(browser, name):
    for theme in ("dark", "light"):
        browser.prefer(theme)
        expect(not (poor := poor_contrasts(browser, 3)), f"{theme}: too little contrast", *poor)
        picture(browser, f"{name}-{theme}")


def a_token_lets_in(browser):
    monitor = Monitor([SERVE, "--token=geheim"])
    browser.driver.get(monitor.address + "#/camera/camera-1")
    browser.wait(FORM, "no form comes")
    focused = browser.run("return document.activeElement.name")
    expect(focused == "token", "the field has no focus", focused)
    looks_right(browser, "login")
    type_in(browser, token="wrong")
    browser.wait("return document.querySelector('[role=alert]')?.textContent === 'Wrong token.'",
                 "a wrong token is not said to be wrong")
    looks_right(browser, "login-wrong")
    browser.driver.get(monitor.address + "#/camera/camera-1")
    browser.wait(FORM, "no form comes")
    type_in(browser, token="geheim")
    browser.wait(LIVE, "no events come by the cookie")
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith('/1')",
                 "the camera that was wanted is not shown")
    browser.wait("return [...document.images].some(image => image.naturalWidth === 320)",
                 "no picture comes by the cookie")
    expect(browser.run("return document.cookie") == "", "a script can read the cookie")
    browser.run("location.hash = '#/'")
    browser.wait("return document.getElementById('logout').checkVisibility()", "there is no way out")
    picture(browser, "logged-in")
    browser.resize(320, 640)
    browser.wait(FITS_A_PHONE, "the page is wider than a phone")
    picture(browser, "logged-in-phone")
    browser.resize(1280, 800)
    return monitor


def a_link_leads_in(browser, monitor):
    """From a page of another site, with which the browser sends no cookie."""
    browser.driver.get("data:text/html,<a href='" + monitor.address + "%23/camera/camera-2'>x</a>")
    browser.click("a")
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith('/2')",
                 "whoever is logged in is asked again")


def logout_ends_all_pages(browser, monitor):
    first = browser.driver.current_window_handle
    browser.driver.switch_to.new_window("tab")
    browser.open(monitor.address)
    browser.click("#logout button")
    browser.wait(FORM, "no form comes after the logout")
    browser.driver.get(monitor.address)
    browser.wait(FORM, "the logout did not last")
    browser.driver.close()
    browser.driver.switch_to.window(first)
    browser.wait(FORM, "a page that was open shows no form")
    fits_a_phone(browser)


def fits_a_phone(browser):
    browser.resize(320, 640)
    browser.wait(FITS_A_PHONE, "the form is wider than a phone")
    picture(browser, "login-phone")
    browser.resize(1280, 800)


def a_password_lets_in(browser):
    """With the form, where the browser's own dialog is not wanted."""
    monitor = Monitor([SERVE, "--basic=operator:geheim", "--token=other"])
    browser.driver.get(monitor.address + "login")
    browser.wait(FORM, "no form comes")
    looks_right(browser, "login-both")
    type_in(browser, user="operator", password="geheim")
    browser.wait(LIVE, "no events come by the cookie")
    browser.driver.get("about:blank")
    monitor.end()


def nobody_is_asked(browser):
    monitor = Monitor([SERVE])
    browser.open(monitor.address)
    browser.run("return fetch('api/v1/session').then(answer => answer.json())")
    expect(not browser.run("return document.getElementById('logout').checkVisibility()"),
           "whoever did not log in is offered to log out")
    browser.driver.get("about:blank")
    monitor.end()


def main():
    with Browser() as browser:
        monitor = a_token_lets_in(browser)
        a_link_leads_in(browser, monitor)
        logout_ends_all_pages(browser, monitor)
        monitor.end()
        a_password_lets_in(browser)
        nobody_is_asked(browser)
    print("people get in and out")


main()
