// SPDX-License-Identifier: LGPL-2.1-or-later
// Where ONNX Runtime's library is looked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "gst/onnxruntime/libraryfiles.h"
#include "gst/util/ref.h"

namespace cudatensor::ort {
namespace {

namespace fs = std::filesystem;

/// A Python whose folder is first in PATH, with packages.
class PythonTest : public testing::Test {
 protected:
  PythonTest()
      : path_(g_getenv("PATH")),
        variable_(g_getenv(kLibraryVariable) != nullptr ? g_getenv(kLibraryVariable) : "") {
    const Ref<gchar> made(g_dir_make_tmp("python-XXXXXX", nullptr));
    root_ = made.get();
    write("bin/python3");
    fs::permissions(root_ / "bin/python3", fs::perms::owner_all);
    g_setenv("PATH", ((root_ / "bin").string() + ":" + path_).c_str(), TRUE);
    g_unsetenv(kLibraryVariable);
  }
  ~PythonTest() override {
    fs::remove_all(root_);
    g_setenv("PATH", path_.c_str(), TRUE);
    if (!variable_.empty()) g_setenv(kLibraryVariable, variable_.c_str(), TRUE);
  }

  /// Writes an empty file in the packages. Returns its path.
  std::string write(const std::string &name) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "";
    return (root_ / name).string();
  }

  const std::string path_, variable_;
  fs::path root_;
};

const char *const kPackages = "lib/python3.11/site-packages/";

TEST_F(PythonTest, LoaderComesFirst) {
  const std::string wheel =
      write(std::string(kPackages) + "onnxruntime/capi/libonnxruntime.so.1.22.1");
  write(std::string(kPackages) + "onnxruntime/capi/libonnxruntime_providers_shared.so");
  const LibraryFiles files = library_files("");
  ASSERT_EQ(files.names.size(), 2u + 47 + 1);
  EXPECT_EQ(files.names[0], "libonnxruntime.so.1");
  EXPECT_EQ(files.names[1], "libonnxruntime.so");
  EXPECT_EQ(files.names[2], "libonnxruntime.so.1.63");
  EXPECT_EQ(files.names[48], "libonnxruntime.so.1.17");
  EXPECT_EQ(files.names[49], wheel);
  EXPECT_NE(files.text.find(root_.string()), std::string::npos) << files.text;
}

TEST_F(PythonTest, WhatIsNamedIsTheOnlyOne) {
  EXPECT_EQ(library_files("/a/b.so").names, std::vector<std::string>{"/a/b.so"});
  g_setenv(kLibraryVariable, "/c/d.so", TRUE);
  EXPECT_EQ(library_files("").names, std::vector<std::string>{"/c/d.so"});
  EXPECT_EQ(library_files("/a/b.so").names, std::vector<std::string>{"/a/b.so"});
  g_setenv(kLibraryVariable, "", TRUE);
  EXPECT_GT(library_files("").names.size(), 2u);
}

TEST_F(PythonTest, LibrariesOfNvidiaLieBesideTheWheel) {
  const std::string packages = kPackages;
  const std::string wheel = write(packages + "onnxruntime/capi/libonnxruntime.so.1.22.1");
  const std::string cublas = write(packages + "nvidia/cublas/lib/libcublas.so.13");
  const std::string light = write(packages + "nvidia/cublas/lib/libcublasLt.so.13");
  const std::string runtime = write(packages + "nvidia/cu13/lib/libcudart.so.13");
  write(packages + "nvidia/cu13/lib/other.txt");
  EXPECT_EQ(nvidia_files(wheel), (std::vector<std::string>{runtime, light, cublas}));
}

}  // namespace
}  // namespace cudatensor::ort
