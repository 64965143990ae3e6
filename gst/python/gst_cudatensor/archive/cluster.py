# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Ray that a job runs on."""
from __future__ import annotations

from importlib import metadata
from typing import Any

from .faults import PassingError
from .options import Options

#: The only versions with known checkpoints of Ray Data, which are not a stable interface.
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
    """Returns Ray, connected to the cluster at options.address, or started on this machine."""
    import ray
    import ray.data

    if not ray.is_initialized():
        ray.init(address=options.address or "local", include_dashboard=None if options.address
                 else False, log_to_driver=True)
    return ray


class Settings:
    """A context manager that sets Ray Data's context for writing rows, and restores it."""

    def __init__(self, context: Any, checkpoint: Any) -> None:
        self._context = context
        self._wanted = {
            "checkpoint_config": checkpoint,
            # Keeps the rows of a chunk in one block, which one task writes, because the checkpoint has only
            # ids of chunks.
            "target_max_block_size": None,
            "use_datasource_v2": False,  # it lists files in a task that waits for a core
            # Retries without a limit: the worker limits the attempts of a chunk.
            "actor_task_retry_on_errors": [PassingError]}
        self._kept = {name: getattr(context, name) for name in self._wanted}

    def __enter__(self) -> Settings:
        for name, value in self._wanted.items():
            setattr(self._context, name, value)
        return self

    def __exit__(self, *exception: object) -> None:
        for name, value in self._kept.items():
            setattr(self._context, name, value)
