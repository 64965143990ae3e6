// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/detections.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends.h"
#include "block.h"
#include "detectionoracle.h"
#include "kernels/detectiondecoder.h"
#include "refusal.h"

namespace cudatensor {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

/// The outputs in memory between protected pages.
class NetworkMemory {
 public:
  NetworkMemory(Random &random, const NetworkCase &network) {
    for (size_t i = 0; i < network.values.size(); ++i) {
      const auto bytes = bytes_of(network, i);
      blocks_.emplace_back(random, bytes.size());
      std::copy(bytes.begin(), bytes.end(), blocks_.back().data());
    }
  }

  std::vector<Span> spans() const {
    std::vector<Span> spans;
    for (const Block &block : blocks_) spans.push_back({block.data(), block.size()});
    return spans;
  }

 private:
  std::vector<Block> blocks_;
};

std::vector<FoundObject> objects_in(const DetectionOperation &operation, const CandidatePlan &plan,
                                    const ObjectParams &params, int64_t slot) {
  std::vector<Candidate> candidates;
  std::vector<FoundObject> objects;
  operation.take(slot, candidates);
  for (size_t i = 1; i < candidates.size(); ++i)
    EXPECT_LT(candidates[i - 1].row, candidates[i].row);
  find_objects(plan, params, candidates, objects);
  return objects;
}

class DetectionTest : public KernelTest {
 protected:
  std::vector<FoundObject> found(const NetworkCase &network, int64_t slot = 0) const {
    Random random(0);
    const NetworkMemory memory(random, network);
    const CandidatePlan plan = make_candidate_plan(network.params);
    const auto operation = machine()->detections();
    machine().gather(*operation, plan, memory.spans());
    return objects_in(*operation, plan, network.objects, slot);
  }

  void expect_as_the_oracle(Random &random, const NetworkCase &network) const {
    SCOPED_TRACE(text_of(network));
    const NetworkMemory memory(random, network);
    const CandidatePlan plan = make_candidate_plan(network.params);
    std::vector<bool> wanted(plan.slots, true);
    if (random.chance(30)) wanted[random.between(0, plan.slots - 1)] = false;
    const Machine &any = this->any(random);
    const auto operation = any->detections();
    run_another(random, any, *operation);
    any.gather(*operation, plan, memory.spans(), random.chance(50) ? wanted : std::vector<bool>());
    for (int64_t slot = 0; slot < plan.slots; ++slot) {
      if (!wanted[slot]) continue;
      EXPECT_EQ(text_of(objects_in(*operation, plan, network.objects, slot)),
                text_of(oracle::objects_of(network, slot)))
          << "slot " << slot;
    }
  }

 private:
  /// Runs another network first, whose candidates must not stay.
  static void run_another(Random &random, const Machine &machine, DetectionOperation &operation) {
    const NetworkCase other =
        random_network(random, kDecoders[random.bits() % std::size(kDecoders)]);
    const NetworkMemory memory(random, other);
    machine.gather(operation, make_candidate_plan(other.params), memory.spans());
  }
};

CUDATENSOR_FOR_EVERY_BACKEND(DetectionTest);

TEST_P(DetectionTest, RandomNetworks) {
  for_cases(1600, [&](Random &random) {
    expect_as_the_oracle(random,
                         random_network(random, kDecoders[random.bits() % std::size(kDecoders)]));
  });
}

/// As large as networks are: 640 × 640 pixels and 80 classes.
TEST_P(DetectionTest, NetworksOfUsualSizes) {
  Random random(0);
  SCOPED_TRACE(random.name());
  for (const OutputType type : {OutputType::float32, OutputType::float16}) {
    NetworkCase network = {{Decoder::yolo, {{type, {2, 84, 8400}}}, 0.25}, {}, {}};
    network.objects.width = network.objects.height = 640;
    std::vector<float> values(2 * 84 * 8400);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = i / 8400 % 84 < 4 ? static_cast<float>(random.integer(10, 600))
                                    : static_cast<float>(random.integer(0, 260)) / 1024.0f;
    network.values = {values};
    expect_as_the_oracle(random, network);
  }
}

/// Suppression begins with the 30,000 best boxes.
TEST_P(DetectionTest, MoreBoxesThanAreCompared) {
  Random random(0);
  const int64_t anchors = 31000;
  NetworkCase network = {{Decoder::yolo, {{OutputType::float32, {1, 5, anchors}}}, 0.0}, {}, {}};
  network.objects.width = network.objects.height = 10;
  network.objects.confidence = 0.0;
  network.objects.max_objects = 40000;
  std::vector<float> values(5 * anchors, 1.0f);
  for (int64_t i = 0; i < anchors; ++i) {
    values[i] = i < anchors - 1 ? 5.0f : 50.0f;  // the last box is apart, and the worst
    values[4 * anchors + i] = 1.0f - static_cast<float>(i) * 1e-5f;
  }
  network.values = {values};
  EXPECT_EQ(found(network).size(), 1u);
  network.values[0][5 * anchors - 1] = 0.999f;
  EXPECT_EQ(found(network).size(), 2u);
}

// ----------------------------------------------------------------------------- by the definition

NetworkCase yolo_of(const std::vector<std::array<float, 6>> &anchors) {
  const auto count = static_cast<int64_t>(anchors.size());
  NetworkCase network = {{Decoder::yolo, {{OutputType::float32, {1, 6, count}}}, 0.25}, {}, {}};
  network.objects.width = network.objects.height = 100;
  std::vector<float> values;
  for (int row = 0; row < 6; ++row)
    for (const auto &anchor : anchors) values.push_back(anchor[row]);
  network.values = {values};
  return network;
}

TEST_P(DetectionTest, AClassIsTheGreatestAndTheFirstOfEqualOnes) {
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, 0.5f, 0.5f}}))), "0 0.5 <40 35 60 45>\n");
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, kNan, 0.5f}}))), "1 0.5 <40 35 60 45>\n");
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, 0.5f, kNan}}))), "0 0.5 <40 35 60 45>\n");
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, kNan, kNan}}))), "");
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, 0.25f, -kInf}}))), "");
  EXPECT_EQ(text_of(found(yolo_of({{50, 40, 20, 10, kInf, 1.0f}}))), "0 inf <40 35 60 45>\n");
}

