#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the public names with tests/names/public.txt (see CONTRIBUTING.md).

usage: names.py            compares, and fails if they differ
       names.py --write    writes the list
"""
import ast
import os
import re
import sys
from pathlib import Path

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_name("public.txt")
# Properties of GStreamer's base classes.
FOREIGN = {"GObject", "GstObject", "GstElement", "GstBaseTransform", "GstAggregator"}


def own_properties(factory):
    element = factory.create(None)
    return [spec for spec in element.list_properties()
            if GObject.type_name(spec.owner_type) not in FOREIGN]


def nicks(spec):
    """Yields the short name of each choice of an enumerated property."""
    # This is a Python class in PyGObject 3.42 (Debian 12), and the C structure in 3.50 (Debian 13).
    numbers = getattr(spec.enum_class, "__enum_values__", None)
    for number in numbers or range(spec.enum_class.minimum, spec.enum_class.maximum + 1):
        value = GObject.Value()
        value.init(spec.value_type)
        value.set_enum(number)
        yield Gst.value_serialize(value)


def own_pad_properties(factory):
    """Yields the name of each pad template with the properties that only its pads have."""
    for template in factory.create(None).get_pad_template_list():
        pads = GObject.GType(template.props.gtype)
        if pads.name.startswith("GstCudaTensor"):
            yield template.name_template, [spec for spec in GObject.list_properties(pads)
                                           if spec.owner_type == pads]


def plugin_names():
    registry = Gst.Registry.get()
    for feature in sorted(registry.get_feature_list_by_plugin("cudatensor"), key=Gst.Object.get_name):
        name = feature.get_name()
        yield f"element {name}"
        for template in feature.get_static_pad_templates():
            yield f"pad {name} {template.name_template}"
        for spec in own_properties(feature):
            yield f"property {name} {spec.name} {GObject.type_name(spec.value_type)}"
            is_own = GObject.type_name(spec.value_type).startswith("GstCudaTensor")
            if is_own and spec.value_type.is_a(GObject.TYPE_ENUM):
                yield from (f"choice {GObject.type_name(spec.value_type)} {nick}" for nick in nicks(spec))
        for template, specs in own_pad_properties(feature):
            yield from (f"property {name}.{template} {spec.name} {GObject.type_name(spec.value_type)}"
                        for spec in specs)


def fields_of(structure, kind):
    for i in range(structure.n_fields()):
        yield f"{kind} {structure.nth_field_name(i)}"


def run(description, take):
    """Plays a pipeline to its end. Calls `take` with each element message and the last sample."""
    pipeline = Gst.parse_launch(description)
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("sink").emit("pull-sample")
    bus = pipeline.get_bus()
    messages = []
    while (message := bus.timed_pop(5 * Gst.SECOND)) is not None:
        if message.type == Gst.MessageType.ELEMENT:
            messages.append(message.get_structure())
        if message.type in (Gst.MessageType.EOS, Gst.MessageType.ERROR):
            break
    yield from take(sample.get_buffer(), messages)
    pipeline.set_state(Gst.State.NULL)


def meta_fields(meta):
    def take(buffer, _):
        structure = buffer.get_custom_meta(meta).get_structure()
        yield f"meta {meta}"
        yield from fields_of(structure, f"field {meta}")
        own = {structure.nth_field_name(i) for i in range(structure.n_fields())}
        if structure.has_field("left-out"):
            of_slots = set(re.findall(r"([a-z][a-z-]+)\\*=\\*\(", structure.to_string())) - own
            yield from (f"field {meta} slots {name}" for name in of_slots)
    return take


def stream_names():
    def message_fields(_, messages):
        yield f"message {messages[0].get_name()}"
        yield from fields_of(messages[0], f"field {messages[0].get_name()}")
    source = "videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width=64,height=48 ! "
    yield from run(source + "cudahistogram roi=<0,0,8,8> interval=0 ! appsink name=sink",
                   message_fields)
    yield from run(source + "cudaletterbox ! video/x-raw,width=32,height=32 ! appsink name=sink",
                   meta_fields("GstCudaTensorGeometryMeta"))
    yield from run(source + "cudanormalize regions=tiles ! appsink name=sink",
                   meta_fields("GstCudaTensorBatchMeta"))
    yield from run("fakesrc num-buffers=1 sizetype=fixed sizemax=40 filltype=zero format=time ! other/tensors,"
                   "format=static,num_tensors=1,types=float32,dimensions=10:1:1,framerate=30/1 ! "
                   "cudadetections decoder=scores width=8 height=8 ! appsink name=sink",
                   meta_fields("GstCudaTensorDetectionsMeta"))


def header_names():
    """Returns functions, types, enumerators and fields of the C library's headers, without those that
    only the Python package of the same version may use."""
    text = "".join(path.read_text() for path in sorted((ROOT / "gst/library").glob("gst*.h")))
    text = re.sub(r"#ifndef __GI_SCANNER__.*?#endif", "", text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name in re.findall(r"\b(gst_cuda_tensor_\w+)\s*\(", text):
        yield f"function {name}"
    for body, name in re.findall(r"typedef enum\s*\{(.*?)\}\s*(\w+);", text, re.S):
        yield f"type {name}"
        for value in re.findall(r"\b(GST_CUDA_TENSOR_\w+)\b", body):
            yield f"enumerator {name} {value}"
    for body, name in re.findall(r"typedef struct\s*\{(.*?)\}\s*(\w+);", text, re.S):
        yield f"type {name}"
        for declaration in body.split(";"):
            pointer = re.search(r"\(\*(\w+)\)", declaration)
            fields = ([pointer.group(1)] if pointer else
                      re.findall(r"(\w+)\s*(?:\[\w+\])?\s*(?:,|$)", declaration.strip()))
            yield from (f"member {name} {field}" for field in fields if field != "_gst_reserved")
    for name in re.findall(r"#define (GST_\w+)", text):
        if not name.endswith("_H"):
            yield f"macro {name}"


def python_names():
    """Returns the public names of the package, from its source."""
    package = ROOT / "gst/python/gst_cudatensor"
    yield from names_of_package(package, "_*.py")
    yield from (name.replace("python ", "python archive.", 1)
                for name in names_of_package(package / "archive", "*.py"))


def names_of_package(folder, modules):
    init = ast.parse((folder / "__init__.py").read_text())
    exported = next(ast.literal_eval(node.value) for node in init.body
                    if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    nodes = [node for file in sorted(folder.glob(modules)) for node in ast.parse(file.read_text()).body]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    for node in nodes:
        if getattr(node, "name", "") in exported:
            yield from names_of_node(node, classes)


def members_of(node, classes):
    """The members of a class, with those that it inherits from the package's own."""
    for base in node.bases:
        if getattr(base, "id", "") in classes:
            yield from members_of(classes[base.id], classes)
    yield from node.body


