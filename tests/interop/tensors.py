#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""tensors.py [--newer]

Tests the Python package with real pipelines on the CPU and NumPy as the consumer. With --newer,
uses the NumPy in the folder $CUDATENSOR_TEST_NUMPY, which supports DLPack 1.0.
"""
import copy
import ctypes
import gc
import os
import pickle
import random
import subprocess
import sys
import threading
import unittest

if sys.argv[1:] == ["--newer"]:
    folder = os.environ.get("CUDATENSOR_TEST_NUMPY")
    if not folder:
        print("skipped: CUDATENSOR_TEST_NUMPY is not the folder of a newer NumPy")
        sys.exit(77)
    sys.path.insert(0, folder)
    del sys.argv[1]

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GLib, Gst, GstVideo  # noqa: E402
import numpy  # noqa: E402
import gst_cudatensor  # noqa: E402
from gst_cudatensor import ErrorCode, Histogram, Tensor, TensorError  # noqa: E402

# Some older releases, such as 2.2.4, treat all tensors as read-only.
KNOWS_DLPACK_1 = tuple(map(int, numpy.__version__.split(".")[:3])) >= (2, 2, 6)
CAPS = "other/tensors,format=static,num_tensors=1,types={},dimensions=(string){},framerate=0/1"


class Camera:
    """A pipeline from which samples are pulled."""

    def __init__(self, elements, source="videotestsrc pattern=snow"):
        self.pipeline = Gst.parse_launch(
            f"{source} ! {elements} ! other/tensors ! appsink name=sink sync=false max-buffers=2")
        self.sink = self.pipeline.get_by_name("sink")
        self.pipeline.set_state(Gst.State.PLAYING)

    def pull(self):
        sample = self.sink.emit("try-pull-sample", 20 * Gst.SECOND)
        assert sample is not None, self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        return sample

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()


def small_camera(properties=""):
    return Camera("video/x-raw,format=RGB,width=20,height=12 ! cudanormalize " + properties)


def made_buffer(size=24):
    return Gst.Buffer.new_wrapped(bytes(range(size)))


def made_caps(types="uint8", dimensions="4:3:2:1"):
    return Gst.Caps.from_string(CAPS.format(types, dimensions))


def made_tensor(buffer, **arguments):
    return Tensor.from_buffer(buffer, made_caps(), **arguments)


def references(buffer):
    """The reference count of a GstMiniObject, whose first fields are a GType and the count."""
    return ctypes.c_int.from_address(hash(buffer) + ctypes.sizeof(ctypes.c_size_t)).value


class Description(unittest.TestCase):
    def test_forms(self):
        for properties, dtype, shape, strides in (
                ("", "float32", (1, 3, 12, 20), (720, 240, 20, 1)),
                ("dtype=float16 layout=nhwc", "float16", (1, 12, 20, 3), (720, 60, 3, 1)),
                ("dtype=uint8 color=gray", "uint8", (1, 1, 12, 20), (240, 240, 20, 1)),
                ("layout=ncthw frames-per-tensor=4 clip-hop=1", "float32", (1, 3, 4, 12, 20),
                 (2880, 960, 240, 20, 1)),
                ("dtype=int8", "int8", (1, 3, 12, 20), (720, 240, 20, 1))):
            with self.subTest(properties), small_camera(properties) as camera:
                sample = camera.pull()
                tensor = Tensor.from_sample(sample)
                self.assertEqual((tensor.dtype, tensor.shape, tensor.strides, tensor.device),
                                 (dtype, shape, strides, "cpu"))
                self.assertEqual(tensor.nbytes, sample.get_buffer().get_size())
                self.assertEqual(tensor.itemsize, numpy.dtype(dtype).itemsize)
                self.assertEqual(tensor.__dlpack_device__(), (1, 0))
                array = numpy.asarray(tensor)
                self.assertEqual((array.dtype, array.shape), (numpy.dtype(dtype), shape))
                self.assertEqual(array.strides, tuple(n * array.itemsize for n in strides))
                data = sample.get_buffer().extract_dup(0, tensor.nbytes)
                self.assertEqual(array.tobytes(), bytes(data))

    def test_bfloat16(self):
        with small_camera("dtype=bfloat16") as camera:
            sample = camera.pull()
            tensor = Tensor.from_sample(sample)
            self.assertEqual((tensor.dtype, tensor.itemsize, tensor.shape),
                             ("bfloat16", 2, (1, 3, 12, 20)))
            self.assertEqual(tensor.nbytes, sample.get_buffer().get_size())
            with self.assertRaisesRegex(TypeError, "NumPy has no bfloat16"):
                numpy.asarray(tensor)
            self.assertEqual(type(tensor.__dlpack__()).__name__, "PyCapsule")

    def test_types_of_other_elements(self):
        for dtype in ("float64", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
            buffer = made_buffer(numpy.dtype(dtype).itemsize * 6)
            tensor = Tensor.from_buffer(buffer, made_caps(dtype, "3:2"))
            self.assertEqual(numpy.asarray(tensor).dtype, numpy.dtype(dtype))
            self.assertEqual(numpy.asarray(tensor).tobytes(), bytes(range(buffer.get_size())))

    def test_addresses_are_accepted(self):
        buffer, caps = made_buffer(), made_caps()
        sample = Gst.Sample.new(buffer, caps, None, None)
        for tensor in (Tensor.from_sample(hash(sample)),
                       Tensor.from_buffer(hash(buffer), hash(caps))):
            self.assertEqual(numpy.asarray(tensor).tobytes(), bytes(range(24)))

    def test_repr(self):
        tensor = made_tensor(made_buffer())
        self.assertEqual(repr(tensor), "<gst_cudatensor.Tensor uint8 (1, 2, 3, 4) on cpu>")
        tensor.close()
        self.assertIn("closed", repr(tensor))


class Geometry(unittest.TestCase):
    def test_boxes(self):
        with Camera("video/x-raw,width=1280,height=720 ! cudanormalize width=640 height=640 "
                    "resize-mode=ultralytics") as camera:
            tensor = Tensor.from_sample(camera.pull())
        geometry = tensor.geometry
        self.assertEqual((geometry.src_width, geometry.src_height), (1280, 720))
        self.assertEqual((geometry.dst_width, geometry.dst_height), (640, 640))
        self.assertEqual((geometry.pad_left, geometry.pad_top), (0, 140))
        self.assertEqual((geometry.content_width, geometry.content_height), (640, 360))
        self.assertEqual(geometry.matrix, (0.5, 0, 0, 0, 0.5, 140))
        self.assertEqual(geometry.map_box((0, 140, 640, 500)), (0, 0, 1280, 720))
        boxes = [[0, 140, 640, 500], [320, 320, 330, 340]]
        expected = [(0, 0, 1280, 720), (640, 360, 660, 400)]
        self.assertEqual(tensor.map_boxes(boxes), expected)
        self.assertEqual(tensor.map_boxes([]), [])
        for array in (numpy.array(boxes), numpy.array(boxes, numpy.float32), numpy.empty((0, 4)),
                      numpy.array([boxes, boxes])):
            mapped = tensor.map_boxes(array)
            self.assertEqual((mapped.shape, mapped.dtype), (array.shape, numpy.float64))
            self.assertTrue((mapped.reshape(-1, 4)[:2] == numpy.array(expected)[:len(array)]).all())
        for wrong in (numpy.zeros((3, 5)), numpy.float64(1), [[1, 2, 3]]):
            with self.assertRaises((ValueError, TypeError)):
                tensor.map_boxes(wrong)

    def test_boxes_are_mapped_through_a_crop(self):
        """The tensor shows every other pixel of the middle 720x720 pixels of 1280x720."""
        with Camera("video/x-raw,width=1280,height=720 ! cudanormalize width=360 height=360 "
                    "resize-mode=torchvision antialias=true method=bicubic") as camera:
            tensor = Tensor.from_sample(camera.pull())
        geometry = tensor.geometry
        self.assertEqual((geometry.dst_width, geometry.dst_height), (360, 360))
        self.assertEqual((geometry.pad_left, geometry.pad_top), (0, 0))
        self.assertEqual((geometry.content_width, geometry.content_height), (360, 360))
        self.assertEqual(geometry.matrix, (0.5, 0, -140, 0, 0.5, 0))
        self.assertEqual(geometry.map_box((0, 0, 360, 360)), (280, 0, 1000, 720))
        # A network's boxes may reach beyond its input, where the picture continues.
        boxes = [[-20, 10, 380, 370], [100, 110, 120, 130]]
        expected = [(240, 20, 1040, 740), (480, 220, 520, 260)]
        self.assertEqual(tensor.map_boxes(boxes), expected)
        self.assertEqual(tensor.map_boxes(numpy.array(boxes)).tolist(), list(map(list, expected)))
        self.assertEqual(geometry.map_points([[-140, 0], [360, 360]]).tolist(),
                         [[0, 0], [1000, 720]])

    def test_geometry_equals_that_of_c(self):
        library = gst_cudatensor._library
        for inverse in ((1.5, 2.25, 3.0, 4.0, 5.5, 6.125), (0.0, 0.5, 0.0, -0.5, 0.0, 30.0)):
            struct = library.GeometryStruct(inverse=inverse)
            box = (ctypes.c_double * 4)(1, 10, 100, 1000)
            library._LIBRARY.gst_cuda_tensor_geometry_map_box(ctypes.byref(struct), box, box)
            geometry = gst_cudatensor.Geometry._of(struct)
            self.assertEqual(geometry.map_box((1, 10, 100, 1000)), tuple(box))
            mapped = geometry.map_boxes(numpy.array([[1.0, 10.0, 100.0, 1000.0]]))
            self.assertEqual(mapped.tolist(), [list(box)])
            point = (ctypes.c_double * 2)(1, 10)
            library._LIBRARY.gst_cuda_tensor_geometry_map_point(ctypes.byref(struct), point, point)
            self.assertEqual(geometry.map_points((1, 10)).tolist(), list(point))

    def test_corners_and_points_of_a_turned_slot(self):
        """The slot shows 40x20 pixels of the picture, turned by 90 degrees to the left and halved: its
        upper left corner is the lower left one of the region."""
        with Camera("video/x-raw,width=64,height=48 ! cudanormalize backend=cpu width=10 height=20 "
                    "regions=matrices region-matrices=<0.0,-0.5,17.0,0.5,0.0,-6.0> "
                    "max-batch=2") as camera:
            tensor = Tensor.from_sample(camera.pull())
        self.assertEqual(tensor.slots[0].region, (12, 14, 40, 20))
        boxes = [[0, 0, 10, 20], [1, 2, 3, 5]]
        around = [(12, 14, 52, 34), (16, 28, 22, 32)]
        corners = [((12, 34), (12, 14), (52, 14), (52, 34)),
                   ((16, 32), (16, 28), (22, 28), (22, 32))]
        self.assertEqual(tensor.map_boxes(boxes, slot=0), around)
        self.assertEqual(tensor.map_boxes(boxes, slot=0, corners=True), corners)
        array = numpy.array(boxes, numpy.float32)
        self.assertEqual(tensor.map_boxes(array, slot=0).tolist(), [list(box) for box in around])
        mapped = tensor.map_boxes(array, slot=0, corners=True)
        self.assertEqual(mapped.dtype, numpy.float64)
        self.assertEqual(mapped.tolist(), numpy.array(corners).tolist())
        self.assertEqual(tensor.map_boxes(numpy.array([array, array]), 0, True).shape, (2, 2, 4, 2))
        self.assertEqual(tensor.map_boxes(numpy.empty((0, 4)), 0, True).shape, (0, 4, 2))
        self.assertEqual(tensor.map_points([[0, 0], [10, 0], [1, 2]], slot=0).tolist(),
                         [[12, 34], [12, 14], [16, 32]])
        for error, slot in ((ValueError, 1), (ValueError, None), (IndexError, 2)):
            with self.assertRaises(error):
                tensor.map_points([[1, 2]], slot)

    def test_none(self):
        tensor = made_tensor(made_buffer())
        self.assertIsNone(tensor.geometry)
        self.assertEqual(tensor.slots, [])
        with self.assertRaisesRegex(ValueError, "no geometry"):
            tensor.map_boxes([[1, 2, 3, 4]])
        with self.assertRaises(IndexError):
            tensor.map_boxes([[1, 2, 3, 4]], slot=0)

    def test_batch(self):
        with Camera("mux. videotestsrc num-buffers=2 ! video/x-raw,width=32,height=64,framerate=10/1 "
                    "! mux.sink_2 cudatensormux name=mux batch-size=3 width=64 height=64 "
                    "resize-mode=ultralytics",
                    "videotestsrc num-buffers=2 ! video/x-raw,width=128,height=64,framerate=10/1"
                    ) as camera:
            camera.pull()
            tensor = Tensor.from_sample(camera.pull())
        self.assertEqual(tensor.shape, (3, 3, 64, 64))
        first, empty, third = tensor.slots
        self.assertEqual([slot.valid for slot in tensor.slots], [True, False, True])
        self.assertEqual([slot.pad_index for slot in tensor.slots], [0, -1, 2])
        self.assertEqual((first.pts, first.duration, first.running_time),
                         (100000000, 100000000, 100000000))
        self.assertIsInstance(first.stream_id, str)
        self.assertNotEqual(first.stream_id, third.stream_id)
        self.assertEqual((empty.pts, empty.geometry, empty.region, empty.roi_id), (None,) * 4)
        self.assertEqual(third.geometry.src_width, 32)
        self.assertEqual(tensor.map_boxes([[0, 16, 64, 48]], slot=0), [(0, 0, 128, 64)])
        self.assertEqual(tensor.map_boxes([[16, 0, 48, 64]], slot=2), [(0, 0, 32, 64)])
        self.assertEqual(tensor.left_out, 0)
        with self.assertRaisesRegex(ValueError, "pass slot"):
            tensor.map_boxes([[0, 0, 1, 1]])
        with self.assertRaises(ValueError):
            tensor.map_boxes([[0, 0, 1, 1]], slot=1)


    def test_regions_without_interest(self):
        for properties, regions in (
                ("regions=list region-list=<2,4,10,8,12,6,8,5>", [(2, 4, 10, 8), (12, 6, 8, 5)]),
                ("regions=tiles tile-rows=1", [(0, 0, 10, 12), (10, 0, 10, 12)])):
            with small_camera("width=8 height=8 " + properties) as camera:
                tensor = Tensor.from_sample(camera.pull())
            self.assertEqual([slot.region for slot in tensor.slots], regions)
            for slot in tensor.slots:
                self.assertEqual((slot.roi_type, slot.roi_id, slot.parent_id), (None,) * 3)
            self.assertEqual(tensor.left_out, 0)

    def test_regions_of_interest(self):
        with Camera("cudanormalize width=8 height=8 regions=meta max-batch=2",
                    "appsrc name=frames format=time "
                    "caps=video/x-raw,format=RGB,width=20,height=12,framerate=10/1") as camera:
            frame = Gst.Buffer.new_wrapped(bytes(20 * 12 * 3))
            for i in range(5):
                meta = GstVideo.buffer_add_video_region_of_interest_meta(frame, "face", 2 * i, 4, 8,
                                                                         6)
                meta.id, meta.parent_id = i + 7, i + 70
            camera.pipeline.get_by_name("frames").emit("push-buffer", frame)
            tensor = Tensor.from_sample(camera.pull())
        self.assertEqual([(slot.region, slot.roi_type, slot.roi_id, slot.parent_id)
                          for slot in tensor.slots],
                         [((2 * i, 4, 8, 6), "face", i + 7, i + 70) for i in range(2)])
        self.assertEqual(tensor.left_out, 3)


class Consumers(unittest.TestCase):
    def test_asarray_is_no_copy(self):
        with small_camera() as camera:
            tensor = Tensor.from_sample(camera.pull())
        for array in (numpy.asarray(tensor), numpy.array(tensor, copy=False)):
            self.assertEqual(array.ctypes.data, tensor.data_ptr)
            self.assertFalse(array.flags.writeable)
            with self.assertRaises(ValueError):
                array[...] = 1

    def test_asarray_copies_on_request(self):
        tensor = made_tensor(made_buffer())
        for array in (numpy.array(tensor), numpy.asarray(tensor, dtype="float32"),
                      tensor.__array__(copy=True)):
            self.assertNotEqual(array.ctypes.data, tensor.data_ptr)
            self.assertTrue(array.flags.writeable)
            self.assertEqual(array.reshape(-1).tolist(), list(range(24)))
        with self.assertRaises(ValueError):
            tensor.__array__(dtype="float32", copy=False)
        self.assertEqual(tensor.__array__(dtype="uint8", copy=False).ctypes.data, tensor.data_ptr)

    def test_from_dlpack_is_no_copy(self):
        with small_camera() as camera:
            tensor = Tensor.from_sample(camera.pull())
        array = numpy.from_dlpack(tensor)
        self.assertEqual(array.ctypes.data, tensor.data_ptr)
        self.assertEqual((array.shape, array.dtype.name), (tensor.shape, tensor.dtype))
        self.assertEqual(array.tobytes(), numpy.asarray(tensor).tobytes())

    @unittest.skipUnless(KNOWS_DLPACK_1,
                         f"NumPy {numpy.__version__} does not support read-only DLPack tensors")
    def test_from_dlpack_passes_read_only(self):
        buffer = made_buffer()
        tensor = made_tensor(buffer)
        self.assertTrue(tensor.read_only)
        self.assertFalse(numpy.from_dlpack(tensor).flags.writeable)
        del buffer
        self.assertFalse(tensor.read_only)
        array = numpy.from_dlpack(tensor)
        self.assertTrue(array.flags.writeable)
        array[...] = 7
        self.assertEqual(set(numpy.asarray(tensor).reshape(-1).tolist()), {7})
        with self.assertRaises((ValueError, BufferError)):
            numpy.from_dlpack(tensor, copy=True)
        self.assertEqual(numpy.from_dlpack(tensor, device="cpu", copy=False).ctypes.data,
                         tensor.data_ptr)

    def test_capsules(self):
        tensor = made_tensor(made_buffer())
        for arguments, name in (({}, '"dltensor"'), ({"max_version": (0, 8)}, '"dltensor"'),
                                ({"max_version": (1, 0)}, '"dltensor_versioned"'),
                                ({"max_version": (2, 1), "dl_device": (1, 0), "copy": False,
                                  "stream": None}, '"dltensor_versioned"'),
                                ({"stream": -1}, '"dltensor"')):
            self.assertIn(name, repr(tensor.__dlpack__(**arguments)))

    def test_impossible_exports_are_refused(self):
        tensor = made_tensor(made_buffer())
        for arguments, error in (({"copy": True}, BufferError), ({"dl_device": (2, 0)}, BufferError),
                                 ({"stream": 1}, ValueError), ({"stream": 0}, ValueError)):
            with self.assertRaises(error):
                tensor.__dlpack__(**arguments)
        self.assertFalse(hasattr(tensor, "__cuda_array_interface__"))


class Lifetime(unittest.TestCase):
    def setUp(self):
        self.buffer = made_buffer()
        self.before = references(self.buffer)

    def tearDown(self):
        gc.collect()
        self.assertEqual(references(self.buffer), self.before)

    def test_arrays_outlive_all_other_objects(self):
        for consume in numpy.asarray, numpy.from_dlpack:
            tensor = made_tensor(self.buffer)
            array = consume(tensor)
            del tensor
            gc.collect()
            self.assertEqual(references(self.buffer), self.before + 1)
            self.assertEqual(array.reshape(-1).tolist(), list(range(24)))
            slice_ = array[0, 1]
            del array
            self.assertEqual(slice_.reshape(-1).tolist(), list(range(12, 24)))
            del slice_

    def test_close(self):
        with made_tensor(self.buffer) as tensor:
            array = numpy.asarray(tensor)
        self.assertEqual(array.reshape(-1).tolist(), list(range(24)))
        tensor.close()
        for use in (numpy.asarray, numpy.from_dlpack, lambda t: t.data_ptr, lambda t: t.read_only,
                    lambda t: t.__dlpack__()):
            with self.assertRaisesRegex(ValueError, "closed"):
                use(tensor)
        self.assertEqual((tensor.shape, tensor.dtype), ((1, 2, 3, 4), "uint8"))
        del array
        self.assertEqual(references(self.buffer), self.before)

    def test_unused_capsules_release_the_buffer(self):
        tensor = made_tensor(self.buffer)
        for version in None, (1, 0):
            capsules = [tensor.__dlpack__(max_version=version) for _ in range(10)]
            del capsules
        tensor.close()
        self.assertEqual(references(self.buffer), self.before)

    def test_refused_capsules_release_the_buffer(self):
        tensor = Tensor.from_buffer(self.buffer, made_caps("uint8", "24" + 69 * ":1"))
        for _ in range(10):
            with self.assertRaisesRegex(RuntimeError, "maxdims of DLPack tensor is higher"):
                numpy.from_dlpack(tensor)
        tensor.close()
        self.assertEqual(references(self.buffer), self.before)

    def test_references_cannot_be_copied(self):
        tensor = made_tensor(self.buffer)
        view = numpy.asarray(tensor).base
        while isinstance(view, numpy.ndarray):
            view = view.base
        for thing in tensor, tensor._reference, view, [tensor]:
            for copies in copy.deepcopy, pickle.dumps, lambda t: pickle.dumps(t, protocol=0):
                with self.assertRaisesRegex(TypeError, "cannot be copied or pickled"):
                    copies(thing)
        for thing in tensor, tensor._reference:
            with self.assertRaisesRegex(TypeError, "cannot be copied or pickled"):
                copy.copy(thing)
        self.assertEqual(copy.deepcopy(numpy.asarray(tensor)).reshape(-1).tolist(), list(range(24)))

    def test_refusals(self):
        for _ in range(10):
            with self.assertRaises(TensorError):
                Tensor.from_buffer(self.buffer, made_caps("uint8", "4:3:3:1"))

    def test_cycles(self):
        tensor = made_tensor(self.buffer)
        tensor.itself = tensor
        del tensor

    def test_threads(self):
        tensor = made_tensor(self.buffer)

        def work():
            for _ in range(200):
                try:
                    self.assertEqual(numpy.from_dlpack(tensor).reshape(-1)[5], 5)
                    self.assertEqual(numpy.asarray(tensor).reshape(-1)[5], 5)
                    tensor.__dlpack__(max_version=(1, 0))
                except ValueError as error:  # closed
                    self.assertIn("closed", str(error))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        tensor.close()
        for thread in threads:
            thread.join()


class Pipelines(unittest.TestCase):
    def test_a_hundred_are_released_in_any_order_by_another_thread(self):
        with small_camera() as camera:
            kept = []
            for _ in range(100):
                array = numpy.from_dlpack(Tensor.from_sample(camera.pull()))
                kept.append((array, array.copy()))

            def let_go():
                random.Random(1).shuffle(kept)
                while kept:
                    array, expected = kept.pop()
                    self.assertTrue((array == expected).all())

            other = threading.Thread(target=let_go)
            other.start()
            for _ in range(50):
                Tensor.from_sample(camera.pull())
            other.join()

    def test_buffers_come_back_to_the_pool(self):
        with small_camera() as camera:
            addresses = set()
            for _ in range(300):
                with Tensor.from_sample(camera.pull()) as tensor:
                    addresses.add(numpy.from_dlpack(tensor).ctypes.data)
        self.assertLess(len(addresses), 30)

    def test_arrays_stay_valid_after_the_pipeline(self):
        camera = small_camera()
        kept = [numpy.asarray(Tensor.from_sample(camera.pull())) for _ in range(20)]
        expected = [array.copy() for array in kept]
        camera.stop()
        del camera
        gc.collect()
        for array, before in zip(kept, expected):
            self.assertTrue((array == before).all())


EXIT = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
import numpy
import gst_cudatensor
Gst.init(None)
caps = Gst.Caps.from_string("other/tensors,types=uint8,dimensions=(string)4:3:2:1")
tensors = [gst_cudatensor.Tensor.from_buffer(Gst.Buffer.new_wrapped(bytes(24)), caps)
           for _ in range(3)]
class Late:
    def __init__(self, *kept):
        self.kept = kept
        self.itself = self
    def __del__(self):
        print(self.kept[0][0, 0, 0, 0], flush=True)
late = Late(numpy.asarray(tensors[0]), tensors[0].__dlpack__(), tensors[1])
gst_cudatensor.capsule = tensors[2].__dlpack__(max_version=(1, 0))
"""


