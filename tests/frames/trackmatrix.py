# SPDX-License-Identifier: LGPL-2.1-or-later
"""The orientation of MP4 files."""
import struct


def set_matrix(path, matrix):
    """Sets the matrix of the only track of an MP4 file: (0, 1, -1, 0) turns it by 90° clockwise, as
    of a phone that is held upright."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4
    at += 52 if data[at] == 1 else 40  # by the version
    a, b, c, d = (each << 16 for each in matrix)
    data[at:at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
