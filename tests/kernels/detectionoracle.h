// SPDX-License-Identifier: LGPL-2.1-or-later
// A second implementation of the decoders, from their definitions: every value of a network is a
// float here, and one slot follows the other.
#pragma once

#include <string>
#include <vector>

#include "kernels/objects.h"
#include "random.h"

namespace cudatensor {

/// Outputs of a network, with its parameters.
struct NetworkCase {
  CandidateParams params;
  ObjectParams objects;
  std::vector<std::vector<float>> values;  ///< of each output
};

std::string text_of(const NetworkCase &network);
std::string text_of(const std::vector<FoundObject> &objects);

/// Returns a network with random shapes and outputs: ties, NaN, infinities, boxes that overlap, and
/// slots without an object.
NetworkCase random_network(Random &random, Decoder decoder);

/// Writes an output in its type.
std::vector<uint8_t> bytes_of(const NetworkCase &network, size_t output);

namespace oracle {

std::vector<FoundObject> objects_of(const NetworkCase &network, int64_t slot);

}  // namespace oracle
}  // namespace cudatensor
