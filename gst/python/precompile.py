# SPDX-License-Identifier: LGPL-2.1-or-later
"""precompile.py PACKAGE INSTALLED OUTPUT: compiles the package into OUTPUT/PACKAGE, with Python's folders
__pycache__. Files installed with the package are removed with it; those that Python itself writes, as root,
would stay. INSTALLED is the path at which the package will be installed."""
import pathlib
import py_compile
import shutil
import sys

package, installed, output = map(pathlib.Path, sys.argv[1:])
target = output / package.name
shutil.rmtree(target, ignore_errors=True)
for source in sorted(package.rglob("*.py")):
    name = source.relative_to(package)
    cache = target / name.parent / "__pycache__" / f"{name.stem}.{sys.implementation.cache_tag}.pyc"
    # Checked by hash, because an installation may change the time of a file.
    py_compile.compile(str(source), str(cache), str(installed / name), doraise=True,
                       invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)