class Exit(unittest.TestCase):
    def test_exit_with_tensors_arrays_and_capsules_alive(self):
        path = os.pathsep.join(filter(None, sys.path))
        done = subprocess.run([sys.executable, "-c", EXIT], check=False, text=True, timeout=60,
                              env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stdout.strip(), done.stderr), (0, "0", ""))


def has_gpu():
    try:
        pipeline = Gst.parse_launch("videotestsrc ! cudanormalize backend=cuda ! "
                                    "other/tensors(memory:CUDAMemory) ! fakesink")
    except GLib.Error:  # they do not link if the build has no CUDA
        return False
    pipeline.set_state(Gst.State.PAUSED)
    reached = pipeline.get_state(20 * Gst.SECOND)[0] == Gst.StateChangeReturn.SUCCESS
    pipeline.set_state(Gst.State.NULL)
    return reached


class Cuda(unittest.TestCase):
    """Tests the protocols on a GPU. The tests of the library cover synchronization."""

    def setUp(self):
        if not has_gpu():
            self.skipTest("no GPU, or no libgstcuda")

    def pull(self, shared=True, **arguments):
        pipeline = Gst.parse_launch(
            "videotestsrc ! video/x-raw,format=RGB,width=20,height=12 ! cudanormalize ! "
            "other/tensors(memory:CUDAMemory) ! appsink name=sink sync=false max-buffers=2")
        if shared:
            gst_cudatensor.share_primary_context(pipeline)
        pipeline.set_state(Gst.State.PLAYING)
        sample = pipeline.get_by_name("sink").emit("try-pull-sample", 20 * Gst.SECOND)
        pipeline.set_state(Gst.State.NULL)
        return Tensor.from_sample(sample, **arguments)

    def test_dlpack(self):
        tensor = self.pull()
        self.assertEqual((tensor.device, tensor.__dlpack_device__()), ("cuda:0", (2, 0)))
        for stream in None, 1, 2, -1:
            for version in None, (1, 0):
                tensor.__dlpack__(stream=stream, max_version=version, dl_device=(2, 0))
        for stream in 0, -2:
            with self.assertRaises(ValueError):
                tensor.__dlpack__(stream=stream)
        for arguments in {"dl_device": (1, 0)}, {"dl_device": (2, 1)}, {"copy": True}:
            with self.assertRaises(BufferError):
                tensor.__dlpack__(**arguments)

    def test_array_interfaces(self):
        tensor = self.pull()
        for _ in range(2):
            self.assertEqual(tensor.__cuda_array_interface__,
                             {"shape": (1, 3, 12, 20), "typestr": "<f4", "strides": None,
                              "data": (tensor.data_ptr, True), "version": 3, "stream": 1})
        for use in numpy.asarray, numpy.array:
            with self.assertRaisesRegex(TypeError, "cuda:0"):
                use(tensor)
        # The holder of the interface keeps the data alive.
        tensor.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            tensor.__cuda_array_interface__

    def test_contexts(self):
        tensor = self.pull(shared=False)
        with self.assertRaisesRegex(BufferError, "share_primary_context"):
            tensor.__dlpack__()
        with self.assertRaisesRegex(BufferError, "share_primary_context"):
            tensor.__cuda_array_interface__
        self.pull(shared=False, any_context=True).__dlpack__(stream=-1)
        pipeline = Gst.parse_launch("videotestsrc ! fakesink")
        pipeline.set_state(Gst.State.PAUSED)
        with self.assertRaises(TensorError) as raised:
            gst_cudatensor.share_primary_context(pipeline)
        self.assertEqual(raised.exception.code, ErrorCode.STATE)
        pipeline.set_state(Gst.State.NULL)


