#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pagelogin.py [FOLDER]: logs in and out of the page in a headless Chromium, as people do. Saves
pictures in FOLDER."""
import os
import sys
from pathlib import Path

from browser import Browser, Monitor, expect
from contrast import poor_contrasts

SERVE = Path(os.environ.get("BUILD_DIR", "")) / "tests/serve"
FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else None
LIVE = "return document.documentElement.dataset.connection === 'live'"
FORM = "return document.querySelectorAll('form').length > 0 && location.pathname === '/login'"
# The page lays out the tiles a moment after the window was resized, so tests wait for this.
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


def expect_contrast(browser, name):
    for theme in ("dark", "light"):
        browser.prefer(theme)
        expect(not (poor := poor_contrasts(browser, 3)), f"{theme}: too little contrast", *poor)
        picture(browser, f"{name}-{theme}")


def a_token_logs_in(browser):
    monitor = Monitor([SERVE, "--token=geheim"])
    browser.driver.get(monitor.address + "#/camera/camera-1")
    browser.wait(FORM, "no form comes")
    focused = browser.run("return document.activeElement.name")
    expect(focused == "token", "the field has no focus", focused)
    expect_contrast(browser, "login")
    type_in(browser, token="wrong")
    browser.wait("return document.querySelector('[role=alert]')?.textContent === 'Wrong token.'",
                 "a wrong token is not said to be wrong")
    expect_contrast(browser, "login-wrong")
    browser.driver.get(monitor.address + "#/camera/camera-1")
    browser.wait(FORM, "no form comes")
    type_in(browser, token="geheim")
    browser.wait(LIVE, "no events come by the cookie")
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith('/1')",
                 "the requested camera is not shown")
    browser.wait("return [...document.images].some(image => image.naturalWidth === 320)",
                 "no picture comes by the cookie")
    expect(browser.run("return document.cookie") == "", "a script can read the cookie")
    browser.run("location.hash = '#/'")
    browser.wait("return document.getElementById('logout').checkVisibility()", "there is no logout")
    picture(browser, "logged-in")
    browser.resize(320, 640)
    browser.wait(FITS_A_PHONE, "the page is wider than a phone")
    picture(browser, "logged-in-phone")
    browser.resize(1280, 800)
    return monitor


def a_link_of_another_site_needs_no_login(browser, monitor):
    """The browser sends no cookie when a link on another site leads to the page."""
    browser.driver.get("data:text/html,<a href='" + monitor.address + "%23/camera/camera-2'>x</a>")
    browser.click("a")
    browser.wait("return document.querySelector('#detail .location')?.textContent.endsWith('/2')",
                 "a user who is logged in must log in again")


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
    the_form_fits_a_phone(browser)


def the_form_fits_a_phone(browser):
    browser.resize(320, 640)
    browser.wait(FITS_A_PHONE, "the form is wider than a phone")
    picture(browser, "login-phone")
    browser.resize(1280, 800)


def a_password_logs_in(browser):
    """The form takes user and password, instead of the browser's own dialog."""
    monitor = Monitor([SERVE, "--basic=operator:geheim", "--token=other"])
    browser.driver.get(monitor.address + "login")
    browser.wait(FORM, "no form comes")
    expect_contrast(browser, "login-both")
    type_in(browser, user="operator", password="geheim")
    browser.wait(LIVE, "no events come by the cookie")
    browser.driver.get("about:blank")
    monitor.end()


def without_a_password_there_is_no_login(browser):
    monitor = Monitor([SERVE])
    browser.open(monitor.address)
    browser.run("return fetch('api/v1/session').then(answer => answer.json())")
    expect(not browser.run("return document.getElementById('logout').checkVisibility()"),
           "the page offers a logout without a login")
    browser.driver.get("about:blank")
    monitor.end()


def main():
    with Browser() as browser:
        monitor = a_token_logs_in(browser)
        a_link_of_another_site_needs_no_login(browser, monitor)
        logout_ends_all_pages(browser, monitor)
        monitor.end()
        a_password_logs_in(browser)
        without_a_password_there_is_no_login(browser)
    print("people get in and out")


main()
