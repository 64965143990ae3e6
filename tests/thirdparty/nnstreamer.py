#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests that NNStreamer's elements pass the same tensors that an appsink gets without them."""
import ctypes
import sys
from array import array


def skip(why):
    print(f"ok 1 - nnstreamer # SKIP {why}\n1..1")
    sys.exit(0)


try:
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as error:
    skip(error)

WIDTH, HEIGHT, FRAMES = 64, 48, 5
CAMERA = f"videotestsrc num-buffers={FRAMES} pattern=smpte"
SIZE = f"width={WIDTH} height={HEIGHT}"

FLOATS = f"{CAMERA} ! video/x-raw,format=NV12,width=320,height=240 ! cudanormalize {SIZE}"
# Pictures with a row length that GStreamer does not pad.
BYTES = f"{CAMERA} ! video/x-raw,format=RGB ! cudanormalize {SIZE} dtype=uint8 layout=nhwc"
LETTERBOX = (f"{CAMERA} ! video/x-raw,width=500,height=375 ! cudaletterbox resize-mode=ultralytics ! "
             f"video/x-raw,width={WIDTH},height={HEIGHT} ! cudanormalize dtype=uint8 layout=nhwc")
HALVES = f"{CAMERA} ! cudanormalize {SIZE} dtype=float16"
# A batch of two cameras from cudatensormux.
BATCH = (f"{CAMERA} ! video/x-raw,format=NV12,width=320,height=240 ! batch. "
         f"{CAMERA} ! video/x-raw,format=BGR,width=160,height=160 ! batch. "
         f"cudatensormux name=batch {SIZE} resize-mode=ultralytics")

# Type and dimensions of a model for these pictures.
SHAPES = {FLOATS: ("float32", f"{WIDTH}:{HEIGHT}:3:1"), BYTES: ("uint8", f"3:{WIDTH}:{HEIGHT}:1"),
          BATCH: ("float32", f"{WIDTH}:{HEIGHT}:3:2")}


def memories_of(buffer):
    memories = [buffer.peek_memory(i) for i in range(buffer.n_memory())]
    return [buffer.extract_dup(sum(m.get_sizes()[0] for m in memories[:i]), m.get_sizes()[0])
            for i, m in enumerate(memories)]


def buffers_of(launch):
    """Returns the bytes of each buffer's memories at the end of the pipeline, and the caps."""
    pipeline = Gst.parse_launch(launch)
    sink = pipeline.get_by_name("sink")
    buffers, caps = [], []

    def take(buffer):
        buffers.append(memories_of(buffer))
        caps[:] = [sink.get_static_pad("sink").get_current_caps().to_string()]

    def take_sample(appsink):
        take(appsink.emit("pull-sample").get_buffer())
        return Gst.FlowReturn.OK

    if sink.get_factory().get_name() == "tensor_sink":
        sink.connect("new-data", lambda _, buffer: take(buffer))
    else:
        sink.set_property("emit-signals", True)
        sink.connect("new-sample", take_sample)
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        30 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if message is None or message.type == Gst.MessageType.ERROR:
        raise RuntimeError(message.parse_error() if message else "the pipeline hangs")
    return buffers, caps[0]


def through(head, elements, sink="appsink"):
    return buffers_of(f"{head} ! {elements}{' ! ' if elements else ''}{sink} name=sink sync=false")


def tensors_of(head):
    """Returns the tensors without NNStreamer."""
    buffers, _ = through(head, "")
    if len({tensor for tensor, in buffers}) != FRAMES:
        raise RuntimeError("the frames are not all there, or not told apart")
    return buffers


def same(head, elements, sink="appsink"):
    buffers, _ = through(head, elements, sink)
    return buffers == tensors_of(head)


