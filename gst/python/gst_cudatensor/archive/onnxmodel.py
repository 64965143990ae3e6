# SPDX-License-Identifier: LGPL-2.1-or-later
"""An ONNX model, run by onnxruntime on the worker's GPU or CPU."""
from __future__ import annotations

import ctypes
from typing import Any, Iterator, Optional

import numpy
import pyarrow

from .detections import DETECTION_COLUMNS, boxes_of, is_detector
from .embedding import embedding_column

_TYPES = {"tensor(float)": "float32", "tensor(float16)": "float16", "tensor(uint8)": "uint8",
          "tensor(int8)": "int8"}
_LEGACY_DEFAULT_STREAM = 1


def _fixed(size: Any) -> Optional[int]:
    return size if isinstance(size, int) and size > 0 else None


class _Input:
    """The requirements of a model's input for the tensor. Raises ValueError if the input is not a
    picture."""

    def __init__(self, described: Any) -> None:
        self.name = described.name
        shape = described.shape
        if described.type not in _TYPES or len(shape) != 4:
            raise ValueError(f"the input {described.name}: expected a batch of pictures of float32, "
                             f"float16, uint8 or int8, got {described.type} of shape {shape}")
        self.dtype = _TYPES[described.type]
        self.layout = "nhwc" if shape[3] in (1, 3) and shape[1] not in (1, 3) else "nchw"
        channels, height, width = ((shape[3], shape[1], shape[2]) if self.layout == "nhwc"
                                   else shape[1:])
        self.batch, self.width, self.height = _fixed(shape[0]), _fixed(width), _fixed(height)
        self.is_gray = channels == 1

    def options(self) -> dict[str, Any]:
        """Returns the arguments of Frames for this input."""
        found: dict[str, Any] = {"dtype": self.dtype, "layout": self.layout}
        if self.batch:
            found["batch"] = self.batch
        if self.width and self.height:
            found.update(width=self.width, height=self.height)
        if self.is_gray:
            found["color"] = "gray"
        return found


class OnnxModel:
    """The network in an ONNX file: a detector, whose boxes become rows, or a network whose first
    output is the embedding. The shape of the output decides: see docs/archives.md. Raises
    ValueError if the model has other inputs or outputs, or cannot be loaded."""

    def __init__(self, path: str, device: str, confidence: float, threads: int,
                 has_config: bool) -> None:
        self._confidence = confidence
        self._session = _session(path, device, threads)
        inputs = self._session.get_inputs()
        if len(inputs) != 1:
            raise ValueError(f"{path}: expected one input, got {len(inputs)}")
        try:
            self._input = _Input(inputs[0])
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self._output = self._session.get_outputs()[0]
        metadata = self._session.get_modelmeta().custom_metadata_map
        try:
            self._is_detector = is_detector(self._output.shape, metadata)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        self._options = self._input.options()
        if "imgsz" in metadata and not has_config:
            self._options["model_config"] = path
        elif not has_config and not (self._input.width and self._input.height):
            raise ValueError(f"{path} does not say how large its pictures are: pass --model-config, "
                             "or --set width=… and --set height=…")
        self.columns = DETECTION_COLUMNS if self._is_detector else embedding_column(self._dimension())

    def input_options(self) -> dict[str, Any]:
        return self._options

    def rows(self, batch: Any) -> Iterator[dict[str, Any]]:
        result = self._run(batch)[:len(batch)]
        if not self._is_detector:
            for frame, vector in enumerate(result.reshape(len(batch), -1)):
                yield {"frame": frame, "embedding": vector.astype(numpy.float32)}
            return
        for frame, output in enumerate(result):
            boxes, scores, classes = boxes_of(output.astype(numpy.float32), self._confidence)
            mapped = batch.map_boxes(boxes, frame)
            for i in range(len(boxes)):
                x0, y0, x1, y1 = (float(value) for value in mapped[i])
                yield {"frame": frame, "x0": x0, "y0": y0, "x1": x1, "y1": y1,
                       "score": float(scores[i]), "class": int(classes[i])}
            if len(boxes) == 0:
                yield {"frame": frame}

    def _dimension(self) -> Optional[int]:
        sizes = [_fixed(size) for size in self._output.shape[1:]]
        return int(numpy.prod(sizes)) if sizes and all(sizes) else None

    def _run(self, batch: Any) -> numpy.ndarray:
        if batch.__dlpack_device__()[0] == 2:
            return self._run_on_gpu(batch)
        array = numpy.asarray(batch)
        if self._input.batch and len(array) < self._input.batch:
            missing = self._input.batch - len(array)
            array = numpy.concatenate([array, numpy.repeat(array[-1:], missing, 0)])
        return self._session.run([self._output.name], {self._input.name: array})[0]

    def _run_on_gpu(self, batch: Any) -> numpy.ndarray:
        """Runs the model on the batch in place. The last batch of a file may have fewer frames than
        the model requires; the memory after them belongs to the same tensor."""
        interface = batch.__cuda_array_interface__
        # onnxruntime works on its own stream, which does not wait for the batch.
        if ctypes.CDLL("libcuda.so.1").cuStreamSynchronize(ctypes.c_void_p(_LEGACY_DEFAULT_STREAM)):
            raise RuntimeError("CUDA reported an error before the model")
        shape = (self._input.batch or len(batch), *batch.shape[1:])
        binding = self._session.io_binding()
        binding.bind_input(self._input.name, "cuda", batch.__dlpack_device__()[1],
                           numpy.dtype(self._input.dtype), shape, interface["data"][0])
        binding.bind_output(self._output.name, "cpu")
        self._session.run_with_iobinding(binding)
        return binding.copy_outputs_to_cpu()[0]


def _session(path: str, device: str, threads: int) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    providers: list[Any] = ["CPUExecutionProvider"]
    kind, _, number = device.partition(":")
    has_cuda = "CUDAExecutionProvider" in onnxruntime.get_available_providers()
    if kind == "cuda" and not has_cuda:
        raise ValueError("device is cuda, but onnxruntime has no CUDA provider: install "
                         "onnxruntime-gpu")
    if kind != "cpu" and has_cuda:
        providers.insert(0, ("CUDAExecutionProvider", {"device_id": int(number or 0)}))
    try:
        return onnxruntime.InferenceSession(path, options, providers=providers)
    except Exception as error:  # onnxruntime's errors have no common class
        raise ValueError(f"{path}: {error}") from error