TEST_P(DetectionTest, BoxesWithoutAnAreaAreNoObjects) {
  for (const float side : {0.0f, -1.0f, kNan, kInf, 3e38f * 10.0f})
    EXPECT_EQ(text_of(found(yolo_of({{50, 40, side, 10, 0.5f, 0.5f}}))), "") << side;
  EXPECT_EQ(text_of(found(yolo_of({{kNan, 40, 20, 10, 0.5f, 0.5f}}))), "");
}

TEST_P(DetectionTest, BetterBoxesSuppressThoseOfTheirClass) {
  NetworkCase network = yolo_of({{50, 50, 20, 20, 0.5f, 0.0f},
                                 {51, 50, 20, 20, 0.75f, 0.0f},
                                 {50, 51, 20, 20, 0.0f, 0.625f},
                                 {80, 50, 20, 20, 0.75f, 0.0f}});
  EXPECT_EQ(text_of(found(network)),
            "0 0.75 <41 40 61 60>\n0 0.75 <70 40 90 60>\n1 0.625 <40 41 60 61>\n");
  network.objects.class_agnostic = true;
  EXPECT_EQ(text_of(found(network)), "0 0.75 <41 40 61 60>\n0 0.75 <70 40 90 60>\n");
  network.objects.max_objects = 1;
  EXPECT_EQ(text_of(found(network)), "0 0.75 <41 40 61 60>\n");
  network.objects.classes = {1};
  EXPECT_EQ(text_of(found(network)), "1 0.625 <40 41 60 61>\n");
}

/// Ultralytics' non_max_suppression(): boxes are moved apart by class, and all are compared.
std::vector<FoundObject> ultralytics(const NetworkCase &network) {
  const auto &values = network.values[0];
  const auto &shape = network.params.outputs[0].shape;
  const int64_t classes = shape[1] - 4, anchors = shape[2];
  const auto threshold = static_cast<float>(network.objects.confidence);
  std::vector<FoundObject> boxes;
  for (int64_t a = 0; a < anchors; ++a) {
    const auto value = [&](int64_t row) { return values[row * anchors + a]; };
    FoundObject best = {0, value(4), {}};
    for (int64_t c = 1; c < classes; ++c)
      if (value(4 + c) > best.score) best = {static_cast<int>(c), value(4 + c), {}};
    if (best.score <= threshold) continue;
    best.box = {value(0) - value(2) / 2, value(1) - value(3) / 2, value(0) + value(2) / 2,
                value(1) + value(3) / 2};
    boxes.push_back(best);
  }
  std::stable_sort(boxes.begin(), boxes.end(),
                   [](const auto &a, const auto &b) { return a.score > b.score; });
  std::vector<FoundObject> kept;
  std::vector<bool> is_gone(boxes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (is_gone[i]) continue;
    kept.push_back(boxes[i]);
    const auto moved = [&](size_t k, int side) {
      const float apart = network.objects.class_agnostic ? 0.0f : 7680.0f;
      return boxes[k].box[side] + static_cast<float>(boxes[k].type) * apart;
    };
    const auto area = [&](size_t k) {
      return (moved(k, 2) - moved(k, 0)) * (moved(k, 3) - moved(k, 1));
    };
    for (size_t k = i + 1; k < boxes.size(); ++k) {
      const float w = std::min(moved(i, 2), moved(k, 2)) - std::max(moved(i, 0), moved(k, 0));
      const float h = std::min(moved(i, 3), moved(k, 3)) - std::max(moved(i, 1), moved(k, 1));
      const float inter = std::max(w, 0.0f) * std::max(h, 0.0f);
      if (inter / (area(i) + area(k) - inter) > static_cast<float>(network.objects.iou))
        is_gone[k] = true;
    }
  }
  if (static_cast<int>(kept.size()) > network.objects.max_objects)
    kept.resize(network.objects.max_objects);
  return kept;
}