class Filter:
    """A copying model for tensor_filter's framework custom-easy, and its inputs."""

    class Memory(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]

    INVOKE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
                              ctypes.POINTER(Memory), ctypes.POINTER(Memory))
    kept = []  # objects that the library keeps pointers to

    def __init__(self, name, kind, dimensions):
        self.calls = []
        library = ctypes.CDLL(Gst.Registry.get().find_plugin("nnstreamer").get_filename())
        # The structure's size differs between releases; its first field is the number of tensors.
        info = ctypes.create_string_buffer(1 << 16)
        library.gst_tensors_info_init(info)
        ctypes.cast(info, ctypes.POINTER(ctypes.c_uint))[0] = 1
        library.gst_tensors_info_parse_types_string(info, kind.encode())
        library.gst_tensors_info_parse_dimensions_string(info, dimensions.encode())
        invoke = self.INVOKE(self.copy)
        self.kept.append((info, invoke))
        if library.NNS_custom_easy_register(name.encode(), invoke, None, info, info) != 0:
            raise RuntimeError(f"NNStreamer rejects the model {name}")

    def copy(self, _, __, source, target):
        self.calls.append([ctypes.string_at(source[0].data, source[0].size)])
        ctypes.memmove(target[0].data, source[0].data, target[0].size)
        return 0


def filtered(head):
    model = f"copy{len(Filter.kept)}"
    copying = Filter(model, *SHAPES[head])
    buffers, _ = through(head, f"tensor_filter framework=custom-easy model={model}")
    return buffers == tensors_of(head) == copying.calls


def transformed():
    """Computes in the same steps as NNStreamer, each rounded to float32."""
    buffers, _ = through(FLOATS, "tensor_transform mode=arithmetic option=add:0.25,mul:3.0")

    def expected(tensor):
        sums = array("f", (x + 0.25 for x in array("f", tensor)))
        return array("f", (3.0 * x for x in sums)).tobytes()

    return buffers == [[expected(tensor)] for tensor, in tensors_of(FLOATS)]


def muxed():
    """Returns whether two streams are merged into one, with a memory for each tensor."""
    buffers, caps = buffers_of(f"tensor_mux name=mux ! appsink name=sink sync=false "
                               f"{FLOATS} ! mux. {BYTES} ! mux.")
    pairs = [a + b for a, b in zip(tensors_of(FLOATS), tensors_of(BYTES))]
    return "num_tensors=(int)2" in caps and buffers == pairs


def decoded(head):
    """Returns whether a tensor is decoded to a picture with the same bytes."""
    buffers, caps = through(head, "tensor_decoder mode=direct_video")
    is_picture = f"format=(string)RGB, width=(int){WIDTH}, height=(int){HEIGHT}" in caps
    return is_picture and buffers == tensors_of(head)


CASES = {
    "tensor_sink, float32": lambda: same(FLOATS, "", "tensor_sink"),
    "tensor_sink, float16": lambda: same(HALVES, "", "tensor_sink"),
    "tensor_sink, cudaletterbox and uint8": lambda: same(LETTERBOX, "", "tensor_sink"),
    "tensor_sink, a batch": lambda: same(BATCH, "", "tensor_sink"),
    "tensor_filter, float32": lambda: filtered(FLOATS),
    "tensor_filter, uint8": lambda: filtered(BYTES),
    "tensor_filter, a batch": lambda: filtered(BATCH),
    "tensor_transform": transformed,
    "tensor_mux": muxed,
    "tensor_decoder": lambda: decoded(BYTES),
    "tensor_decoder, cudaletterbox": lambda: decoded(LETTERBOX),
}


def main():
    Gst.init(None)
    if not Gst.ElementFactory.find("tensor_filter"):
        skip("NNStreamer is not installed")
    failed = 0
    for number, (name, holds) in enumerate(CASES.items(), 1):
        try:
            wrong = "" if holds() else "\n  other bytes or caps"
        except RuntimeError as error:
            wrong = f"\n  {error}"
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}{wrong}")
    print(f"1..{len(CASES)}")
    return 1 if failed else 0


sys.exit(main())
