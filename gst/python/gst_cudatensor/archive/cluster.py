# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Ray that a job runs on."""
from __future__ import annotations

from importlib import metadata
from typing import Any

from .faults import PassingError
from .options import Options

#: The only versions whose checkpoints of Ray Data are known: they are not a stable interface.
VERSIONS = "2.60"


def check_version() -> None:
    """Raises ImportError if Ray is not installed, or not one of VERSIONS."""
    try:
        found = metadata.version("ray")
    except metadata.PackageNotFoundError:
        raise ImportError(f"the archive needs Ray {VERSIONS}.x, which is not installed: install the "
                          "wheel with its extra: pip install 'WHEEL[archive]'") from None
    if found.split(".")[:2] != VERSIONS.split("."):
        raise ImportError(f"the archive needs Ray {VERSIONS}.x, but Ray {found} is installed")


def connected(options: Options) -> Any:
    """Ray, connected to options.address, or to one that is started on this machine."""
    import ray
    import ray.data

    if not ray.is_initialized():
        ray.init(address=options.address or "local", include_dashboard=None if options.address
                 else False, log_to_driver=True)
    return ray


class Settings:
    """A context manager with what the writing of rows needs of Ray Data's context."""

    def __init__(self, context: Any, checkpoint: Any) -> None:
        self._context = context
        self._wanted = {
            "checkpoint_config": checkpoint,
            # The rows of a chunk stay in one block, which one task writes: the checkpoint knows ids.
            "target_max_block_size": None,
            "use_datasource_v2": False,  # it lists files in a task that waits for a core
            # Without a limit; a worker ends the attempts of a chunk.
            "actor_task_retry_on_errors": [PassingError]}
        self._kept = {name: getattr(context, name) for name in self._wanted}

    def __enter__(self) -> Settings:
        for name, value in self._wanted.items():
            setattr(self._context, name, value)
        return self

    def __exit__(self, *exception: object) -> None:
        for name, value in self._kept.items():
            setattr(self._context, name, value)
