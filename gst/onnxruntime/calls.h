// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls of ONNX Runtime's functions, with failures as exceptions and owners of its objects.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "gst/onnxruntime/api.h"

namespace cudatensor::ort {

/// A call that has failed, with ONNX Runtime's words.
class Failure : public std::runtime_error {
 public:
  Failure(ErrorCode code, const std::string &text) : std::runtime_error(text), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// The functions of a library.
class Api {
 public:
  explicit Api(const Table *table) : table_(table) {}

  /// Returns a function that does not return a status.
  template <class Function>
  Function function(Entry<Function> entry) const {
    return reinterpret_cast<Function>(table_->functions[entry.position]);
  }

  /// Calls a function. Throws Failure.
  template <class... Params, class... Args>
  void call(Entry<Status *(*)(Params...)> entry, Args... args) const {
    if (Status *status = function(entry)(args...)) fail(status);
  }

 private:
  [[noreturn]] void fail(Status *status) const;

  const Table *table_;
};

template <class Object>
struct Releaser {
  const Api *api;
  void operator()(Object *object) const { api->function(kRelease<Object>)(object); }
};

/// Owns an object of the library.
template <class Object>
using Owned = std::unique_ptr<Object, Releaser<Object>>;

/// Calls a function whose last parameter returns a new object. Throws Failure.
template <class Object, class... Params, class... Args>
Owned<Object> make(const Api &api, Entry<Status *(*)(Params...)> entry, Args... args) {
  Object *object = nullptr;
  api.call(entry, args..., &object);
  return {object, {&api}};
}

/// Calls a function whose last parameter returns a number or a pointer. Throws Failure.
template <class Result, class... Params, class... Args>
Result get(const Api &api, Entry<Status *(*)(Params...)> entry, Args... args) {
  Result result = {};
  api.call(entry, args..., &result);
  return result;
}

}  // namespace cudatensor::ort
