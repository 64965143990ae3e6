// SPDX-License-Identifier: LGPL-2.1-or-later
// Which sequences of encoded pictures count as still.
#include "watch/stillness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace luminance {
namespace {

constexpr Time kApart = 10 * kSecond;
constexpr double kStands = 20;  // seconds

/// Makes pictures of a scene, with noise.
class Scene {
 public:
  Scene() {
    std::uniform_int_distribution<int> any(20 * Blocks::kLuma, 200 * Blocks::kLuma);
    for (uint16_t &mean : scene_.means) mean = static_cast<uint16_t>(any(random_));
  }

  /// `noise` is the mean difference of two pictures, in luma.
  Blocks picture(double noise = 0) {
    Blocks picture = scene_;
    if (noise == 0) return picture;  // A normal distribution needs a deviation above 0.
    // The mean difference of two normal values is 1.128 times their deviation.
    std::normal_distribution<double> grain(0, noise / 1.128 * Blocks::kLuma);
    for (uint16_t &mean : picture.means)
      mean = static_cast<uint16_t>(std::lround(mean + grain(random_)));
    return picture;
  }

 private:
  std::mt19937 random_{5};
  Blocks scene_;
};

/// Plays frames at a rate, and keeps the results.
class Play {
 public:
  explicit Play(double rate) : rate_(rate) {}

  /// Plays `picture(n)` for `length` seconds; n counts from the first run.
  void run(double length, const std::function<Blocks(int)> &picture) {
    const int end = number_ + static_cast<int>(length * rate_);
    for (; number_ < end; ++number_) {
      now = seconds(number_ / rate_);
      stillness.add(now, std::make_shared<Blocks>(picture(number_)));
      longest = std::max(longest, static_cast<double>(stillness.length()) / kSecond);
    }
  }
  double length() const { return static_cast<double>(stillness.length()) / kSecond; }

  Stillness stillness{kApart};
  double longest = 0;  // seconds
  Time now = 0;

