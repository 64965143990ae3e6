// SPDX-License-Identifier: LGPL-2.1-or-later
#include "detectionoracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/detectiondecoder.h"

namespace cudatensor {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Values = std::vector<float>;

int64_t count_of(const OutputDesc &desc) {
  int64_t count = 1;
  for (const int64_t side : desc.shape) count *= side;
  return count;
}

float random_score(Random &random, int busy) {
  const int kind = random.integer(0, 99);
  if (kind < 2) return kNan;
  if (kind < 3) return kInf;
  if (kind < 4) return -kInf;
  if (kind < 40) return static_cast<float>(random.integer(0, 8)) / 8.0f;  // ties
  return static_cast<float>(random.chance(busy) ? random.real(0.0, 1.0) : random.real(0.0, 0.3));
}

float random_logit(Random &random, int busy) {
  const int kind = random.integer(0, 99);
  if (kind < 1) return kNan;
  if (kind < 2) return random.chance(50) ? kInf : -kInf;
  if (kind < 30) return static_cast<float>(random.integer(-6, 6)) / 2.0f;
  return static_cast<float>(random.chance(busy) ? random.real(-2.0, 6.0) : random.real(-9.0, -2.0));
}

/// Fills axis values of a box: pixels up to `scale`, in steps, so that boxes coincide.
float random_side(Random &random, double scale) {
  const int kind = random.integer(0, 199);
  if (kind == 0) return kNan;
  if (kind == 1) return random.chance(50) ? kInf : -kInf;
  if (kind == 2) return random.chance(50) ? 3e38f : 0.0f;
  if (kind < 100) return static_cast<float>(random.integer(-1, 8) * scale / 8.0);
  return static_cast<float>(random.real(-0.1 * scale, 1.1 * scale));
}

float random_type(Random &random, OutputType type) {
  const bool is_float = type == OutputType::float32 || type == OutputType::float16;
  if (is_float && random.chance(5)) return random.chance(50) ? kNan : kInf;
  if (type == OutputType::float32 && random.chance(5)) return 3e9f;
  if (is_float && random.chance(10)) return 2.75f;
  return static_cast<float>(random.integer(0, 5));
}

float random_count(Random &random, OutputType type, int64_t most) {
  if (type == OutputType::float32 && random.chance(20))
    return random.pick<float>({kNan, kInf, -1.0f, 1e30f});
  return static_cast<float>(random.between(0, std::min<int64_t>(most + 2, 100)));
}

/// The number that a type holds.
float rounded(float value, OutputType type) {
  return type == OutputType::float16 ? to_float(to_half(value)) : value;
}

template <class Value>
void add(NetworkCase &network, OutputType type, std::vector<int64_t> shape, const Value &value) {
  const OutputDesc desc = {type, std::move(shape)};
  Values values(static_cast<size_t>(count_of(desc)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = rounded(value(static_cast<int64_t>(i)), type);
  network.params.outputs.push_back(desc);
  network.values.push_back(std::move(values));
}

OutputType random_float(Random &random) {
  return random.chance(40) ? OutputType::float16 : OutputType::float32;
}

OutputType random_number(Random &random) {
  return random.pick<OutputType>({OutputType::float32, OutputType::float16, OutputType::uint8,
                                  OutputType::int8, OutputType::uint16, OutputType::int16,
                                  OutputType::uint32, OutputType::int32, OutputType::uint64,
                                  OutputType::int64});
}

void add_outputs(Random &random, NetworkCase &network) {
  const int64_t n = random.integer(1, 3),
                a = random.pick<int64_t>({0, 1, 5, 40, 127, 128, 129, 300, 1100});
  const int64_t c = random.integer(1, 6);
  const int busy = random.pick<int>({0, 3, 50, 100});
  const auto score = [&] { return random_score(random, busy); };
  const auto share = [&](int64_t) { return random_side(random, 1.0); };
  const OutputType type = random_float(random);
  switch (network.params.decoder) {
    case Decoder::yolo:
      return add(network, type, {n, 4 + c, a}, [&](int64_t i) {
        return i / a % (4 + c) < 4 ? random_side(random, 64.0) : score();
      });
    case Decoder::yolov5:
      return add(network, type, {n, a, 5 + c},
                 [&](int64_t i) { return i % (5 + c) < 4 ? random_side(random, 64.0) : score(); });
    case Decoder::end2end:
      return add(network, type, {n, a, 6}, [&](int64_t i) {
        if (i % 6 == 5) return random_type(random, type);
        return i % 6 < 4 ? random_side(random, 64.0) : score();
      });
    case Decoder::detr:
    case Decoder::detr_softmax:
      add(network, type, {n, a, c + 1}, [&](int64_t) { return random_logit(random, busy); });
      return add(network, random_float(random), {n, a, 4}, share);
    case Decoder::ssd: {
      const OutputType types = random_number(random), count = random_number(random);
      add(network, type, {n, a, 4}, share);
      add(network, types, {n, a}, [&](int64_t) { return random_type(random, types); });
      add(network, random_float(random), {n, a}, [&](int64_t) { return score(); });
      if (random.chance(50))
        add(network, count, {n}, [&](int64_t) { return random_count(random, count, a); });
      return;
    }
    case Decoder::scores:
      return add(network, type, {n, std::max<int64_t>(a, 1)},
                 [&](int64_t) { return random_logit(random, busy); });
    case Decoder::probabilities:
      return add(network, type, {n, std::max<int64_t>(a, 1)}, [&](int64_t) { return score(); });
  }
}

template <class T>
void put(std::vector<uint8_t> &bytes, T value) {
  const auto *const at = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), at, at + sizeof(value));
}

void put(std::vector<uint8_t> &bytes, OutputType type, float x) {
  switch (type) {
    case OutputType::float32: return put(bytes, x);
    case OutputType::float16: return put(bytes, to_half(x));
    case OutputType::uint8: return put(bytes, static_cast<uint8_t>(x));
    case OutputType::int8: return put(bytes, static_cast<int8_t>(x));
    case OutputType::uint16: return put(bytes, static_cast<uint16_t>(x));
    case OutputType::int16: return put(bytes, static_cast<int16_t>(x));
    case OutputType::uint32: return put(bytes, static_cast<uint32_t>(x));
    case OutputType::int32: return put(bytes, static_cast<int32_t>(x));
    case OutputType::uint64: return put(bytes, static_cast<uint64_t>(x));
    case OutputType::int64: return put(bytes, static_cast<int64_t>(x));
  }
}

}  // namespace

