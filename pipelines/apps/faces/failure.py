# SPDX-License-Identifier: LGPL-2.1-or-later
class Failure(Exception):
    """An error that ends the application with its text."""