class Histograms(unittest.TestCase):
    def messages(self, properties, frames=10):
        pipeline = Gst.parse_launch(
            f"videotestsrc num-buffers={frames} pattern=snow ! "
            "video/x-raw,format=GRAY8,width=20,height=12,framerate=10/1 ! "
            f"cudahistogram {properties} ! fakesink")
        pipeline.set_state(Gst.State.PLAYING)
        wanted = Gst.MessageType.ELEMENT | Gst.MessageType.EOS | Gst.MessageType.ERROR
        found = []
        while (message := pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, wanted)):
            if message.type != Gst.MessageType.ELEMENT:
                break
            found.append(message)
        pipeline.set_state(Gst.State.NULL)
        self.assertFalse(gst_cudatensor.is_histogram(message))
        return found

    def test_all_fields(self):
        message, = self.messages("interval=2000000000")
        fields = message.get_structure()
        for given in message, hash(message):
            self.assertTrue(gst_cudatensor.is_histogram(given))
            histogram = Histogram.from_message(given)
            self.assertEqual((histogram.frames, histogram.pixels), (10, 2400))
            self.assertEqual((histogram.timestamp, histogram.duration), (0, Gst.SECOND))
            _, bins = fields.get_array("histogram")
            self.assertEqual(histogram.bins, tuple(bins.get_nth(i) for i in range(256)))
            self.assertEqual(sum(histogram.bins), histogram.pixels)
            for name in Histogram.__dataclass_fields__.keys() - {"bins", "roi"}:
                self.assertEqual(getattr(histogram, name), fields.get_value(name.replace("_", "-")))
            self.assertIsNone(histogram.roi)

    def test_region(self):
        message, = self.messages("interval=2000000000 roi=<4,2,6,3>")
        self.assertEqual(Histogram.from_message(message).roi, (4, 2, 6, 3))

    def test_sum(self):
        for roi in "", " roi=<4,2,6,3>":
            each = [Histogram.from_message(m) for m in self.messages("interval=0" + roi)]
            self.assertEqual([h.frames for h in each], [1] * 10)
            total = each[0]
            for histogram in each[1:]:
                total += histogram
            bins = tuple(map(sum, zip(*(h.bins for h in each))))
            self.assertEqual((total.frames, total.bins, total.duration, total.roi),
                             (10, bins, Gst.SECOND, each[0].roi))
            self.assertAlmostEqual(total.mean, sum(h.mean for h in each) / 10)
            self.assertAlmostEqual(total.clipped_low, sum(h.clipped_low for h in each) / 10)
        with self.assertRaises(TypeError):
            total + 1

    def test_unknown_times(self):
        histogram = Histogram(*[None] * 4, 1, 0, (0,) * 256, *[0] * 11, roi=None)
        total = histogram + histogram
        self.assertEqual((total.frames, total.timestamp, total.duration), (2, None, None))

    def test_refusals(self):
        for message, text in (
                (Gst.Message.new_eos(None), "not one of cudahistogram"),
                (Gst.Message.new_element(None, Gst.Structure.new_empty("cudahistogram")),
                 "timestamp is missing")):
            with self.assertRaisesRegex(TensorError, text) as raised:
                Histogram.from_message(message)
            self.assertEqual(raised.exception.code, ErrorCode.MESSAGE)
        for read in gst_cudatensor.is_histogram, Histogram.from_message:
            with self.assertRaisesRegex(TypeError, "GstMessage"):
                read(made_buffer())


