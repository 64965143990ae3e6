# SPDX-License-Identifier: LGPL-2.1-or-later
import importlib.util
from pathlib import Path


def packaged(package, file):
    """Returns the path of a file in a Python package, without importing that."""
    return Path(importlib.util.find_spec(package).submodule_search_locations[0]) / file
