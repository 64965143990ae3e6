#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gpu.sh [--build DIR] [--runtime DIR] [--cvcuda DIR] [--quick] [--write]
# Times our kernels beside their peers on this machine's GPU, and prints tables: NPP and CUB where
# the toolkit has them, PyTorch and CV-CUDA where Python has. A peer that is not here is a line that
# says why. Builds first, or takes what tests/gpu/pack has made elsewhere:
#   --build DIR     bench-gpu in DIR
#   --runtime DIR   its libraries in DIR
#   --cvcuda DIR    CV-CUDA's wheel, unpacked in DIR
#   --quick         few rounds, and no kernel times
#   --write         puts the tables into BENCHMARKS.md
# What programs print is in build-bench-results/. Fails where ours differs from the CPU's.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/machine.sh

build='' runtime='' cvcuda='' quick='' write=''
results=$root/build-bench-results
bad_usage() { sed -n '3,/^set/s/^# //p' "$root/tests/bench/gpu.sh" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes; shift; continue ;;
    --write) write=yes; shift; continue ;;
    --build | --runtime | --cvcuda) [ $# -gt 1 ] || bad_usage ;;
    *) bad_usage ;;
  esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --cvcuda) cvcuda=$(realpath -e "$2") ;;
  esac
  shift 2
done

# find_nvcc: puts the toolkit's compiler on PATH, and sets `toolkit`. Installs nothing.
find_nvcc() {
  local dir
  toolkit=''
  for dir in /usr/local/cuda/bin /usr/local/cuda-*/bin; do PATH=$PATH:$dir; done
  dir=$(command -v nvcc) || return 0
  toolkit=$(dirname "$(dirname "$(realpath "$dir")")")
}

# find_cupti: sets `cupti`, a folder with include/cupti.h and lib*/libcupti.so*, the toolkit's or
# that of a Python wheel.
find_cupti() {
  local dir wheels
  wheels=$(python3 -c 'import importlib.util as u
print(*u.find_spec("nvidia").submodule_search_locations, sep="\n")' 2>/dev/null) || wheels=''
  cupti=''
  for dir in "$toolkit/extras/CUPTI" "$toolkit" "$toolkit/targets/x86_64-linux" \
    ${wheels:+"$wheels/cu13" "$wheels/cuda_cupti"}; do
    if [ -e "$dir/include/cupti.h" ] && libcupti "$dir" >/dev/null; then
      cupti=$dir
      return
    fi
  done
}

# libcupti DIR: the library in it
libcupti() {
  local file
  for file in "$1"/lib64/libcupti.so* "$1"/lib/libcupti.so*; do
    [ ! -e "$file" ] || { realpath "$file"; return; }
  done
  return 1
}

# compile NAME NVCC_OPTION...: a program or a library of ours for this GPU; leaves the reason where
# that fails.
compile() {
  local out=$results/bin/$1
  shift
  nvcc -O2 -std=c++17 -arch="sm_$(gpu compute_cap | tr -d .)" -o "$out" "$@" >"$out.log" 2>&1 ||
    echo "does not compile: $(grep -m 1 error "$out.log" || tail -n 1 "$out.log")" >"$out.why"
}

compile_kernel_times() {
  local lib
  if [ -z "$cupti" ]; then
    echo 'there is no CUPTI' >"$results/bin/libkerneltimes.so.why"
    return
  fi
  lib=$(libcupti "$cupti")
  compile libkerneltimes.so tests/bench/kerneltimes.cpp -shared -Xcompiler=-fPIC \
    "-I$cupti/include" -Xlinker "$lib" -Xlinker -rpath="${lib%/*}"
}

compile_peers() {
  find_nvcc
  if [ -z "$toolkit" ]; then
    echo 'there is no nvcc' | tee "$results/bin/"{npp,cub,libkerneltimes.so}.why >/dev/null
    return
  fi
  find_cupti
  compile_kernel_times &
  compile npp tests/bench/peers/npp.cu \
    -Xlinker -rpath="$toolkit/lib64:$toolkit/targets/x86_64-linux/lib" \
    -lnppc -lnppial -lnppicc -lnppidei -lnppig -lnppist &
  compile cub tests/bench/peers/cub.cu &
  wait
}

# pass OUT SECONDS COMMAND...: rows into OUT; how the program ends, where it fails, beside it.
pass() {
  local out=$results/rows/$1 log=$results/$1.log seconds=$2 status=0
  shift 2
  timeout -k 10 "$seconds" "$@" "$results" >"$out" 2>"$log" </dev/null || status=$?
  [ "$status" -eq 0 ] || echo "ends with status $status: $(grep . "$log" | tail -n 1)" >"$out.why"
}

# times NAME SECONDS COMMAND...: calls, then kernels, in a process of their own: whoever profiles
# makes calls slower.
times() {
  local name=$1 seconds=$2 begin=$SECONDS library=$results/bin/libkerneltimes.so
  shift 2
  pass "$name.called" "$seconds" "$@" ${quick:+--quick}
  if [ -z "$quick" ] && [ -e "$library" ]; then
    pass "$name.kernel" "$seconds" "$@" --kernel-times "$library"
  fi
  [ -n "$quick" ] || printf '%s: %d s\n' "$name" $((SECONDS - begin)) >&2
}

# peer NAME: what was compiled, or why it was not
peer() {
  if [ -e "$results/bin/$1.why" ]; then
    cp "$results/bin/$1.why" "$results/rows/$1.called.why"
  else
    times "$1" 60 "$results/bin/$1"
  fi
}

time_all() {
  times ours 120 "${start[@]}" "$build/tests/bench/bench-gpu"
  peer npp
  peer cub
  times pytorch 150 python3 tests/bench/peers/pytorch.py
  [ -z "$cvcuda" ] || export PYTHONPATH=$cvcuda${PYTHONPATH:+:$PYTHONPATH}
  times cv_cuda 60 python3 tests/bench/peers/cv_cuda.py
}

need_gpu timed
need_build "$build" "$runtime"
describe "$build"
rm -rf "$results"
mkdir -p "$results/bin" "$results/rows"
export PYTHONDONTWRITEBYTECODE=1
begin=$SECONDS
compile_peers
[ -n "$quick" ] || printf 'compiling the peers: %d s\n' $((SECONDS - begin)) >&2
time_all
# Folders have no part in what is measured.
printf '%s: %s; %s, %s.\n' "\`tests/bench/gpu.sh${quick:+ --quick}\`" "$machine" "$commit" \
  "$(date +%F)" >"$results/head"
python3 tests/bench/tables.py "$results" ${write:+BENCHMARKS.md}