class Refusals(unittest.TestCase):
    def refused(self, code, text, buffer, caps):
        with self.assertRaisesRegex(TensorError, text) as raised:
            Tensor.from_buffer(buffer, caps)
        self.assertEqual(raised.exception.code, code)

    def test_tensors(self):
        self.refused(ErrorCode.CAPS, "other/tensors", made_buffer(),
                     Gst.Caps.from_string("video/x-raw"))
        self.refused(ErrorCode.CAPS, "complex", made_buffer(), made_caps("complex"))
        self.refused(ErrorCode.BUFFER, "23 bytes", made_buffer(23), made_caps())
        two = made_buffer(12).append(made_buffer(12))
        self.refused(ErrorCode.BUFFER, "2 memories", two, made_caps())
        with self.assertRaisesRegex(TensorError, "buffer"):
            Tensor.from_sample(Gst.Sample.new(None, made_caps(), None, None))

    def test_other_objects_are_refused(self):
        for thing in (None, "sample", 0, -1, 1.5, True, made_buffer(), Gst.Pipeline.new(None)):
            with self.assertRaisesRegex(TypeError, "GstSample"):
                Tensor.from_sample(thing)
        with self.assertRaisesRegex(TypeError, "GstCaps"):
            Tensor.from_buffer(made_buffer(), "other/tensors")

    def test_elements_beside_other_libraries(self):
        """An element's exceptions work even if Python has loaded libstdc++ before GStreamer."""
        pipeline = Gst.parse_launch("videotestsrc ! cudanormalize mean=<1,2> ! fakesink")
        pipeline.set_state(Gst.State.PLAYING)
        message = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.ERROR)
        pipeline.set_state(Gst.State.NULL)
        self.assertIn("mean has 2 values", message.parse_error()[0].message)

    def test_decoders_need_a_decodebin(self):
        with self.assertRaisesRegex(TypeError, "GstElement"):
            gst_cudatensor.prefer_gpu_decoders(made_buffer())
        decodebin = Gst.ElementFactory.make("decodebin")
        for given in decodebin, hash(decodebin):
            gst_cudatensor.prefer_gpu_decoders(given)

    def test_contexts_without_cuda(self):
        with self.assertRaisesRegex(TypeError, "GstElement"):
            gst_cudatensor.share_primary_context(made_buffer())
        pipeline = Gst.Pipeline.new(None)
        for given in pipeline, hash(pipeline):
            with self.assertRaises(TensorError) as raised:
                gst_cudatensor.share_primary_context(given, device=9999)
            self.assertEqual(raised.exception.code, ErrorCode.NO_CUDA)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(verbosity=2)
