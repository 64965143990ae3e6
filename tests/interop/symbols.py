#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""symbols.py DESCRIPTION LIBRARY HEADER...

Checks that the library exports exactly the functions that its headers declare, and that the lists below
contain them. Names may be added to SINCE_0_1; removing one requires a new soname. DESCRIPTION is that of
packaging/abi.sh: it names functions in the lists, and all of them until the first release.
"""
import re
import subprocess
import sys
from pathlib import Path

SINCE_0_1 = """
acquire data_type_get_name data_type_get_size error_quark frames_close frames_get_failed_source
frames_get_info frames_get_type frames_new frames_next frames_ref frames_unref geometry_map_box
geometry_map_point
get_buffer get_context get_data get_data_type get_device_type get_device_id get_geometry get_info get_left_out
get_n_dims get_n_slots get_shape get_size get_slot get_slot_times get_stream get_strides get_type
histogram_add histogram_parse is_histogram is_read_only new new_from_sample ref release
prefer_gpu_decoders share_primary_context stated_length to_dlpack to_dlpack_versioned unref
""".split()
# For the Python package of the same version.
PRIVATE = ["count_buffers", "frames_count_buffers", "python_capsule_destructor"]


def main():
    description, library, *headers = sys.argv[1:]
    shown = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True,
                           text=True, stdout=subprocess.PIPE).stdout
    exported = sorted(line.split()[0].split("@")[0] for line in shown.splitlines())
    declarations = "".join(Path(header).read_text() for header in headers)
    declared = sorted(re.findall(r"^GST_CUDA_TENSOR_API\b[^;]*?(gst_cuda_tensor_\w+)\s*\(",
                                 declarations, re.M))
    listed = sorted("gst_cuda_tensor_" + name for name in SINCE_0_1 + PRIVATE)
    for what, names in ("exported", exported), ("declared", declared):
        if names != listed:
            sys.exit(f"{what}, but not listed: {sorted(set(names) - set(listed))}; "
                     f"listed, but not {what}: {sorted(set(listed) - set(names))}")
    text = Path(description).read_text()
    described = set(re.findall(r"<elf-symbol name='(\w+)' type='func-type'", text))
    if not described or described - set(listed) or "not released yet" in text and described != set(listed):
        sys.exit(f"{description} differs from the lists: {sorted(described ^ set(listed))}; record it with "
                 "packaging/abi.sh --record")
    print(f"{len(listed)} functions")


main()