def names_of_node(node, classes):
    if isinstance(node, ast.FunctionDef):
        yield f"python {node.name}({', '.join(a.arg for a in node.args.args + node.args.kwonlyargs)})"
        return
    yield f"python {node.name}"
    for member in members_of(node, classes):
        if isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            names = [a.arg for a in member.args.args + member.args.kwonlyargs if a.arg not in
                     ("self", "cls")]
            is_property = any(getattr(d, "id", "") == "property" for d in member.decorator_list)
            yield f"python {node.name}.{member.name}" + ("" if is_property else f"({', '.join(names)})")
        target = getattr(member, "target", None) or (getattr(member, "targets", [None])[0])
        if isinstance(target, ast.Name) and not target.id.startswith("_"):
            yield f"python {node.name}.{target.id}"


def option_names():
    for name in re.findall(r"^option\('(\w+)'", (ROOT / "meson_options.txt").read_text(), re.M):
        yield f"option {name}"


READS_VARIABLE = re.compile(r"""(?:environ\.get\(|environ\[|getenv\(|_VARIABLE = )['"](\w+)""")


def environment_names():
    """Returns the environment variables that the plugin, the library and the Python package read,
    except those for tests."""
    for path in [*(ROOT / "gst").rglob("*"), *(ROOT / "kernels").rglob("*")]:
        if path.suffix in (".cpp", ".cu", ".h", ".py"):
            names = set(READS_VARIABLE.findall(path.read_text())) - {"CUDATENSOR_FAULT"}
            yield from (f"environment {name}" for name in names)


def main():
    Gst.init(None)
    names = []
    for kind in (plugin_names, stream_names, header_names, python_names, option_names,
                 environment_names):
        names += sorted(set(kind()))
    text = "\n".join(names) + "\n"
    if sys.argv[1:] == ["--write"]:
        LIST.write_text(text)
        return
    frozen = set(LIST.read_text().splitlines())
    for name in sorted(frozen - set(names)):
        print(f"gone: {name}")
    for name in sorted(set(names) - frozen):
        print(f"new: {name}")
    sys.exit(frozen != set(names))


main()
