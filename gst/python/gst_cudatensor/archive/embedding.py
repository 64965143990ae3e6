# SPDX-License-Identifier: LGPL-2.1-or-later
"""Embeddings by a function of the user."""
from __future__ import annotations

import importlib
from typing import Any, Iterator, Optional, Sequence

import numpy
import pyarrow


def vectors_of(result: Any, frames: int) -> tuple[numpy.ndarray, str]:
    """Converts an array of any framework of shape (frames, …). Returns a NumPy array of float32 of
    shape (frames, D), and the name of the original element type. Raises ValueError for other
    shapes."""
    kind = str(getattr(result, "dtype", "")).removeprefix("torch.")
    if hasattr(result, "detach"):  # PyTorch
        result = result.detach().cpu().float()
    elif hasattr(result, "get") and hasattr(result, "__cuda_array_interface__"):  # CuPy
        result = result.get()
    kind = kind or numpy.asarray(result).dtype.name
    array = numpy.asarray(result, numpy.float32)
    if array.ndim == 0 or array.shape[0] != frames:
        raise ValueError(f"expected an embedding of shape ({frames}, …), got {array.shape}")
    return array.reshape(frames, -1), kind


def described(form: Sequence[Any]) -> str:
    """Returns the form [type, dimension] of embeddings as text."""
    return f"{form[1]} numbers of {form[0]}"


def embedding_column(dimension: Optional[int]) -> pyarrow.Schema:
    """Returns a column of lists of `dimension` numbers, or of any length if that is None."""
    kind = pyarrow.list_(pyarrow.float32(), dimension if dimension else -1)
    return pyarrow.schema([("embedding", kind)])


class EmbeddingFunction:
    """The network `embed=module:function`: a function that takes a gst_cudatensor.Batch and returns
    an array of shape (frames, D), or a class of such callables, of which each worker makes one.
    Raises ValueError if there is no such function."""

    def __init__(self, name: str, form: Optional[Sequence[Any]] = None) -> None:
        module, _, attribute = name.partition(":")
        try:
            found: Any = importlib.import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (ImportError, AttributeError) as error:
            raise ValueError(f"embed={name}: {error}") from error
        self._function = found() if isinstance(found, type) else found
        self.form = form  #: [type, dimension] of the results; None: not known yet
        self.columns = embedding_column(form[1] if form else None)

    def input_options(self) -> dict[str, Any]:
        return {}

    def rows(self, batch: Any) -> Iterator[dict[str, Any]]:
        vectors, kind = vectors_of(self._function(batch), len(batch))
        form = [kind, vectors.shape[1]]
        self.form = self.form or form
        if list(self.form) != form:
            raise ValueError(f"expected an embedding of {described(self.form)} like the first, "
                             f"got {described(form)}")
        for frame, vector in enumerate(vectors):
            yield {"frame": frame, "embedding": vector}
