# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes small ONNX models, in protobuf's wire format: the package onnx is not needed."""
import struct


def _varint(value):
    found = b""
    while value > 0x7f:
        found += bytes([0x80 | value & 0x7f])
        value >>= 7
    return found + bytes([value])


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, contents):
    contents = contents.encode() if isinstance(contents, str) else contents
    return _varint(field << 3 | 2) + _varint(len(contents)) + contents


def _value(name, shape):
    dims = b"".join(_bytes(1, _bytes(2, size) if isinstance(size, str) else _number(1, size))
                    for size in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, dims)))


def _node(kind, inputs, output):
    return b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output) + _bytes(4, kind)


def _shape_constant(name, sizes):
    return (_number(1, len(sizes)) + _number(2, 7) + _bytes(8, name)
            + _bytes(9, struct.pack(f"<{len(sizes)}q", *sizes)))


def write_model(path, kind, size, batch="N", metadata=()):
    """Writes a model. `kind`: "means" outputs the means of the channels (N, 3); "boxes" reads its
    input (N, 3, 2, 4) as four boxes (N, 4, 6)."""
    height, width = size
    nodes, constants, shape = [_node("GlobalAveragePool", ["input"], "pooled"),
                               _node("Flatten", ["pooled"], "output")], [], (batch, 3)
    if kind == "boxes":
        constants = [_shape_constant("shape", (-1, 4, 6))]
        nodes, shape = [_node("Reshape", ["input", "shape"], "output")], (batch, 4, 6)
    graph = (b"".join(_bytes(1, node) for node in nodes) + _bytes(2, "graph")
             + b"".join(_bytes(5, constant) for constant in constants)
             + _bytes(11, _value("input", (batch, 3, height, width)))
             + _bytes(12, _value("output", shape)))
    model = _number(1, 8) + _bytes(7, graph) + _bytes(8, _bytes(1, "") + _number(2, 17))
    model += b"".join(_bytes(14, _bytes(1, key) + _bytes(2, value)) for key, value in metadata)
    path.write_bytes(model)
    return path
