// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests files of models from libFuzzer. The first byte of an input selects the name of the file. If
// a folder on the command line is empty, it is first filled with the files of corpus.h.
#include <glib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/modelconfig/corpus.h"
#include "tests/modelconfig/fault.h"

namespace {

using cudatensor::model_files;

void write_seeds(const std::filesystem::path &folder) {
  for (size_t i = 0; i < model_files().size(); ++i)
    std::ofstream(folder / std::to_string(i), std::ios::binary)
        << static_cast<char>(i) << model_files()[i].contents;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  for (int i = 1; i < *argc; ++i) {
    const std::filesystem::path folder((*argv)[i]);
    if (std::filesystem::is_directory(folder) && std::filesystem::is_empty(folder))
      write_seeds(folder);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  const auto &file = model_files()[data[0] % model_files().size()];
  const std::string contents(reinterpret_cast<const char *>(data) + 1, size - 1);
  const std::string fault = cudatensor::fault_of(file.name, contents);
  if (fault.empty()) return 0;
  std::fprintf(stderr, "%s: %s\n", file.name, fault.c_str());
  std::abort();
}
