# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures or embeds the video files of an archive with Ray Data, and writes the results as Parquet.

``python -m gst_cudatensor.archive --help`` shows the command; run() does the same from a program.
Needs the extra `archive` of the wheel: ``pip install 'WHEEL[archive]'``.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .options import Options
    from .pipeline import Summary, run

__all__ = ["Options", "Summary", "run"]


def __getattr__(name: str) -> Any:
    # Imported late, so that the command can say which package is missing.
    if name not in __all__:
        raise AttributeError(name)
    from . import options, pipeline

    return getattr(options if name == "Options" else pipeline, name)
