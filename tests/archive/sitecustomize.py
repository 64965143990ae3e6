# SPDX-License-Identifier: LGPL-2.1-or-later
"""Python runs this in all processes of the tests. A process that opens a file to read its duration
ends if the file's name contains CUDATENSOR_TEST_DEADLY, as a crashing demuxer would end it."""
import importlib.machinery
import os
import signal
import sys

_NAME = os.environ.get("CUDATENSOR_TEST_DEADLY")


def _change(module):
    duration, begin = module.CodedFile.duration, module.CodedFile.__init__

    def begin_and_remember(self, source, *arguments, **options):
        self.source = source
        begin(self, source, *arguments, **options)

    def end_or_look(self):
        if _NAME in self.source:
            os.kill(os.getpid(), signal.SIGKILL)
        return duration(self)

    module.CodedFile.__init__, module.CodedFile.duration = begin_and_remember, end_or_look


class _Finder:
    """Changes the module after it has been executed."""

    @staticmethod
    def find_spec(name, path=None, _target=None):
        if name != "gst_cudatensor.archive.opened":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def execute_and_change(module):
            execute(module)
            _change(module)
        spec.loader.exec_module = execute_and_change
        return spec


if _NAME:
    sys.meta_path.insert(0, _Finder)
