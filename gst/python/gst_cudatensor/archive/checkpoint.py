# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ray Data's checkpoint of a job: which chunks have their rows in Parquet files.

Ray writes the rows of a block and the ids of its chunks by a two-phase commit. The next job deletes
what a killed job has left incomplete. These interfaces of Ray are not stable:
cluster.check_version() refuses untested versions.
"""
from __future__ import annotations

from typing import Any, Optional

from ray.data.checkpoint import CheckpointConfig
from ray.data.checkpoint.checkpoint_filter import IdColumnCheckpointManager

from .store import Store


class _CleaningManager(IdColumnCheckpointManager):
    """Deletes incomplete files. Returns no ids to filter by, for which Ray would start an actor
    that waits for a core: finished chunks are left out of what Ray reads."""

    def load_checkpoint(self, data_file_dir: Optional[str] = None,
                        data_file_filesystem: Any = None) -> tuple[None, int]:
        self._clean_pending_checkpoints(data_file_dir, data_file_filesystem)
        return None, 0


def checkpoint_config(store: Store) -> CheckpointConfig:
    """Returns the settings of the checkpoint, which is in the folder of the results and is kept
    after the job."""
    return CheckpointConfig("chunk_id", store.uri("checkpoint"),
                            delete_checkpoint_on_success=False,
                            override_filesystem=store.filesystem,
                            checkpoint_manager_cls=_CleaningManager)
