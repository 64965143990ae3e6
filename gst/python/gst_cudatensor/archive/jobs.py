# SPDX-License-Identifier: LGPL-2.1-or-later
"""The jobs: what makes rows of a chunk."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterator, Optional, Protocol

import pyarrow

from .chunks import Chunk
from .embedding import EmbeddingFunction
from .luminance import Luminance
from .network import FramesJob
from .onnxmodel import OnnxModel
from .options import Options, function_of, is_luminance
from .player import MediaError
from .remote import source_of


class Job(Protocol):
    """What a worker keeps from chunk to chunk."""

    columns: pyarrow.Schema  #: of its rows; a row may lack some

    def rows(self, chunk: Chunk, source: str) -> Iterator[dict[str, Any]]:
        """The rows of a chunk, which is read from `source`, a path or URI for GStreamer. Raises
        MediaError if it cannot be read, and other errors that are not of the file."""


def make_job(options: Options, dimension: Optional[int] = None) -> Job:
    """The job of `options.model`. `dimension`: numbers of an embedding, where they are known
    already. Raises ValueError if the model cannot be used."""
    if is_luminance(options):
        return Luminance(options)
    function = function_of(options)
    if function is not None:
        return FramesJob(options, EmbeddingFunction(function, dimension))
    network = OnnxModel(options.model, options.device, options.confidence,
                        options.num_cpus_per_worker,
                        bool(options.model_config or {"width", "height"} <= options.properties.keys()))
    return FramesJob(options, network)


def dimension_of(options: Options, chunk: Chunk) -> Optional[int]:
    """The numbers of an embedding, from the first frame of a chunk; None if it has none, or cannot
    be read. Raises the errors of the model."""
    job = make_job(replace(options, batch=1))
    try:
        with source_of(chunk.uri) as source:
            for row in job.rows(chunk, source):
                return len(row["embedding"])
    except (MediaError, OSError):
        pass
    return None


def has_unknown_dimension(columns: pyarrow.Schema) -> bool:
    """Whether the columns have an embedding whose length is not known yet."""
    return "embedding" in columns.names and not pyarrow.types.is_fixed_size_list(
        columns.field("embedding").type)
