// SPDX-License-Identifier: LGPL-2.1-or-later
// gst-cudatensor-model-config FILE prints the launch line with the settings of a model's file.
#include <cstdio>
#include <exception>

#include "gst/modelconfig/modelconfig.h"

int main(int argc, char **argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr,
                 "usage: gst-cudatensor-model-config FILE\n"
                 "Prints cudanormalize with the properties that model-config=FILE sets.\n");
    return 2;
  }
  try {
    const cudatensor::ModelConfig config = cudatensor::read_model_config(argv[1]);
    if (!config.open_size.empty())
      std::fprintf(stderr, "%s; add width and height\n", config.open_size.c_str());
    if (!config.open_layout.empty())
      std::fprintf(stderr, "%s; add layout\n", config.open_layout.c_str());
    const std::string line = cudatensor::launch_line("cudanormalize", config);
    return std::puts(line.c_str()) < 0 ? 1 : 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "gst-cudatensor-model-config: %s\n", error.what());
    return 1;
  }
}