std::string text_of(const NetworkCase &network) {
  std::string text = name_of(network.params.decoder);
  for (const OutputDesc &output : network.params.outputs)
    text += " " + text_of(output) + " of type " + std::to_string(static_cast<int>(output.type));
  const ObjectParams &p = network.objects;
  text += " confidence " + std::to_string(p.confidence) + " iou " + std::to_string(p.iou) +
          " max-objects " + std::to_string(p.max_objects);
  if (p.class_agnostic) text += " class-agnostic";
  for (const int type : p.classes) text += " class " + std::to_string(type);
  return text;
}

std::string text_of(const std::vector<FoundObject> &objects) {
  std::string text;
  for (const FoundObject &o : objects) {
    char line[200];
    std::snprintf(line, sizeof(line), "%d %.9g <%.9g %.9g %.9g %.9g>\n", o.type, o.score, o.box[0],
                  o.box[1], o.box[2], o.box[3]);
    text += line;
  }
  return text;
}

NetworkCase random_network(Random &random, Decoder decoder) {
  NetworkCase network = {{decoder, {}, 0.0}, {}, {}};
  ObjectParams &p = network.objects;
  p.confidence = random.pick<double>({0.0, 0.25, 0.25, 0.5, 0.3, 0.999, 1.0});
  if (random.chance(30)) p.confidence = random.real(0.0, 1.0);
  p.iou = random.pick<double>({0.0, 0.45, 0.7, 1.0});
  p.max_objects = random.pick<int>({1, 3, 10, 300});
  p.class_agnostic = random.chance(30);
  if (random.chance(30)) p.classes = {1, 3};
  p.width = random.integer(1, 700);
  p.height = random.integer(1, 700);
  network.params.confidence = p.confidence;
  add_outputs(random, network);
  return network;
}

std::vector<uint8_t> bytes_of(const NetworkCase &network, size_t output) {
  std::vector<uint8_t> bytes;
  for (const float value : network.values[output])
    put(bytes, network.params.outputs[output].type, value);
  return bytes;
}

// ------------------------------------------------------------------------------------ decoders

