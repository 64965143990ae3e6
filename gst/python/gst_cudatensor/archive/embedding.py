# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embeddings by a function of the user."""
from __future__ import annotations

import importlib
from typing import Any, Iterator, Optional

import numpy
import pyarrow


def vectors_of(result: Any, frames: int) -> numpy.ndarray:
    """An array of float32 of shape (frames, D) on the CPU, of an array of any framework with the
    shape (frames, …). Raises ValueError for other shapes."""
    if hasattr(result, "detach"):  # PyTorch
        result = result.detach().cpu().float()
    elif hasattr(result, "get") and hasattr(result, "__cuda_array_interface__"):  # CuPy
        result = result.get()
    array = numpy.asarray(result, numpy.float32)
    if array.ndim == 0 or array.shape[0] != frames:
        raise ValueError(f"an embedding of shape {array.shape} for {frames} frames; expected "
                         f"({frames}, …)")
    return array.reshape(frames, -1)


def embedding_column(dimension: Optional[int]) -> pyarrow.Schema:
    """A column of lists of `dimension` numbers; None: of any length."""
    kind = pyarrow.list_(pyarrow.float32(), dimension if dimension else -1)
    return pyarrow.schema([("embedding", kind)])


class EmbeddingFunction:
    """The network `embed=module:function`: a function of a gst_cudatensor.Batch that returns an
    array of shape (frames, D), or a class of such objects, of which each worker makes one. Raises
    ValueError if there is no such function."""

    def __init__(self, name: str, dimension: Optional[int] = None) -> None:
        module, _, attribute = name.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"embed={name}: {error}") from error
        self._function = found() if isinstance(found, type) else found
        self._dimension = dimension
        self.columns = embedding_column(dimension)

    def input_options(self) -> dict[str, Any]:
        return {}

    def rows(self, batch: Any) -> Iterator[dict[str, Any]]:
        vectors = vectors_of(self._function(batch), len(batch))
        if self._dimension not in (None, vectors.shape[1]):
            raise ValueError(f"an embedding of {vectors.shape[1]} numbers; the first had "
                             f"{self._dimension}")
        for frame, vector in enumerate(vectors):
            yield {"frame": frame, "embedding": vector}