 private:
  const double rate_;
  int number_ = 0;
};

Blocks changed(Blocks picture, size_t block, double luma) {
  picture.means[block] = static_cast<uint16_t>(picture.means[block] + luma * Blocks::kLuma);
  return picture;
}

TEST(Stillness, FindsAnUnchangedPicture) {
  for (const double rate : {1.0, 5.0, 25.0}) {
    Scene scene;
    Play play(rate);
    play.run(10, [&](int) { return scene.picture(1); });
    play.run(19, [&](int) { return scene.picture(); });
    EXPECT_LT(play.longest, kStands) << rate;
    play.run(3, [&](int) { return scene.picture(); });
    EXPECT_GT(play.length(), kStands) << rate;
    EXPECT_LT(play.length(), 22.1) << rate;
  }
}

TEST(Stillness, FindsAnUnchangedPictureAtOneFrameAMinute) {
  Scene scene;
  Play play(1 / 60.0);
  play.run(600, [&](int) { return scene.picture(); });
  EXPECT_GT(play.length(), kStands);
}

TEST(Stillness, ADayOfNoiseIsNotStill) {
  Scene scene;
  Play play(1);
  play.run(86400, [&](int) { return scene.picture(0.04); });
  EXPECT_EQ(play.longest, 0);
}

/// An encoder starts again from a coarse picture every five seconds and comes closer to the true
/// one, never twice the same way. Its key frames have one of three quantizers.
TEST(Stillness, FindsKeyFramesThatComeBack) {
  Scene scene;
  std::vector<Blocks> keys;
  for (int i = 0; i < 3; ++i) keys.push_back(scene.picture(1));
  const auto picture = [&](int number) {
    return number % 128 == 0 ? keys[static_cast<size_t>(number / 128 % 3)] : scene.picture(0.1);
  };
  Play play(25);
  play.run(60, picture);
  EXPECT_GT(play.length(), kStands);
}

/// The encoder skips blocks that do not move until the next key frame, which differs from the last.
TEST(Stillness, SkippedFramesAreNotStill) {
  for (const int group : {50, 245}) {
    Scene scene;
    Blocks key;
    Play play(25);
    play.run(200, [&](int number) {
      if (number % group == 0) key = scene.picture(0.05);
      return key;
    });
    EXPECT_EQ(play.longest, 0) << group;
  }
}

TEST(Stillness, APictureThatComesBackByChanceIsNotStill) {
  Scene scene;
  Blocks first;
  Play play(25);
  play.run(60, [&](int number) {
    Blocks picture = scene.picture(0.05);
    if (number == 300) first = picture;
    return number == 900 ? first : picture;
  });
  EXPECT_EQ(play.longest, 0);
}

TEST(Stillness, AClockDoesNotCountAsMovement) {
  Scene scene;
  Play play(25);
  play.run(40, [&](int number) {
    const int second = number / 25;
    Blocks picture = changed(scene.picture(), 16, second % 10);
    return changed(picture, 17, second / 10 % 10);
  });
  EXPECT_GT(play.length(), kStands);
}

/// The person is not larger than a clock, but moves on.
TEST(Stillness, APersonInAPictureWithoutNoiseIsMovement) {
  Scene scene;
  Play play(25);
  play.run(600, [&](int number) {
    const auto column = static_cast<size_t>(number / 25) % (Blocks::kColumns - 1);
    Blocks picture = scene.picture();
    for (size_t row = 5; row < 8; ++row)
      for (size_t i = 0; i < 2; ++i)
        picture = changed(picture, row * Blocks::kColumns + column + i, 20);
    return picture;
  });
  EXPECT_LT(play.longest, kStands);
}

/// Each picture of a looped video comes back identical.
TEST(Stillness, ALoopedVideoIsNotStill) {
  for (const int length : {11, 20, 29}) {
    std::vector<Blocks> video;
    Scene scene;
    for (int i = 0; i < length * 10; ++i) video.push_back(scene.picture(5));
    Play play(10);
    play.run(200, [&](int number) { return video[static_cast<size_t>(number % (length * 10))]; });
    EXPECT_LT(play.longest, kStands) << length;
  }
}

/// So little moves that only the place in the video distinguishes a lap from a still picture.
TEST(Stillness, ALoopedVideoWithLittleMovementIsNotStill) {
  constexpr int kLap = 110;
  Scene scene;
  Stillness stillness(kApart);
  std::vector<Stillness::Picture> video;
  for (int i = 0; i < kLap; ++i) video.push_back(std::make_shared<Blocks>(scene.picture(0.5)));
  for (int i = 0; i < 2000; ++i) {
    const auto place = static_cast<size_t>(i % kLap);
    stillness.add((i + 1) * kSecond / 10, video[place], place * 100000000);
    ASSERT_EQ(stillness.length(), 0) << i;
  }
}

TEST(Stillness, EndsSoonWhenThePictureMoves) {
  Scene scene, other;
  Play play(25);
  play.run(40, [&](int) { return scene.picture(); });
  ASSERT_GT(play.length(), kStands);
  play.run(0.8, [&](int) { return scene.picture(9); });
  EXPECT_GT(play.length(), 0);
  play.run(0.5, [&](int) { return scene.picture(9); });
  EXPECT_EQ(play.length(), 0);
}

TEST(Stillness, EndsInThirtySecondsWhenOnlyNoiseReturns) {
  Scene scene;
  Play play(25);
  play.run(40, [&](int) { return scene.picture(); });
  play.run(32, [&](int) { return scene.picture(0.2); });
  EXPECT_EQ(play.length(), 0);
}

TEST(Stillness, ContinuesThroughAFewDifferentFrames) {
  Scene scene;
  Play play(25);
  play.run(80, [&](int number) { return scene.picture(number % 128 < 3 ? 9 : 0); });
  EXPECT_GT(play.length(), 75);
}

/// The noise of a night decreases until two pictures differ less than those of an encoder.
TEST(Stillness, LearnsACamerasNoise) {
  constexpr double kQuiet = 0.014;
  Scene scene;
  Play fresh(2), learned(2);
  fresh.run(120, [&](int) { return scene.picture(kQuiet); });
  EXPECT_GT(fresh.longest, kStands) << "this quiet, nothing is known of the camera";
  for (double noise = 0.06; noise >= kQuiet; noise *= 0.97)
    learned.run(240, [&](int) { return scene.picture(noise); });
  EXPECT_LT(learned.stillness.match_threshold(), 0.01);
  learned.run(3600, [&](int) { return scene.picture(kQuiet); });
  EXPECT_EQ(learned.longest, 0);
  learned.run(40, [&](int) { return scene.picture(); });
  EXPECT_GT(learned.length(), kStands) << "one that stands is found";
}

TEST(Stillness, AStillPictureTeachesNoNoise) {
  Scene scene;
  Play play(2);
  const double before = play.stillness.match_threshold();
  play.run(7200, [&](int number) { return scene.picture(number % 40 == 0 ? 0 : 0.03); });
  EXPECT_EQ(play.stillness.match_threshold(), before);
  EXPECT_GT(play.length(), kStands);
}

}  // namespace
}  // namespace luminance
