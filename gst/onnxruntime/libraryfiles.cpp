// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/libraryfiles.h"

#include <glib.h>
#include <glob.h>

#include <algorithm>

#include "gst/util/ref.h"

namespace cudatensor::ort {
namespace {

// Distributions name the library by its version only.
constexpr int kNewestMinor = 63, kOldestMinor = 17;
constexpr const char *kWheelPattern = "/onnxruntime/capi/libonnxruntime.so.1.*";

/// Returns the files that match a pattern, in reverse order: the newest version first.
std::vector<std::string> matches(const std::string &pattern) {
  std::vector<std::string> files;
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::reverse(files.begin(), files.end());
  return files;
}

std::string parent_of(const std::string &path) {
  const Ref<gchar> folder(g_path_get_dirname(path.c_str()));
  return folder.get();
}

void append(std::vector<std::string> &to, const std::vector<std::string> &from) {
  to.insert(to.end(), from.begin(), from.end());
}

std::vector<std::string> loader_names() {
  std::vector<std::string> names = {"libonnxruntime.so.1", "libonnxruntime.so"};
  for (int minor = kNewestMinor; minor >= kOldestMinor; --minor)
    names.push_back("libonnxruntime.so.1." + std::to_string(minor));
  return names;
}

/// Returns the folders that begin the paths of Python's packages. A virtual environment's
/// python3 is a link out of it, which must not be followed.
std::vector<std::string> python_prefixes() {
  const Ref<gchar> python(g_find_program_in_path("python3"));
  std::vector<std::string> prefixes;
  if (python == nullptr) return prefixes;
  prefixes.push_back(parent_of(parent_of(python.get())));
  const bool is_system = prefixes.front() == "/usr" || prefixes.front() == "/";
  if (is_system) prefixes.emplace_back("/usr/local");
  if (is_system) prefixes.push_back(std::string(g_get_home_dir()) + "/.local");
  return prefixes;
}

std::vector<std::string> wheel_libraries() {
  std::vector<std::string> files;
  for (const std::string &prefix : python_prefixes())
    for (const char *folder : {"/lib/python3*/site-packages", "/lib64/python3*/site-packages",
                               "/lib/python3*/dist-packages"})
      append(files, matches(prefix + folder + kWheelPattern));
  return files;
}

}  // namespace

LibraryFiles library_files(const std::string &path) {
  if (!path.empty()) return {{path}, "library=" + path};
  const char *variable = g_getenv(kLibraryVariable);
  if (variable != nullptr && *variable != '\0')
    return {{variable}, std::string(kLibraryVariable) + "=" + variable};
  LibraryFiles files = {loader_names(),
                        "libonnxruntime.so.1, libonnxruntime.so, libonnxruntime.so.1." +
                            std::to_string(kNewestMinor) + " to 1." + std::to_string(kOldestMinor)};
  append(files.names, wheel_libraries());
  for (const std::string &prefix : python_prefixes())
    files.text += ", " + prefix + "/lib/python3*/*-packages" + kWheelPattern;
  return files;
}

std::vector<std::string> nvidia_files(const std::string &library) {
  const std::string packages = parent_of(parent_of(parent_of(library)));
  std::vector<std::string> files;
  for (const char *name : {"cudart", "nvJitLink", "nvrtc-builtins", "nvrtc", "cublasLt", "cublas",
                           "curand", "cufft", "cudnn_graph", "cudnn_ops", "cudnn_cnn", "cudnn_adv",
                           "cudnn_engines_*", "cudnn_heuristic", "cudnn"})
    append(files, matches(packages + "/nvidia/*/lib/lib" + name + ".so.*"));
  return files;
}

}  // namespace cudatensor::ort
