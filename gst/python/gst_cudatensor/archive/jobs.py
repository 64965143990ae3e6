# SPDX-License-Identifier: LGPL-2.1-or-later
"""The jobs, which make rows from chunks."""
from __future__ import annotations

from dataclasses import replace
from typing import Any, Iterable, Iterator, Optional, Protocol, Sequence

import pyarrow

from .chunks import Chunk
from .embedding import EmbeddingFunction
from .faults import MediaError, PassingError, WornProcess
from .luminance import Luminance
from .network import FramesJob
from .onnxmodel import OnnxModel
from .options import Options, function_of, is_luminance
from .remote import source_of


class Job(Protocol):
    """An object that a worker keeps from chunk to chunk."""

    columns: pyarrow.Schema  #: the columns of the rows; a row may lack some

    def rows(self, chunk: Chunk, source: str) -> Iterator[dict[str, Any]]:
        """Yields the rows of a chunk, read from `source`, a path or URI for GStreamer. Raises
        MediaError or PassingError if it cannot be read, and the errors of the job."""


def make_job(options: Options, form: Optional[Sequence[Any]] = None) -> Job:
    """Returns the job of `options.model`. `form` is [type, dimension] of the embeddings of a
    function, if already known. Raises ValueError if the model cannot be used."""
    if is_luminance(options):
        return Luminance(options)
    function = function_of(options)
    if function is not None:
        return FramesJob(options, EmbeddingFunction(function, form))
    network = OnnxModel(options.model, options.device, options.confidence,
                        options.num_cpus_per_worker,
                        bool(options.model_config or {"width", "height"} <= options.properties.keys()))
    return FramesJob(options, network)


def form_of(options: Options, chunks: Iterable[Chunk]) -> Optional[list[Any]]:
    """Returns [type, dimension] of the embeddings of a function, from the first frame in these
    chunks; None if they have no frame. Raises the errors of the model, and WornProcess."""
    function = EmbeddingFunction(str(function_of(options)))
    job = FramesJob(replace(options, batch=1), function)
    for chunk in chunks:
        try:
            with source_of(chunk.uri) as source:
                for _ in job.rows(chunk, source):
                    return list(function.form or ())
        except WornProcess:
            raise
        except (MediaError, PassingError, OSError):
            pass
    return None