/// Corners are multiples of 1/16, which stay exact when boxes are moved apart.
TEST_P(DetectionTest, RandomBoxesAsUltralyticsSuppressesThem) {
  for_cases(500, [&](Random &random) {
    const int64_t anchors = random.integer(1, 700), classes = random.integer(1, 9);
    NetworkCase network = {
        {Decoder::yolo, {{OutputType::float32, {1, 4 + classes, anchors}}}, 0.25}, {}, {}};
    ObjectParams &p = network.objects;
    p.iou = random.pick<double>({0.45, 0.5, 0.7});
    p.max_objects = random.pick<int>({10, 300});
    p.class_agnostic = random.chance(30);
    p.width = p.height = 640;
    std::vector<float> values;
    const int spread = random.pick<int>({40, 640});
    for (int64_t i = 0; i < (4 + classes) * anchors; ++i) {
      const int64_t row = i / anchors;
      const double value = row < 2   ? random.integer(16 * 10, 16 * spread) / 16.0
                           : row < 4 ? random.integer(8, 8 * 60) / 8.0
                                     : random.integer(0, 400) / 512.0;
      values.push_back(static_cast<float>(value));
    }
    network.values = {values};
    EXPECT_EQ(text_of(found(network)), text_of(ultralytics(network)));
  });
}

/// Of pairs with equal logits, the one with the lower index comes first.
TEST_P(DetectionTest, DetrChoosesPairsOfAQueryAndAClass) {
  NetworkCase network = {
      {Decoder::detr, {{OutputType::float32, {1, 2, 2}}, {OutputType::float32, {1, 2, 4}}}, 0.25},
      {},
      {{2.0f, 0.0f, 3.0f, 2.0f}, {0.5f, 0.5f, 0.5f, 0.25f, 0.25f, 0.5f, 0.5f, 0.5f}}};
  network.objects.width = 200;
  network.objects.height = 100;
  EXPECT_EQ(text_of(found(network)),
            "0 0.952574134 <0 25 100 75>\n0 0.880797088 <50 37.5 150 62.5>\n");
}

TEST_P(DetectionTest, ThresholdsOfLogitsAreThoseOfTheirProbabilities) {
  for (const double confidence : {0.0, 1e-6, 0.25, 0.5, 0.75, 0.999, 0.9999999, 1.0}) {
    NetworkCase network = {
        {Decoder::detr,
         {{OutputType::float32, {1, 400, 1}}, {OutputType::float32, {1, 400, 4}}},
         confidence},
        {},
        {}};
    network.objects.confidence = confidence;
    network.objects.max_objects = 1000;
    network.objects.width = network.objects.height = 100;
    const double middle = std::log(confidence / (1.0 - confidence));
    const float center = std::isfinite(middle) ? static_cast<float>(middle) : 17.0f;
    std::vector<float> logits;
    float up = center, down = center;
    for (int i = 0; i < 200; ++i) {
      logits.push_back(up = std::nextafter(up, kInf));
      logits.push_back(down = std::nextafter(down, -kInf));
    }
    network.values = {logits, std::vector<float>(1600, 0.5f)};
    EXPECT_EQ(text_of(found(network)), text_of(oracle::objects_of(network, 0))) << confidence;
  }
}

