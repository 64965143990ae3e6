// SPDX-License-Identifier: LGPL-2.1-or-later
// Changes of files that are written in various ways. The test sets the time; only the kernel's
// notifications take real time.
#include "settings/filewatch.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "settings/commandline.h"

namespace luminance {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSecond = G_USEC_PER_SEC;

class Watched : public ::testing::Test {
 protected:
  Watched() {
    gchar *name = g_dir_make_tmp("luminance-XXXXXX", nullptr);
    folder_ = name;
    g_free(name);
  }
  ~Watched() override { fs::remove_all(folder_); }

  /// Writes the file with a new size each time.
  fs::path write(const fs::path &name) {
    std::ofstream(folder_ / name) << std::string(++writes_, '#');
    return folder_ / name;
  }
  void read(const std::vector<std::string> &files) {
    const FileWatch::Reading reading(watch_);
    for (const std::string &file : files) FileWatch::note(file);
  }
  /// Returns whether the watch reports a change without the kernel's notifications, by its periodic
  /// look at the files.
  bool changes_within(double seconds) {
    const int64_t end = now_ + static_cast<int64_t>(seconds * kSecond);
    for (; now_ < end; now_ += kSecond / 5)
      if (watch_.has_changed(now_)) return true;
    return false;
  }

  fs::path folder_;
  size_t writes_ = 0;
  FileWatch watch_;
  int64_t now_ = 100 * kSecond;
};

TEST_F(Watched, NothingChangesByItself) {
  EXPECT_FALSE(changes_within(20)) << "nothing is watched";
  read({write("a"), write("b"), folder_ / "missing"});
  EXPECT_FALSE(changes_within(20));
  FileWatch::note(write("c"));  // No Reading collects it.
  EXPECT_FALSE(changes_within(20));
}

TEST_F(Watched, AChangeIsReportedOnceItHasSettled) {
  const fs::path file = write("a");
  read({file});
  changes_within(0.2);
  write("a");
  EXPECT_FALSE(changes_within(5.4));
  for (int i = 0; i < 20; ++i) {  // a slow writer
    write("a");
    EXPECT_FALSE(changes_within(0.8)) << i;
  }
  EXPECT_TRUE(changes_within(2));
  EXPECT_FALSE(changes_within(20)) << "reported twice";
  fs::permissions(file, fs::perms::owner_read);
  EXPECT_TRUE(changes_within(8)) << "what could not be read may be readable now";
}

TEST_F(Watched, AReplacedFileIsReported) {
  const fs::path file = write("a");
  read({file});
  changes_within(6);
  fs::rename(write("a.new"), file);
  EXPECT_TRUE(changes_within(8));
  fs::remove(file);  // for a moment
  EXPECT_FALSE(changes_within(5.8));
  write("a");
  EXPECT_TRUE(changes_within(8));
  EXPECT_FALSE(changes_within(8));
}

TEST_F(Watched, AFileThatGoesAndComesBackIsReported) {
  const fs::path file = write("a");
  read({file});
  changes_within(6);
  fs::rename(file, folder_ / "elsewhere");
  EXPECT_TRUE(changes_within(8));
  EXPECT_FALSE(changes_within(20));
  fs::rename(folder_ / "elsewhere", file);
  EXPECT_TRUE(changes_within(8)) << "the same file as before, but the failure was told";
}

/// As in a Kubernetes volume, only a link to a folder beside the file changes.
TEST_F(Watched, AChangedLinkAboveTheFileIsReported) {
  for (const char *version : {"..1", "..2"}) {
    fs::create_directory(folder_ / version);
    write(fs::path(version) / "cameras.toml");
  }
  fs::create_directory_symlink("..1", folder_ / "..data");
  fs::create_symlink("..data/cameras.toml", folder_ / "cameras.toml");
  read({folder_ / "cameras.toml"});
  EXPECT_FALSE(changes_within(6));
  fs::create_directory_symlink("..2", folder_ / "..data_tmp");
  fs::rename(folder_ / "..data_tmp", folder_ / "..data");
  fs::remove_all(folder_ / "..1");
  EXPECT_TRUE(changes_within(8));
  EXPECT_FALSE(changes_within(8));
}

TEST_F(Watched, TheKernelReportsAChangeAtOnce) {
  const fs::path file = write("a");
  read({file});
  EXPECT_FALSE(watch_.has_changed(now_));
  fs::rename(write("a.new"), file);
  // The test's time does not reach the next periodic look at the files.
  bool has_changed = false;
  const gint64 end = g_get_monotonic_time() + 60 * kSecond;
  for (int i = 0; !has_changed && i < 2000 && g_get_monotonic_time() < end; ++i) {
    g_main_context_iteration(nullptr, FALSE);
    g_usleep(kSecond / 100);
    watch_.has_changed(now_ + i);
    has_changed = watch_.has_changed(now_ + 2 * kSecond + i);
  }
  EXPECT_TRUE(has_changed);
}

/// A file that could not be read may appear later.
TEST_F(Watched, FilesAreWatchedEvenIfReadingFails) {
  const std::string config = folder_ / "c.toml";
  std::ofstream(config) << "[web]\ntoken-file = 'token'\n[[cameras]]\nuri = 'rtsp://a'\n";
  const auto read = [&] {
    const FileWatch::Reading reading(watch_);
    std::string arguments[] = {"luminance-monitor", "--config", config};
    char *pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data()};
    return read_command_line(3, pointers);
  };
  EXPECT_THROW(read(), SettingsError);
  EXPECT_FALSE(changes_within(8));
  write("token");
  EXPECT_TRUE(changes_within(8));
  EXPECT_EQ(read().settings.web.token, "#");
  EXPECT_FALSE(changes_within(8));
  std::ofstream(config, std::ios::app) << "max-fps = 1\n";
  EXPECT_TRUE(changes_within(8));
  EXPECT_EQ(read().settings.cameras.at(0).max_fps, 1u);
  std::ofstream(folder_ / "token") << "other";
  EXPECT_TRUE(changes_within(8));
}

}  // namespace
}  // namespace luminance