namespace oracle {
namespace {

bool is_less(float a, float b) {
  if (std::isnan(b)) return false;
  return std::isnan(a) || a < b;
}

/// A slot's objects while they are selected.
class Slot {
 public:
  Slot(const NetworkCase &network, int64_t slot)
      : n_(network), slot_(slot), confidence_(static_cast<float>(network.objects.confidence)) {}

  std::vector<FoundObject> objects() {
    switch (n_.params.decoder) {
      case Decoder::yolo: yolo(); break;
      case Decoder::yolov5: yolov5(); break;
      case Decoder::end2end: end2end(); break;
      case Decoder::detr: detr(); break;
      case Decoder::detr_softmax: detr_softmax(); break;
      case Decoder::ssd: ssd(); break;
      case Decoder::scores:
      case Decoder::probabilities: classify(); break;
    }
    if (static_cast<int>(found_.size()) > n_.objects.max_objects)
      found_.resize(n_.objects.max_objects);
    return found_;
  }

 private:
  int64_t axis(size_t output, int axis) const { return n_.params.outputs[output].shape[axis]; }
  /// Returns an element of this slot.
  float at(size_t output, int64_t i) const {
    const auto &values = n_.values[output];
    return values[values.size() / axis(output, 0) * slot_ + i];
  }

  void add(float type, float score, float x0, float y0, float x1, float y1) {
    for (const float side : {x0, y0, x1, y1})
      if (!std::isfinite(side)) return;
    if (x1 <= x0 || y1 <= y0 || !std::isfinite(type) || std::abs(type) > 2147483000.0f) return;
    const int whole = static_cast<int>(type);
    const auto &only = n_.objects.classes;
    if (!only.empty() && std::count(only.begin(), only.end(), whole) == 0) return;
    found_.push_back({whole, score, {x0, y0, x1, y1}});
  }

  void add_centered(int type, float score, float cx, float cy, float w, float h, float kx,
                    float ky) {
    add(static_cast<float>(type), score, (cx - w / 2) * kx, (cy - h / 2) * ky, (cx + w / 2) * kx,
        (cy + h / 2) * ky);
  }

