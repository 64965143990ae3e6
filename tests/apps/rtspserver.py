# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cameras that send H.264 over RTSP, ten frames of 320x240 per second. Prints its port.

/live keeps sending. /stall stops after FRAMES frames with the connection open. At /die, the server
exits after FRAMES frames. /resize sends 160x160 after FRAMES frames. This applies to every
connection.
"""
import os

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

FRAMES = 20
SIZE = "video/x-raw,format=I420,width={},height={},framerate=10/1"
VIDEO = ("( videotestsrc is-live=true pattern=ball ! capsfilter name=size caps="
         + SIZE.format(320, 240) + " ! x264enc tune=zerolatency speed-preset=ultrafast "
         "key-int-max=10 ! rtph264pay name=pay0 config-interval=1 )")


def stall(_size):
    return Gst.PadProbeReturn.DROP


def die(_size):
    os._exit(0)


def resize(size):
    size.set_property("caps", Gst.Caps.from_string(SIZE.format(160, 160)))
    return Gst.PadProbeReturn.REMOVE


def after_frames(act):
    """Calls act(capsfilter) for each buffer after FRAMES of them."""
    def configure(_factory, media):
        size, count = media.get_element().get_by_name("size"), [0]

        def on_frame(_pad, _info):
            count[0] += 1
            return act(size) if count[0] > FRAMES else Gst.PadProbeReturn.OK
        size.get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, on_frame)
    return configure


def main():
    Gst.init(None)
    server = GstRtspServer.RTSPServer(address="127.0.0.1", service="0")
    for name, act in ("live", None), ("stall", stall), ("die", die), ("resize", resize):
        factory = GstRtspServer.RTSPMediaFactory(launch=VIDEO, shared=True)
        if act is not None:
            factory.connect("media-configure", after_frames(act))
        server.get_mount_points().add_factory(f"/{name}", factory)
    server.attach(None)
    print(server.get_bound_port(), flush=True)
    GLib.MainLoop().run()


main()
