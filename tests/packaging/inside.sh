#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# inside.sh
# Run by bare.sh in a bare root, in the folder with the wheel, the clips and these tests: installs the
# wheel with pip and decodes the clips. The file sources has their names, and the file expected the
# output of decode.py for them with the system's GStreamer.
set -euo pipefail
here=$(dirname "$0")
. "$here/checks.sh"
mapfile -t sources <sources
python=venv/bin/python

decode() { "$python" "$here/decode.py" "$@"; }
decodes_alike() { diff <(grep " $1\$" expected) <(decode "$1"); }

# fetches CERTIFICATE|-: checks whether the first clip is decoded through a server
fetches() {
  "$python" "$here/serve.py" . "$1" "$python" "$here/decode.py" "{uri}/${sources[0]}" >fetched
  [ "$(cut -d' ' -f1-2 fetched)" = "$(head -n 1 expected | cut -d' ' -f1-2)" ]
}

trusts() {
  mkdir -p /etc/ssl/certs
  cp certificate.pem /etc/ssl/certs/ca-certificates.crt
  fetches certificate-key.pem
}

# Eight processes start at once, so all of them write the registry first.
at_once() {
  local i status=0 processes=()
  for i in 1 2 3 4 5 6 7 8; do
    XDG_CACHE_HOME=$PWD/cache decode "${sources[0]}" >"at-once-$i" &
    processes+=($!)
  done
  for i in "${processes[@]}"; do wait "$i" || status=1; done
  for i in 1 2 3 4 5 6 7 8; do cmp "at-once-$i" <(head -n 1 expected) || status=1; done
  [ "$(find cache -type f | wc -l)" = 1 ] && return "$status"
}

# As root, GStreamer could change the mode of a path that is no folder.
needs_no_cache() {
  local before after
  before=$(stat -c '%n %a %F' /dev/null /dev/* /)
  HOME=/proc decode "${sources[0]}" >uncached && after=$(stat -c '%n %a %F' /dev/null /dev/* /) &&
    cmp uncached <(head -n 1 expected) && diff <(echo "$before") <(echo "$after")
}

python3 -m venv --clear venv
start=$(date +%s%N)
check 'pip installs the wheel' venv/bin/pip --disable-pip-version-check install --no-index ./*.whl
echo "from pip install to the first tensor: $(decode --since "$start" "${sources[0]}")"
check 'the report of the package' "$python" -m gst_cudatensor
for source in "${sources[@]}"; do
  check "$source has the tensors of the system's GStreamer" decodes_alike "$source"
done
check 'no cache folder can be made' needs_no_cache
check 'eight processes without a registry' at_once
check 'HTTP' fetches -
check 'HTTPS without a trusted certificate is refused' fails fetches certificate-key.pem
check 'HTTPS' trusts
check 'GST_CUDATENSOR_SYSTEM=1 without a system'"'"'s library' fails env GST_CUDATENSOR_SYSTEM=1 \
  "$python" -c 'import gst_cudatensor'
