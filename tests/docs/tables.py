#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the tables of docs/elements.md and README.md against the built plugin, as gst-inspect-1.0
shows it, and those of docs/building.md against Meson's options.

The elements, their formats, properties, defaults and choices, the fields of the histogram's message
and of the metas, and the options must be the same on both sides.

usage: tables.py BUILD_ROOT
"""
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = (ROOT / "docs/elements.md").read_text()
# The properties of GstObject, and those of GstAggregator except latency.
FOREIGN = {"name", "parent", "emit-signals", "force-live", "ignore-inactive-pads",
           "min-upstream-latency", "start-time", "start-time-selection"}
TENSOR_TYPES = {"float32", "float16", "float64", "bfloat16", "uint8", "int8", "uint16", "int16", "uint32",
                "int32", "uint64", "int64", "static", "flexible"}
problems = []


def check(what, documented, built):
    if documented != built:
        problems.append(f"{what}: documented {documented!r}, built {built!r}")


def output_of(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


def section(title, page=ELEMENTS):
    """Returns the text below a heading, up to the next one."""
    match = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", page, re.M | re.S)
    return match.group(1) if match else sys.exit(f"section '{title}' does not exist")


def rows(text):
    """Returns the cells of the tables in a text, without the header rows."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
            for line in lines if not re.match(r"\|(-+\|)+$", line)][1:]


def code(cell):
    return re.findall(r"`([^`]*)`", cell)


def list_text(default):
    """Converts '< (double)0, (double)1 >' to the notation of the tables."""
    numbers = [float(n) for n in re.findall(r"\)([-+.e\d]+)", default)]
    return "<" + ",".join("1/255" if abs(n * 255 - 1) < 1e-9 else f"{n:g}" for n in numbers) + ">"


def default_text(description):
    choice = re.search(r'Default: -?\d+, "([^"]*)"', description)
    if choice:
        return choice.group(1)
    text = re.search(r"Default:\s+(\S.*?)\s*$", description, re.M)
    if not text:
        return "<>"
    value = text.group(1).strip('"')
    return list_text(value) if "<" in value else value


def properties_of(element):
    """name → (default, nicks of its choices)"""
    text = output_of("gst-inspect-1.0", element).split("Element Properties:\n")[1]
    text = text.split("Element Signals:\n")[0]
    found = {}
    for name, description in re.findall(r"^  ([\w-]+) *: (.*?)(?=^  \S|\Z)", text + "\n", re.M | re.S):
        nicks = re.findall(r"^ +\(-?\d+\): (\S+)", description, re.M)
        found[name] = (default_text(description), nicks)
    return {name: value for name, value in found.items() if name not in FOREIGN}


def check_properties(title, built):
    """Compares the table of a section with the properties in `built`."""
    documented = {code(row[0])[0]: ((code(row[1]) or [""])[0], code(row[2]))
                  for row in rows(section(title)) if re.match(r"`[\w-]+`$", row[0])}
    check(f"properties in '{title}'", sorted(documented), sorted(built))
    for name in documented.keys() & built.keys():
        check(f"default of {title} {name}", documented[name][0], built[name][0])
        missing = set(built[name][1]) - set(documented[name][1])
        if not name.startswith("active-") and missing:
            problems.append(f"{title} {name}: {sorted(missing)} are not documented")


def formats_of(element, direction):
    text = output_of("gst-inspect-1.0", element)
    template = re.search(rf"{direction} template.*?(?=(SINK|SRC) template|has no clocking)", text,
                         re.S).group(0)
    return set(re.findall(r"\(string\)([A-Za-z0-9_]+)", template)) - TENSOR_TYPES


def check_formats(element):
    """The formats above the element's table ("Input: … Output: …") and those of the pads."""
    text = section(element).split("\n|")[0]
    if "Input: the formats of `cudanormalize`" in text:
        text += section("cudanormalize").split("\n|")[0]
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    known = set.union(*(formats_of(e, d) for e in element_names() for d in ("SINK", "SRC")))
    named = {f for f in known if re.search(rf"\b{f}\b", text)}
    built = formats_of(element, "SINK") | formats_of(element, "SRC")
    check(f"formats of {element}", sorted(named), sorted(built))


def element_names():
    return sorted(re.findall(r"^  (\w+): ", output_of("gst-inspect-1.0", "cudatensor"), re.M))


def fields_of_table():
    """The fields of the message in the documentation, as name → type."""
    fields = {}
    for row in rows(section("The histogram message")):
        kind = "guint64 array" if "GST_TYPE_ARRAY" in row[1] else row[1]
        fields.update({name: kind for name in code(row[0])})
    return fields


def fields_of_message():
    """The fields of a real message with a region, as name → type."""
    text = output_of("gst-launch-1.0", "-m", "videotestsrc", "num-buffers=1", "!", "cudahistogram",
                     "roi=<0,0,8,8>", "!", "fakesink")
    message = re.search(r"\(element\): cudahistogram, (.*);", text).group(1)
    names = {"uint": "guint"}
    return {name: names.get(kind, kind) + (" array" if array else "")
            for name, kind, array in re.findall(r"([\w-]+)=\((\w+)\)(<)?", message)}


