# SPDX-License-Identifier: LGPL-2.1-or-later
"""Detectors of colored rectangles, as ONNX models."""
import onnx.checker
import onnx.parser

# Input types and the conversion to NCHW with values from 0 to 255. Sizes are powers of two, so that
# the edges of boxes are exact in float32.
INPUTS = {
    "planar-float32": ("float[1,3,256,256] picture", "seen = Identity(picture)", 256, 256),
    "packed-uint8": ("uint8[1,256,512,3] picture", """
        samples = Cast<to = 1>(picture)
        seen = Transpose<perm = [0, 3, 1, 2]>(samples)""", 512, 256),
}

# Finds for each channel the first and last column and row with a sample above the threshold, half
# way between background and rectangle. Channels without one are left out. Releases of GStreamer
# count labels from 0 or from 1, so each label has two numbers.
MODEL = """
<ir_version: 8, opset_import: ["": 13]>
rectangles ({input}) => (float[1, n, 4] detection_boxes, float[1, n] detection_scores,
                         float[1, n] detection_classes, float[1] num_detections)
<float threshold = {{184.5}}, float white = {{255}}, int64 one = {{1}},
 float[4] size = {{{height}, {width}, {height}, {width}}}, float[1, 3] classes = {{1, 3, 5}}>
{{
  {see}
  above = Greater(seen, threshold)
  bright = Cast<to = 1>(above)
  columns = ReduceMax<axes = [2], keepdims = 0>(bright)
  rows = ReduceMax<axes = [3], keepdims = 0>(bright)
  first_column = ArgMax<axis = 2>(columns)
  first_row = ArgMax<axis = 2>(rows)
  last_column = ArgMax<axis = 2, select_last_index = 1>(columns)
  last_row = ArgMax<axis = 2, select_last_index = 1>(rows)
  end_column = Add(last_column, one)
  end_row = Add(last_row, one)
  begin = Concat<axis = 2>(first_row, first_column)
  end = Concat<axis = 2>(end_row, end_column)
  corners = Concat<axis = 2>(begin, end)
  pixels = Cast<to = 1>(corners)
  boxes = Div(pixels, size)
  peak = ReduceMax<axes = [0, 2, 3], keepdims = 0>(seen)
  found = Greater(peak, threshold)
  peaks = ReduceMax<axes = [2, 3], keepdims = 0>(seen)
  scores = Div(peaks, white)
  ones = Cast<to = 1>(found)
  num_detections = ReduceSum(ones)
  detection_boxes = Compress<axis = 1>(boxes, found)
  detection_scores = Compress<axis = 1>(scores, found)
  detection_classes = Compress<axis = 1>(classes, found)
}}
"""

# The .modelinfo file for GStreamer 1.28: the names of the tensors for its decoders, and no
# conversion of samples.
MODEL_INFO = """
[modelinfo]
version=1.0
group-id=ssd-mobilenet-v1-variant-1-out

[picture]
dir=input
type={type}
ranges=0,255;0,255;0,255

[detection_boxes]
dir=output
type=float32
dims=1,-1,4
id=ssd-mobilenet-v1-variant-1-out-boxes

[detection_scores]
dir=output
type=float32
dims=1,-1
id=ssd-mobilenet-v1-variant-1-out-scores

[detection_classes]
dir=output
type=float32
dims=1,-1
id=ssd-mobilenet-v1-variant-1-out-classes

[num_detections]
dir=output
type=float32
dims=1
id=generic-variant-1-out-count
"""


LABELS = ("red", "red", "green", "green", "blue", "blue")


def write_detectors(folder):
    """Writes all models with their .modelinfo files, and `labels`. Returns the paths of the
    models."""
    (folder / "labels").write_text("\n".join(LABELS))
    paths = []
    for name, (declared, see, width, height) in INPUTS.items():
        model = onnx.parser.parse_model(
            MODEL.format(input=declared, see=see, width=width, height=height))
        onnx.checker.check_model(model, full_check=True)
        paths.append(folder / f"{name}.onnx")
        paths[-1].write_bytes(model.SerializeToString())
        info = MODEL_INFO.format(type=name.split("-")[1])
        paths[-1].with_suffix(".onnx.modelinfo").write_text(info)
    return paths
