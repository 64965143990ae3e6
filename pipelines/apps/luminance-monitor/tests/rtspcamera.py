# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera that sends MJPEG over RTSP, only to the user `viewer`. Prints its port.

usage: rtspcamera.py PORT PASSWORD
"""
import sys

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstRtspServer', '1.0')
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402

VIDEO = ('( videotestsrc is-live=true pattern=ball ! '
         'video/x-raw,format=I420,width=320,height=240,framerate=10/1 ! jpegenc ! '
         'rtpjpegpay name=pay0 )')

Gst.init(None)
server = GstRtspServer.RTSPServer(address='127.0.0.1', service=sys.argv[1])

token = GstRtspServer.RTSPToken()
token.set_string('media.factory.role', 'viewer')
access = GstRtspServer.RTSPAuth()
access.add_basic(GstRtspServer.RTSPAuth.make_basic('viewer', sys.argv[2]), token)
server.set_auth(access)

allowed = GstRtspServer.RTSPPermissions()
allowed.add_permission_for_role('viewer', 'media.factory.access', True)
allowed.add_permission_for_role('viewer', 'media.factory.construct', True)
factory = GstRtspServer.RTSPMediaFactory(launch=VIDEO, shared=True)
factory.set_permissions(allowed)
server.get_mount_points().add_factory('/live', factory)

if server.attach(None) == 0:
    sys.exit('cannot listen')
print(f'port {server.get_bound_port()}', flush=True)
GLib.MainLoop().run()
