# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the wheel in the folder that stage.py makes: any Python 3, this platform."""
from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True  # it has libraries, which belong to a platform


class PlatformWheel(bdist_wheel):
    def get_tag(self):
        # The glibc of Debian 12, whose libraries the wheel carries.
        return "py3", "none", "manylinux_2_36_x86_64"


setup(distclass=BinaryDistribution, cmdclass={"bdist_wheel": PlatformWheel})
