#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# gpu.sh [--build DIR] [--runtime DIR] [--cvcuda DIR] [--dali DIR] [--deepstream DIR] [--quick]
#        [--write]
# Times our kernels and other software on this machine's GPU, and prints tables. The other software
# is NPP and CUB from the CUDA toolkit, PyTorch, CV-CUDA, DALI and OpenCV from Python, and DeepStream's
# libraries. If one of them is missing, the output says why. Builds bench-gpu first, or uses the
# folders that tests/gpu/pack created on another machine:
#   --build DIR     folder of the build with bench-gpu
#   --runtime DIR   folder of the libraries that bench-gpu needs
#   --cvcuda DIR    folder in which CV-CUDA's wheel is unpacked
#   --dali DIR      folder in which DALI's wheel, and those that it needs, are unpacked
#   --deepstream DIR  folder with DeepStream's libraries, as in the folder _libs of the wheel
#                   nvidia-deepstream-videodecode-cu13; they take NPP from the CUDA toolkit
#   --quick         run few rounds, and measure no GPU times
#   --write         write the tables to BENCHMARKS.md
# The output of all programs is in build-bench-results/. Fails if a result differs from the CPU's.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/gpu/machine.sh

build='' runtime='' cvcuda='' dali='' deepstream='' quick='' write=''
results=$root/build-bench-results
bad_usage() { sed -n '3,/^set/s/^# //p' "$root/tests/bench/gpu.sh" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes; shift; continue ;;
    --write) write=yes; shift; continue ;;
    --build | --runtime | --cvcuda | --dali | --deepstream) [ $# -gt 1 ] || bad_usage ;;
    *) bad_usage ;;
  esac
  case $1 in
    --build) build=$(realpath -e "$2") ;;
    --runtime) runtime=$(realpath -e "$2") ;;
    --cvcuda) cvcuda=$(realpath -e "$2") ;;
    --dali) dali=$(realpath -e "$2") ;;
    --deepstream) deepstream=$(realpath -e "$2") ;;
  esac
  shift 2
done

# find_nvcc: adds the toolkit's compiler to PATH and sets `toolkit`, to nothing if there is none.
# Installs nothing.
find_nvcc() {
  local dir
  toolkit=''
  for dir in /usr/local/cuda/bin /usr/local/cuda-*/bin; do PATH=$PATH:$dir; done
  dir=$(command -v nvcc) || return 0
  toolkit=$(dirname "$(dirname "$(realpath "$dir")")")
}

# find_cupti: sets `cupti` to a folder with include/cupti.h and lib*/libcupti.so*, in the toolkit or
# in a Python wheel, or to nothing.
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

# libcupti DIR: prints the path of the library in DIR
libcupti() {
  local file
  for file in "$1"/lib64/libcupti.so* "$1"/lib/libcupti.so*; do
    [ ! -e "$file" ] || { realpath "$file"; return; }
  done
  return 1
}

# compile NAME NVCC_OPTION...: compiles a program or a library of ours for this GPU. If that fails,
# writes the reason to NAME.why.
compile() {
  local out=$results/bin/$1
  shift
  nvcc -O2 -std=c++17 -arch="sm_$(gpu compute_cap | tr -d .)" -o "$out" "$@" >"$out.log" 2>&1 ||
    echo "does not compile: $(grep -m 1 error "$out.log" || tail -n 1 "$out.log")" >"$out.why"
}

compile_kernel_times() {
  local lib
  if [ -z "$cupti" ]; then
    echo 'CUPTI was not found' >"$results/bin/libkerneltimes.so.why"
    return
  fi
  lib=$(libcupti "$cupti")
  compile libkerneltimes.so tests/bench/kerneltimes.cpp -shared -Xcompiler=-fPIC \
    "-I$cupti/include" -Xlinker "$lib" -Xlinker -rpath="${lib%/*}"
}

compile_peers() {
  find_nvcc
  if [ -z "$toolkit" ]; then
    echo 'nvcc was not found' | tee "$results/bin/"{npp,cub,deepstream,libkerneltimes.so}.why \
      >/dev/null
    return
  fi
  find_cupti
  compile_kernel_times &
  compile npp tests/bench/peers/npp.cu \
    -Xlinker -rpath="$toolkit/lib64:$toolkit/targets/x86_64-linux/lib" \
    -lnppc -lnppial -lnppicc -lnppidei -lnppig -lnppist &
  compile cub tests/bench/peers/cub.cu &
  compile deepstream tests/bench/peers/deepstream.cu -I. &
  wait
}

# pass OUT SECONDS COMMAND...: writes the rows of a program to OUT and, if it fails, the reason to
# OUT.why.
pass() {
  local out=$results/rows/$1 log=$results/$1.log seconds=$2 status=0
  shift 2
  timeout -k 10 "$seconds" "$@" "$results" >"$out" 2>"$log" </dev/null || status=$?
  [ "$status" -eq 0 ] || echo "exit status $status: $(grep . "$log" | tail -n 1)" >"$out.why"
}

# times NAME SECONDS COMMAND...: times calls, then kernels in a separate process, because profiling
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

# peer NAME: times a compiled program, or passes on why it was not compiled
peer() {
  if [ -e "$results/bin/$1.why" ]; then
    cp "$results/bin/$1.why" "$results/rows/$1.called.why"
  else
    times "$1" 60 "$results/bin/$1"
  fi
}

# DeepStream's folder holds copies of other libraries, so it is in the path of this program only.
time_deepstream() {
  local libraries=$toolkit/lib64:$toolkit/targets/x86_64-linux/lib
  LD_LIBRARY_PATH=${deepstream:+$deepstream:}$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    peer deepstream
}

time_all() {
  times ours 120 "${start[@]}" "$build/tests/bench/bench-gpu"
  peer npp
  peer cub
  times pytorch 150 python3 tests/bench/peers/pytorch.py
  times opencv 60 python3 tests/bench/peers/opencv.py
  [ -z "$cvcuda" ] || export PYTHONPATH=$cvcuda${PYTHONPATH:+:$PYTHONPATH}
  times cv_cuda 90 python3 tests/bench/peers/cv_cuda.py
  [ -z "$dali" ] || export PYTHONPATH=$dali${PYTHONPATH:+:$PYTHONPATH}
  times dali 60 python3 tests/bench/peers/dali.py
  time_deepstream
}

need_gpu benchmarks
need_build "$build" "$runtime"
describe "$build"
rm -rf "$results"
mkdir -p "$results/bin" "$results/rows"
export PYTHONDONTWRITEBYTECODE=1
begin=$SECONDS
compile_peers
[ -n "$quick" ] || printf 'compiling the peers: %d s\n' $((SECONDS - begin)) >&2
time_all
# The command without the folders, which do not affect the results.
printf '%s: %s; %s, %s.\n' "\`tests/bench/gpu.sh${quick:+ --quick}\`" "$machine" "$commit" \
  "$(date +%F)" >"$results/head"
python3 tests/bench/tables.py "$results" ${write:+BENCHMARKS.md}
