// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/onnxruntime/library.h"

#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "gst/onnxruntime/libraryfiles.h"
#include "gst/util/errors.h"
#include "gst/util/log.h"
#include "kernels/immortal.h"

namespace cudatensor::ort {
namespace {

GstDebugLevel level_of(LoggingLevel severity) {
  switch (severity) {
    case LoggingLevel::verbose: return GST_LEVEL_LOG;
    case LoggingLevel::info: return GST_LEVEL_DEBUG;
    case LoggingLevel::warning: return GST_LEVEL_INFO;
    default: return GST_LEVEL_WARNING;
  }
}

/// Errors are warnings here: what fails for them posts an element error.
void write_log(void *, LoggingLevel severity, const char *category, const char *, const char *where,
               const char *message) {
  GST_CAT_LEVEL_LOG(log_category(), level_of(severity), nullptr, "%s: %s (%s)", category, message,
                    where);
}

/// The least severe messages that the log asks for: making messages takes time.
LoggingLevel wanted_level() {
  const GstDebugLevel level = gst_debug_category_get_threshold(log_category());
  if (level >= GST_LEVEL_LOG) return LoggingLevel::verbose;
  return level >= GST_LEVEL_DEBUG ? LoggingLevel::info : LoggingLevel::warning;
}

/// The libraries by their handles. Those that share a file share it.
struct Opened {
  std::mutex mutex;
  std::map<void *, std::unique_ptr<Library>> libraries;
};

Opened &opened() {
  static Opened &all = *new Opened;
  return all;
}

[[noreturn]] void refuse(const std::string &name, const std::string &cause) {
  throw CodedError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, name + " " + cause);
}

std::unique_ptr<Library> make_library(const std::string &name, void *handle) {
  const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, kGetApiBase));
  if (get_base == nullptr) refuse(name, std::string("has no function ") + kGetApiBase);
  const ApiBase &base = *get_base();
  const Table *table = base.get_api(kApiVersion);
  if (table == nullptr)
    refuse(name, std::string("is ONNX Runtime ") + base.get_version_string() +
                     ", which is too old: 1.17 or newer is needed");
  try {
    return std::make_unique<Library>(name, base, table);
  } catch (const Failure &failure) {
    refuse(name, std::string("cannot be used: ") + failure.what());
  }
}

/// Returns null if there is no such library, with the loader's reason.
const Library *try_library(const std::string &name, std::string &reason) {
  void *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = dlerror();
    return nullptr;
  }
  std::unique_ptr<Library> &library = opened().libraries[handle];
  if (library == nullptr) {
    library = make_library(name, handle);
    GST_INFO("ONNX Runtime %s: %s", library->version().c_str(), name.c_str());
  }
  return library.get();
}

}  // namespace

Library::Library(std::string path, const ApiBase &base, const Table *table)
    : path_(std::move(path)), version_(base.get_version_string()), api_(table) {
  env_ = get<Env *>(api_, kCreateEnvWithCustomLogger, write_log, nullptr, wanted_level(),
                    "gst-cudatensor");
}

std::vector<std::string> Library::providers() const {
  char **names = nullptr;
  int count = 0;
  api_.call(kGetAvailableProviders, &names, &count);
  const std::vector<std::string> providers(names, names + count);
  api_.call(kReleaseAvailableProviders, names, count);
  return providers;
}

const Library &open_library(const std::string &path) {
  const LibraryFiles files = library_files(path);
  const std::lock_guard<std::mutex> lock(opened().mutex);
  std::optional<CodedError> refusal;
  std::string reason;
  for (const std::string &name : files.names) {
    try {
      if (const Library *library = try_library(name, reason)) return *library;
    } catch (const CodedError &error) {
      if (!refusal) refusal = error;
    }
  }
  if (refusal) throw CodedError(*refusal);
  const bool is_one = files.names.size() == 1;
  throw CodedError(
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
      "ONNX Runtime's library is not found" + (is_one ? " (" + reason + ")" : std::string()) +
          "; it was looked for as " + files.text +
          (is_one ? "" : ". Install it, for example with pip install onnxruntime, or set library"));
}

}  // namespace cudatensor::ort