TEST(Objects, PixelsAreRoundedAndClipped) {
  const auto text = [](std::array<float, 4> box) {
    const auto rect = pixels_of(box, 100, 50);
    return rect ? std::to_string(rect->x) + "," + std::to_string(rect->y) + "," +
                      std::to_string(rect->width) + "," + std::to_string(rect->height)
                : "none";
  };
  EXPECT_EQ(text({0.5f, 1.49f, 10.5f, 20.0f}), "1,1,10,19");
  EXPECT_EQ(text({-5.0f, -0.5f, 10.0f, 60.0f}), "0,0,10,50");
  EXPECT_EQ(text({-3e38f, -3e38f, 3e38f, 3e38f}), "0,0,100,50");
  EXPECT_EQ(text({99.5f, 0.0f, 200.0f, 10.0f}), "none");
  EXPECT_EQ(text({1.0f, 1.0f, 1.4f, 10.0f}), "none");
  EXPECT_EQ(text({-9.0f, 1.0f, -1.0f, 10.0f}), "none");
}

// ------------------------------------------------------------------------------------ refusals

TEST(CandidatePlan, RefusesOutputsOfOtherNetworks) {
  const auto refused = [](const char *cause, Decoder decoder,
                          const std::vector<OutputDesc> &outputs, double confidence = 0.25) {
    expect_refusal(Error::Code::settings, cause, [&] {
      make_candidate_plan({decoder, outputs, confidence});
    });
  };
  constexpr auto f = OutputType::float32;
  refused("decoder=yolo cannot read the outputs (1, 4, 10)", Decoder::yolo, {{f, {1, 4, 10}}});
  refused("float32 or float16", Decoder::yolo, {{OutputType::int32, {1, 6, 10}}});
  refused("axes", Decoder::yolo, {{f, {6, 10}}});
  refused("one is expected", Decoder::yolo, {{f, {1, 6, 10}}, {f, {1, 6, 10}}});
  refused("one is expected", Decoder::scores, {});
  refused("no slots", Decoder::yolo, {{f, {0, 6, 10}}});
  refused("negative", Decoder::yolo, {{f, {1, 6, -10}}});
  refused("too many", Decoder::yolo, {{f, {1, 6, int64_t{1} << 31}}});
  refused("not possible", Decoder::yolo, {{f, {int64_t{1} << 40, int64_t{1} << 20, 1 << 20}}});
  refused("5 and the classes", Decoder::yolov5, {{f, {1, 10, 5}}});
  refused("must be 6", Decoder::end2end, {{f, {1, 10, 7}}});
  refused("logits and boxes", Decoder::detr, {{f, {1, 10, 7}}});
  refused("must be 4", Decoder::detr, {{f, {1, 10, 7}}, {f, {1, 10, 5}}});
  refused("numbers of boxes", Decoder::detr, {{f, {1, 10, 7}}, {f, {1, 11, 4}}});
  refused("no classes", Decoder::detr_softmax, {{f, {1, 10, 1}}, {f, {1, 10, 4}}});
  refused("perhaps count", Decoder::ssd, {{f, {1, 10, 4}}, {f, {1, 10}}});
  refused("numbers of boxes", Decoder::ssd, {{f, {1, 10, 4}}, {f, {1, 10}}, {f, {1, 9}}});
  refused("float32 or float16", Decoder::ssd,
          {{f, {1, 10, 4}}, {f, {1, 10}}, {OutputType::uint8, {1, 10}}});
  refused("element a slot", Decoder::ssd, {{f, {1, 10, 4}}, {f, {1, 10}}, {f, {1, 10}}, {f, {2}}});
  refused("no classes", Decoder::probabilities, {{f, {1, 0}}});
  refused("confidence", Decoder::yolo, {{f, {1, 6, 10}}}, 1.5);
  refused("confidence", Decoder::yolo, {{f, {1, 6, 10}}}, std::nan(""));
}

TEST(Objects, RefusesParametersOutOfRange) {
  const auto refused = [](const char *cause, auto change) {
    ObjectParams params = {};
    change(params);
    expect_refusal(Error::Code::settings, cause, [&] { check_object_params(params); });
  };
  refused("confidence", [](auto &p) { p.confidence = -0.1; });
  refused("iou", [](auto &p) { p.iou = std::nan(""); });
  refused("max-objects", [](auto &p) { p.max_objects = 0; });
}

TEST_P(DetectionTest, RefusesMemoryThatItCannotRead) {
  const CandidatePlan plan =
      make_candidate_plan({Decoder::yolo, {{OutputType::float32, {2, 6, 3}}}, 0.25});
  const auto operation = machine()->detections();
  alignas(4) uint8_t memory[200] = {};
  expect_refusal(Error::Code::input, "no memory", [&] { operation->run(plan, {}); });
  expect_refusal(Error::Code::frame, "not aligned", [&] { operation->run(plan, {{memory + 2}}); });
  expect_refusal(Error::Code::input, "2 slots, not 3", [&] {
    operation->run(plan, {{memory}}, {true, true, true});
  });
}

}  // namespace
}  // namespace cudatensor