  void sort() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto &a, const auto &b) { return is_less(b.score, a.score); });
  }

  void suppress() {
    sort();
    if (found_.size() > 30000) found_.resize(30000);
    std::vector<FoundObject> kept;
    for (const FoundObject &each : found_) {
      bool stays = true;
      for (const FoundObject &better : kept)
        if (n_.objects.class_agnostic || better.type == each.type)
          stays = stays && !(iou(better, each) > static_cast<float>(n_.objects.iou));
      if (stays) kept.push_back(each);
    }
    found_ = kept;
  }

  static float iou(const FoundObject &a, const FoundObject &b) {
    const float w = std::fmin(a.box[2], b.box[2]) - std::fmax(a.box[0], b.box[0]);
    const float h = std::fmin(a.box[3], b.box[3]) - std::fmax(a.box[1], b.box[1]);
    const float inter = std::fmax(0.0f, w) * std::fmax(0.0f, h);
    const float area_a = (a.box[2] - a.box[0]) * (a.box[3] - a.box[1]);
    const float area_b = (b.box[2] - b.box[0]) * (b.box[3] - b.box[1]);
    return inter / ((area_a + area_b) - inter);
  }

  void yolo() {
    const int64_t classes = axis(0, 1) - 4, anchors = axis(0, 2);
    for (int64_t a = 0; a < anchors; ++a) {
      int64_t best = 0;
      for (int64_t c = 1; c < classes; ++c)
        if (is_less(at(0, (4 + best) * anchors + a), at(0, (4 + c) * anchors + a))) best = c;
      const float score = at(0, (4 + best) * anchors + a);
      if (score > confidence_)
        add_centered(static_cast<int>(best), score, at(0, a), at(0, anchors + a),
                     at(0, 2 * anchors + a), at(0, 3 * anchors + a), 1, 1);
    }
    suppress();
  }

  void yolov5() {
    const int64_t length = axis(0, 2);
    for (int64_t a = 0; a < axis(0, 1); ++a) {
      const int64_t i = a * length;
      if (!(at(0, i + 4) > confidence_)) continue;
      int best = 0;
      std::vector<float> scores;
      for (int64_t c = 5; c < length; ++c) scores.push_back(at(0, i + 4) * at(0, i + c));
      for (size_t c = 1; c < scores.size(); ++c)
        if (is_less(scores[best], scores[c])) best = static_cast<int>(c);
      if (scores[best] > confidence_)
        add_centered(best, scores[best], at(0, i), at(0, i + 1), at(0, i + 2), at(0, i + 3), 1, 1);
    }
    suppress();
  }

  void end2end() {
    for (int64_t i = 0; i < axis(0, 1) * 6; i += 6)
      if (at(0, i + 4) > confidence_)
        add(at(0, i + 5), at(0, i + 4), at(0, i), at(0, i + 1), at(0, i + 2), at(0, i + 3));
  }

  void add_query(int64_t q, int64_t type, float score) {
    add_centered(static_cast<int>(type), score, at(1, q * 4), at(1, q * 4 + 1), at(1, q * 4 + 2),
                 at(1, q * 4 + 3), static_cast<float>(n_.objects.width),
                 static_cast<float>(n_.objects.height));
  }

  void drop_low() {
    std::vector<FoundObject> high;
    for (const FoundObject &each : found_)
      if (each.score > confidence_) high.push_back(each);
    found_ = high;
  }

  void detr() {
    const int64_t queries = axis(0, 1), classes = axis(0, 2);
    for (int64_t q = 0; q < queries; ++q)
      for (int64_t c = 0; c < classes; ++c) add_query(q, c, at(0, q * classes + c));
    sort();
    if (static_cast<int64_t>(found_.size()) > queries) found_.resize(queries);
    for (FoundObject &each : found_)
      each.score = static_cast<float>(1.0 / (1.0 + std::exp(-double{each.score})));
    drop_low();
  }

  /// Softmax in float64: e^(x - greatest) / sum.
  static std::vector<float> softmax(const std::vector<float> &logits) {
    float greatest = -kInf;
    for (const float x : logits) greatest = is_less(greatest, x) ? x : greatest;
    double sum = 0;
    for (const float x : logits) sum += std::exp(double{x} - double{greatest});
    std::vector<float> shares;
    for (const float x : logits)
      shares.push_back(static_cast<float>(std::exp(double{x} - double{greatest}) / sum));
    return shares;
  }

  void detr_softmax() {
    const int64_t classes = axis(0, 2);
    for (int64_t q = 0; q < axis(0, 1); ++q) {
      std::vector<float> logits;
      for (int64_t c = 0; c < classes; ++c) logits.push_back(at(0, q * classes + c));
      int64_t best = 0;
      for (int64_t c = 1; c + 1 < classes; ++c)
        if (is_less(logits[best], logits[c])) best = c;
      add_query(q, best, softmax(logits)[best]);
    }
    drop_low();
    sort();
  }

  void ssd() {
    const bool has_count = n_.params.outputs.size() == 4;
    const auto kx = static_cast<float>(n_.objects.width),
               ky = static_cast<float>(n_.objects.height);
    for (int64_t k = 0; k < axis(0, 1); ++k) {
      if (has_count && !(std::isfinite(at(3, 0)) && at(3, 0) < 1e18f &&
                         static_cast<float>(k) < std::trunc(at(3, 0))))
        break;
      if (at(2, k) > confidence_)
        add(at(1, k), at(2, k), at(0, k * 4 + 1) * kx, at(0, k * 4) * ky, at(0, k * 4 + 3) * kx,
            at(0, k * 4 + 2) * ky);
    }
    if (!has_count) suppress();
  }

  void classify() {
    std::vector<float> scores;
    for (int64_t c = 0; c < axis(0, 1); ++c) scores.push_back(at(0, c));
    if (n_.params.decoder == Decoder::scores) scores = softmax(scores);
    for (size_t c = 0; c < scores.size(); ++c)
      add(static_cast<float>(c), scores[c], 0, 0, static_cast<float>(n_.objects.width),
          static_cast<float>(n_.objects.height));
    drop_low();
    sort();
  }

  const NetworkCase &n_;
  int64_t slot_;
  float confidence_;
  std::vector<FoundObject> found_;
};

}  // namespace

std::vector<FoundObject> objects_of(const NetworkCase &network, int64_t slot) {
  return Slot(network, slot).objects();
}

}  // namespace oracle
}  // namespace cudatensor
