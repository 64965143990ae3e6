# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tests/run.sh, after pipelines/setup.sh: Ray, and other packages for the tests of the
# archive.

ray_wheels=(ray==2.60.0 pyarrow==26.0.1 pandas==3.1.1 numpy==2.4.6 onnxruntime==1.23.2
  # Packages that these import:
  fsspec==2026.9.0 click==8.5.1 filelock==4.2.12 jsonschema==4.26.0
  jsonschema-specifications==2025.9.1 referencing==0.37.0 rpds-py==2026.9.1 attrs==26.1.0
  msgpack==1.2.4 packaging==26.3 protobuf==7.36.2 PyYAML==6.0.4 requests==2.34.2 urllib3==2.8.0
  idna==3.20 charset-normalizer==3.5.2 certifi==2026.10.19.post1 python-dateutil==2.9.0.post0
  six==1.17.0 tzdata==2026.6 typing_extensions==4.16.0 flatbuffers==25.9.23
  # Packages that an adapter is for:
  nemo-curator==1.4.0 cosmos-xenna==0.2.0 av==18.1.0 loguru==0.7.3)

# need_ray: installs them in a Python in build-ray/. Fails if one cannot be downloaded.
need_ray() {
  # shellcheck disable=SC2154  # root is set by pipelines/setup.sh
  need_wheels "$root/build-ray" "${ray_wheels[@]}" || return 1
  export CUDATENSOR_TEST_RAY=$root/build-ray/bin/python
}
