// SPDX-License-Identifier: LGPL-2.1-or-later
#include "models.h"

#include <glib/gstdio.h>

#include "tests/modelconfig/corpus.h"

namespace fuzz {
namespace {

/// The folder of the files, which is removed when the process ends.
class Folder {
 public:
  Folder() : path_(g_dir_make_tmp("fuzz-models-XXXXXX", nullptr)) {
    if (path_ == nullptr) g_error("a temporary folder cannot be created");
  }
  ~Folder() {
    for (const cudatensor::ModelFile &file : cudatensor::model_files())
      g_unlink(path_of(file.name).c_str());
    g_rmdir(path_);
    g_free(path_);
  }
  std::string path_of(const std::string &name) const { return std::string(path_) + "/" + name; }

 private:
  gchar *path_;
};

}  // namespace

std::string model_file(Run &run) {
  static const Folder folder;
  Random &random = run.random;
  cudatensor::ModelFile file = random.pick(cudatensor::model_files());
  if (!random.one_in(4)) {
    cudatensor::RandomBits bits(random.bits());
    cudatensor::damage(bits, file.contents);
  }
  // Readers select by name as well.
  if (random.one_in(20)) file.name = random.pick(cudatensor::model_files()).name;
  const std::string path = folder.path_of(file.name);
  const auto size = static_cast<gssize>(file.contents.size());
  if (!g_file_set_contents(path.c_str(), file.contents.data(), size, nullptr))
    g_error("%s cannot be written", path.c_str());
  return path;
}

}  // namespace fuzz
