// SPDX-License-Identifier: LGPL-2.1-or-later
// bench-element alone [--element NAME] [--cupti FILE] [--quick]
// bench-element streams|chains --clip FILE [--cupti FILE] [--quick]
// Measures the overhead of a frame besides its kernel, and prints Markdown tables.
//   alone      each element between two bare pads, with the same frame in CUDAMemory
//   streams    NVDEC with and without cudanormalize after it, 1 to 8 streams in this process
//   chains     GStreamer's and DeepStream's decoder, with cudanormalize or nvvideoconvert after it
//   --element  run only elements whose names begin with NAME
//   --clip     MP4 file with H.264
//   --cupti    path of libcupti.so: print calls to the driver and the GPU's timeline instead of times
//   --quick    measure one short round
#include <gst/gst.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "elementalone.h"
#include "elementstreams.h"

namespace {

struct Options {
  std::string mode, element, clip, cupti;
  bool quick = false;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool more = i + 1 < argc;
    if (strcmp(argv[i], "--quick") == 0)
      options.quick = true;
    else if (strcmp(argv[i], "--element") == 0 && more)
      options.element = argv[++i];
    else if (strcmp(argv[i], "--clip") == 0 && more)
      options.clip = argv[++i];
    else if (strcmp(argv[i], "--cupti") == 0 && more)
      options.cupti = argv[++i];
    else
      options.mode = argv[i];
  }
  if (options.mode != "alone" && options.mode != "streams" && options.mode != "chains")
    throw std::runtime_error(
        "usage: bench-element alone [--element NAME] [--cupti FILE] [--quick]\n"
        "       bench-element streams|chains --clip FILE [--cupti FILE] [--quick]");
  return options;
}

void run(const Options &options) {
  std::unique_ptr<Trace> trace;
  if (!options.cupti.empty()) trace = std::make_unique<Trace>(options.cupti);
  if (options.mode == "alone")
    measure_alone(options.element, options.quick ? 5 : 50, trace.get());
  else if (options.mode == "chains")
    measure_chains(options.clip, options.quick, trace.get());
  else if (trace)
    trace_streams(options.clip, *trace);
  else
    measure_streams(options.clip, options.quick);
}

}  // namespace

int main(int argc, char **argv) {
  gst_init(nullptr, nullptr);
  setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception &error) {
    fprintf(stderr, "bench-element: %s\n", error.what());
    return 1;
  }
}
