# SPDX-License-Identifier: LGPL-2.1-or-later
class Failure(Exception):
    """Ends the application with its text."""


class Missing(Failure):
    """Something that was not found, or is no longer there."""


class Lost(Failure):
    """The source has failed, or sends no more."""
