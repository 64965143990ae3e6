# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the wheel in the folder that stage.py makes, for any Python 3 and this platform."""
import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True  # the libraries make the wheel specific to a platform


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        # 2.36 is the glibc of Debian 12, whose libraries the wheel contains.
        return "py3", "none", "manylinux_2_36_x86_64"

    def write_wheelfile(self, wheelfile_base, **options):
        # setuptools has no setting for the SBOM. This runs before the list of files is written.
        super().write_wheelfile(wheelfile_base, **options)
        shutil.copytree("sboms", Path(wheelfile_base) / "sboms")


setup(distclass=BinaryDistribution, cmdclass={"bdist_wheel": PlatformWheel})
