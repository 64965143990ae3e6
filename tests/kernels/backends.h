// SPDX-License-Identifier: LGPL-2.1-or-later
// The backends under test, and the one place that knows where their memory is.
#pragma once

#include <memory>
#include <vector>

#include "pictures.h"

namespace cudatensor {

/// A backend, and how pictures of the host's memory get to it and back.
class Machine {
 public:
  Machine(std::string name, std::unique_ptr<Backend> backend)
      : name_(std::move(name)), backend_(std::move(backend)) {}

  const std::string &name() const { return name_; }
  Backend *operator->() const { return backend_.get(); }

  template <class Operation, class In, class Out>
  void run(Operation &operation, const In &in, Out &out) const {
    operation.run(in.view(), out.view());
  }
  void count(HistogramOperation &operation, const InputPicture &in, Bins &bins) const {
    operation.run(in.view(), bins);
  }

 private:
  std::string name_;
  std::unique_ptr<Backend> backend_;
};

/// A test that is run once with the CPU backend and once with CUDA.
class KernelTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  /// The parameter's backend in all its ways to spread the work, which must not show in any byte.
  const std::vector<std::unique_ptr<Machine>> &machines() const { return machines_; }
  const Machine &machine() const { return *machines_.front(); }
  const Machine &any(Random &random) const { return *machines_[random.bits() % machines_.size()]; }

  /// Runs what `prepare` makes of a backend on every machine: twice, the first time on another
  /// picture, whose traces in scratch memory must not show either.
  template <class Prepare, class In, class Out>
  void expect_all(const Prepare &prepare, const In &other, const In &in, Out &out) const {
    for (const auto &machine : machines_) {
      SCOPED_TRACE(machine->name());
      const auto operation = prepare(*machine);
      machine->run(*operation, other, out);
      expect_one(*machine, *operation, in, out);
    }
  }

  template <class Operation, class In, class Out>
  static void expect_one(const Machine &machine, Operation &operation, const In &in, Out &out) {
    out.reset();
    machine.run(operation, in, out);
    EXPECT_TRUE(out.matches());
  }

 private:
  std::vector<std::unique_ptr<Machine>> machines_;
};

/// Registers a fixture's tests for every backend.
#define CUDATENSOR_FOR_EVERY_BACKEND(fixture)                         \
  INSTANTIATE_TEST_SUITE_P(, fixture, testing::Values("cpu", "cuda"), \
                           [](const auto &info) { return info.param; })

}  // namespace cudatensor
