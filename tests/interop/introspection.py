#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests the library through GObject introspection, with PyGObject and the typelib of the build
directory."""
import ctypes
import os
import sys
import unittest
from pathlib import Path


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


try:
    import gi
except ImportError as missing:
    skip(missing)
TYPELIB = Path(os.environ["GI_TYPELIB_PATH"].split(":")[0]) / "GstCudaTensor-1.0.typelib"
if not TYPELIB.is_file():
    skip("the build has no introspection data")
try:
    gi.require_version("Gst", "1.0")
except ValueError as missing:
    skip(missing)
gi.require_version("GstCudaTensor", "1.0")
from gi.repository import GLib, Gst, GstCudaTensor  # noqa: E402

CAMERA = "videotestsrc num-buffers=1 ! video/x-raw,format=RGB,width=20,height=10 ! "
SINK = " ! appsink name=sink sync=false"


def pull(elements):
    pipeline = Gst.parse_launch(elements + SINK)
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
    assert sample is not None, pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    return sample


def pull_letterboxed():
    return pull(CAMERA + "cudanormalize backend=cpu width=16 height=16 resize-mode=ultralytics")


class Information(unittest.TestCase):
    def setUp(self):
        self.sample = pull_letterboxed()
        self.tensor = GstCudaTensor.Tensor.new_from_sample(self.sample)

    def test_shape_and_strides_have_all_dimensions(self):
        self.assertEqual(self.tensor.get_n_dims(), 4)
        self.assertEqual(self.tensor.get_shape(), [1, 3, 16, 16])
        self.assertEqual(self.tensor.get_strides(), [768, 256, 16, 1])

    def test_data_type(self):
        kind = self.tensor.get_data_type()
        self.assertEqual(kind, GstCudaTensor.TensorDataType.FLOAT32)
        self.assertEqual(GstCudaTensor.Tensor.data_type_get_name(kind), "float32")
        self.assertEqual(GstCudaTensor.Tensor.data_type_get_size(kind), 4)

    def test_data_is_that_of_the_buffer(self):
        data = ctypes.string_at(self.tensor.get_data(), self.tensor.get_size())
        self.assertEqual(data, self.sample.get_buffer().extract_dup(0, 4 * 768))
        self.assertEqual(self.tensor.get_device_type(), GstCudaTensor.TensorDeviceType.CPU)

    def test_buffer_and_caps_make_the_same_tensor(self):
        other = GstCudaTensor.Tensor.new(self.sample.get_buffer(), self.sample.get_caps())
        self.assertEqual(other.get_data(), self.tensor.get_data())
        self.assertEqual(other.get_buffer().pts, self.sample.get_buffer().pts)


class Geometry(unittest.TestCase):
    def test_letterbox(self):
        found, geometry = GstCudaTensor.Tensor.new_from_sample(pull_letterboxed()).get_geometry()
        self.assertTrue(found)
        self.assertEqual((geometry.src_width, geometry.src_height), (20, 10))
        self.assertEqual((geometry.pad_left, geometry.pad_top), (0, 4))
        self.assertEqual((geometry.content_width, geometry.content_height), (16, 8))
        self.assertEqual(geometry.map_box([0, 4, 16, 12]), [0, 0, 20, 10])
        self.assertEqual(geometry.map_point([8, 12]), [10, 10])

    def test_slots_of_a_batch(self):
        tensor = GstCudaTensor.Tensor.new_from_sample(pull(
            CAMERA + "cudanormalize backend=cpu width=8 height=8 regions=tiles tile-columns=2 "
            "tile-rows=1 max-batch=2"))
        self.assertEqual(tensor.get_n_slots(), 2)
        found, slot = tensor.get_slot(1)
        self.assertTrue(found and slot.valid and slot.has_region)
        self.assertEqual(list(slot.region), [10, 0, 10, 10])
        self.assertFalse(tensor.get_slot(2)[0])


class Ownership(unittest.TestCase):
    def test_acquire_and_release(self):
        tensor = GstCudaTensor.Tensor.new_from_sample(pull_letterboxed())
        none = GstCudaTensor.TensorAcquireFlags.NONE
        for stream in None, GstCudaTensor.TENSOR_NO_STREAM:
            self.assertTrue(tensor.acquire(none, stream))
            tensor.release(stream)
        self.assertEqual(tensor.get_shape(), [1, 3, 16, 16])

    def test_last_reference_drops_the_buffer(self):
        sample = pull_letterboxed()
        buffer = sample.get_buffer()
        before = buffer.mini_object.refcount
        tensor = GstCudaTensor.Tensor.new_from_sample(sample)
        self.assertEqual(buffer.mini_object.refcount, before + 1)
        del tensor
        self.assertEqual(buffer.mini_object.refcount, before)


class Errors(unittest.TestCase):
    def test_domain_and_code(self):
        with self.assertRaises(GLib.Error) as raised:
            GstCudaTensor.Tensor.new(Gst.Buffer.new_wrapped(b"123"),
                                     Gst.Caps.from_string("video/x-raw"))
        self.assertTrue(raised.exception.matches(GstCudaTensor.Tensor.error_quark(),
                                                 GstCudaTensor.TensorError.CAPS))
        self.assertIn("other/tensors", raised.exception.message)


Gst.init(None)
unittest.main()
