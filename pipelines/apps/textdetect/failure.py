# SPDX-License-Identifier: LGPL-2.1-or-later
class Failure(Exception):
    """An error that ends the application with its text."""


class Missing(Failure):
    """A resource was not found or no longer exists."""


class Lost(Failure):
    """The source has failed or stopped sending."""