META = """
import sys
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(f"{sys.argv[1]} ! appsink name=sink")
pipeline.set_state(Gst.State.PLAYING)
sample = pipeline.get_by_name("sink").emit("pull-sample")
print(sample.get_buffer().get_custom_meta(sys.argv[2]).get_structure().to_string())
pipeline.set_state(Gst.State.NULL)
"""


def fields_of_meta(element, meta, source="videotestsrc num-buffers=1"):
    text = output_of(sys.executable, "-c", META, f"{source} ! {element}", meta)
    return sorted(set(re.findall(r"([\w-]+)\\*=\\*\(", text)))


def check_geometry_fields():
    built = fields_of_meta("cudaletterbox", "GstCudaTensorGeometryMeta")
    text = section("Mapping a detection back").split("```")[0]
    named = {name for name in code(text) if re.fullmatch(r"[a-z]+(-[a-z]+)*", name)}
    check("fields of the geometry meta", sorted(named), built)


def check_batch_fields():
    meta = "GstCudaTensorBatchMeta"
    built = set(fields_of_meta("cudatensormux", meta) +
                fields_of_meta("cudanormalize regions=tiles", meta))
    # Fields that come from metas, which this pipeline does not have.
    of_metas = {"roi-type", "roi-id", "parent-id", "detection-type", "detection-id", "confidence"}
    # Fields for DeepStream's batches.
    of_metas |= {"source-id", "source-width", "source-height"}
    named = {name for row in rows(section("The batch meta")) for name in code(row[0])}
    check("fields of the batch meta", sorted(named | {"slots", "left-out"}),
          sorted(built | of_metas))


CLASSES = ("fakesrc num-buffers=1 sizetype=fixed sizemax=40 filltype=zero format=time ! other/tensors,format=static,"
           "num_tensors=1,types=float32,dimensions=10:1:1,framerate=30/1")


def check_detection_fields():
    built = fields_of_meta("cudadetections decoder=scores width=8 height=8", "GstCudaTensorDetectionsMeta", CLASSES)
    named = {name for row in rows(section("The detections meta")) for name in code(row[0])}
    check("fields of the detections meta", sorted(named), built)


def own_properties(element, shared):
    """The element's own properties by the section with their table. cudanormalize and cudatensormux
    have the same properties for tensors and for regions."""
    own = {n: v for n, v in properties_of(element).items() if n not in shared}
    other = {"cudanormalize": "cudatensormux", "cudatensormux": "cudanormalize"}.get(element)
    if not other:
        return {element: own}
    others = properties_of(other)
    alike = {n: v for n, v in own.items() if n in others}
    for name, value in alike.items():
        check(f"{element} {name}", value, others[name])
    if element == "cudatensormux":
        return {element: {n: v for n, v in own.items() if n not in others}}
    check("properties of cudanormalize alone", ["clip-hop", "frame-step", "frames-per-tensor", "video-direction"],
          sorted(set(own) - set(alike)))
    of_regions = {code(row[0])[0] for row in rows(section("Regions"))}
    return {"Regions": {n: v for n, v in alike.items() if n in of_regions},
            element: {n: v for n, v in own.items() if n not in of_regions}}


def check_options(build_root):
    """The options of this project in a build folder, with the defaults of meson_options.txt."""
    text = (ROOT / "meson_options.txt").read_text()
    built = {name: value or "empty" for name, value in
             re.findall(r"^option\('(\w+)'.*?\bvalue : '([^']*)'", text, re.M | re.S)}
    known = json.loads((build_root / "meson-info/intro-buildoptions.json").read_text())
    check("names of options", sorted(built),
          sorted(option["name"] for option in known
                 if option["section"] == "user" and ":" not in option["name"]))
    page = (ROOT / "docs/building.md").read_text()
    documented = {code(row[0])[0]: row[1].strip("`")
                  for row in rows(section("Meson options", page))}
    check("options", documented, built)


def main():
    elements = element_names()
    pages = {"elements.md": section("Elements"),
             "README.md": section("Elements", (ROOT / "README.md").read_text())}
    for page, text in pages.items():
        check(f"elements in {page}", sorted({code(row[0])[0] for row in rows(text)}), elements)
    # These have no backend, and the properties of cudainference have other meanings.
    without_backend = {"cudarestore", "cudainference"}
    shared = set.intersection(*(set(properties_of(e)) for e in elements if e not in without_backend))
    common = {n: v for n, v in properties_of("cudanormalize").items() if n in shared}
    check_properties("Properties of every element", common)
    for element in elements:
        common = {"qos"} if element in without_backend else shared
        for title, properties in own_properties(element, common).items():
            check_properties(title, properties)
        check_formats(element)
    check("fields of the message", fields_of_table(), fields_of_message())
    check_geometry_fields()
    check_batch_fields()
    check_detection_fields()
    check_options(Path(sys.argv[1]))
    print("\n".join(problems) or "the documents match the plugin")
    sys.exit(1 if problems else 0)


main()
