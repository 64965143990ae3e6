// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings/filewatch.h"

#include <sys/stat.h>

#include <filesystem>

namespace luminance {
namespace {

constexpr int64_t kSettled = G_USEC_PER_SEC;
// Polling finds changes in file systems without events (NFS, FUSE) and of links to other folders.
constexpr int64_t kPoll = 5 * G_USEC_PER_SEC;

FileWatch::Reading *gathering = nullptr;

/// Returns the version of the file that a link leads to: Kubernetes changes the link to a folder
/// above it.
FileWatch::Version version_of(const std::string &file) {
  struct stat is;
  if (stat(file.c_str(), &is) != 0) return {};
  return {static_cast<int64_t>(is.st_dev),
          static_cast<int64_t>(is.st_ino),
          is.st_size,
          is.st_mtim.tv_sec,
          is.st_mtim.tv_nsec,
          is.st_ctim.tv_sec,
          is.st_ctim.tv_nsec};
}

}  // namespace

FileWatch::Reading::Reading(FileWatch &watch) : watch_(watch) { gathering = this; }

FileWatch::Reading::~Reading() {
  gathering = nullptr;
  watch_.known_ = watch_.latest_ = std::move(files_);
  watch_.is_new_ = true;
}

void FileWatch::note(const std::string &file) {
  if (gathering == nullptr) return;
  std::error_code error;  // ignored: the working folder is gone
  const std::string path = std::filesystem::absolute(file, error);
  // If several settings name the file, the version before the first reading counts.
  if (gathering->files_.count(path) == 0) gathering->files_[path] = version_of(path);
}

bool FileWatch::has_changed(int64_t now) {
  if (is_new_) monitor_folders();
  const bool is_unsettled = latest_ != known_;
  if (!is_new_ && !is_unsettled && !is_stirred_ && now - looked_ < kPoll) return false;
  is_new_ = is_stirred_ = false;
  looked_ = now;
  std::map<std::string, Version> files;
  for (const auto &[file, version] : known_) files[file] = version_of(file);
  if (files != latest_) {
    latest_ = std::move(files);
    changed_ = now;
  }
  if (latest_ == known_ || now - changed_ < kSettled) return false;
  known_ = latest_;
  return true;
}

/// Monitors folders, not files: editors replace files, and a link above a file may change. If a
/// monitor cannot be created, because the machine has too many, the next poll finds the changes.
void FileWatch::monitor_folders() {
  std::map<std::string, Monitor> folders;
  for (const auto &[file, version] : known_) {
    const std::string folder = std::filesystem::path(file).parent_path();
    if (const auto found = folders_.find(folder); found != folders_.end()) {
      folders.insert(folders_.extract(found));
    } else if (folders.count(folder) == 0) {
      g_autoptr(GFile) path = g_file_new_for_path(folder.c_str());
      GFileMonitor *monitor = g_file_monitor_directory(path, G_FILE_MONITOR_NONE, nullptr, nullptr);
      if (monitor == nullptr) continue;
      g_signal_connect(monitor, "changed", G_CALLBACK(on_event), this);
      folders.emplace(folder, Monitor(monitor, g_object_unref));
    }
  }
  folders_ = std::move(folders);
}

void FileWatch::on_event(GFileMonitor *, GFile *, GFile *, GFileMonitorEvent, gpointer self) {
  static_cast<FileWatch *>(self)->is_stirred_ = true;
}

}  // namespace luminance
