// SPDX-License-Identifier: LGPL-2.1-or-later
// Malformed configuration files: each is accepted, or refused with an error that names the file.
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "historyrig.h"
#include "settings/commandline.h"
#include "settings/identity.h"
#include "settings/limits.h"

namespace luminance::test {
namespace {

constexpr char kToml[] = R"(interval = 0.5
max-fps = 5
loop = true
backend = "cpu"
[web]
listen = "127.0.0.1:0"
user = "someone"
password = "something"
token = "abc"
max-connections = 10
[history]
file = "history.db"
enabled = true
interval = 10
retention-days = 3.5
[verdicts]
frozen = false
[verdicts.too-dark]
raise = 30
clear = 35.5
hold = 2
enabled = true
[[verdicts.too-dark.schedule]]
from = "20:00"
to = "06:30"
raise = 20
hold = 60
[[verdicts.too-dark.schedule]]
from = "06:30"
to = "08:00"
enabled = false
[[cameras]]
name = "Gate, \"north\""
uri = "rtsp://10.0.0.5:554/stream?x=1"
user = "viewer"
password = "p"
max-fps = 2
verdicts.flicker.raise = 3
[[cameras]]
name = '''Gate'''
uri = "clip.webm"
region = [0.1, 0, 0.8, 1]
masks = [[0.1, 0, 0.2, 0.5], [0.5, 0.5, 0.25, 0.25]]
)";

// Valid TOML.
const char *const kValues[] = {"0",
                               "1",
                               "-1",
                               "0.5",
                               "2.5",
                               "60",
                               "61",
                               "1e9",
                               "1e300",
                               "-0.0",
                               "9223372036854775807",
                               "true",
                               "false",
                               "\"\"",
                               "\"cpu\"",
                               "\"text\"",
                               "\"rtsp://h/\"",
                               "\"a/b.webm\"",
                               "\"\\u0000\"",
                               "\"\\n\"",
                               "\"\\u202e\"",
                               "\"::1\"",
                               "\"06:30\"",
                               "\"20:00\"",
                               "\"24:00\"",
                               "\":0\"",
                               "\"[::1]:1\"",
                               "\"/dev/null\"",
                               "[]",
                               "[1]",
                               "[\"a\", {}]",
                               "{}",
                               "\"${HOME}\"",
                               "\"${NOT_THERE}\"",
                               "\"rtsp://u:p@h/${HOME}?q#f\""};

const char *const kPieces[] = {"nan",
                               "inf",
                               "-inf",
                               "-1",
                               "0",
                               "1e400",
                               "-0.0",
                               "99999999999999999999",
                               "0x7fffffffffffffff",
                               ".nan",
                               "~",
                               "null",
                               "true",
                               "\"\"",
                               "''",
                               "[]",
                               "{}",
                               "[[]]",
                               "2020-01-01",
                               "12:00:00",
                               "\n",
                               "\r",
                               "\t",
                               " ",
                               "\\u0000",
                               "\\x00",
                               "\"\\u0000\"",
                               "\xff",
                               "\xc3",
                               "\xef\xbb\xbf",
                               "\0",
                               "#",
                               "=",
                               ":",
                               ": ",
                               "- ",
                               "? ",
                               ",",
                               ".",
                               "..",
                               "[",
                               "]",
                               "{",
                               "}",
                               "\"\"\"",
                               "'''",
                               "${HOME}",
                               "${NOT_THERE}",
                               "${",
                               "uri",
                               "name",
                               "cameras",
                               "[[cameras]]\n",
                               "password-env = \"X\"\n",
                               "password-file: /dev/zero\n",
                               "token-file = \"/dev/null\"\n",
                               "a.b.c.d.e.f.g.",
                               "\xe2\x80\xa8"};

std::string repeated(const std::string &text, size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : random_(seed) {}

  size_t below(size_t count) { return random_() % count; }
  std::string bytes(size_t count) {
    std::string text(count, 0);
    for (char &c : text) c = static_cast<char>(random_());
    return text;
  }
  std::string piece() {
    const std::string piece = kPieces[below(std::size(kPieces))];
    return below(20) != 0 ? piece : repeated(piece, below(3000));
  }
  /// Returns the text with one to three random changes.
  std::string changed(std::string text) {
    for (size_t changes = 1 + below(3); changes > 0; --changes) change(text);
    return text;
  }

 private:
  void change(std::string &text) {
    const size_t kind = below(10);
    if (kind < 5) return change_value(text);
    if (kind < 7) return change_line(text);
    const size_t at = below(text.size() + 1),
                 length = below(std::min<size_t>(text.size() - at, 40) + 1);
    switch (kind) {
      case 7: text.replace(at, below(2) * length, piece()); break;
      case 8: text.insert(below(text.size() + 1), text.substr(at, length)); break;
      default: text.replace(at, length, bytes(below(2) * length)); break;
    }
  }
  void change_value(std::string &text) {
    const size_t begin = text.find_first_of("=:", below(text.size() + 1));
    if (begin == std::string::npos) return;
    const size_t end = std::min(text.find_first_of(",}\n", begin), text.size());
    text.replace(begin + 1, end - begin - 1, " " + std::string(kValues[below(std::size(kValues))]));
  }
  /// Deletes a line, or inserts a copy of it somewhere.
  void change_line(std::string &text) {
    const auto begin_of_line = [&] {
      const size_t end = text.rfind('\n', below(text.size() + 1));
      return end == std::string::npos ? 0 : end + 1;
    };
    const size_t begin = begin_of_line(), end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin) + "\n";
    if (below(2) == 0)
      text.insert(begin_of_line(), line);
    else
      text.erase(begin, line.size());
  }

  std::mt19937 random_;
};

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void expect_sensible(const Settings &s) {
  std::set<std::string> ids;
  for (const CameraSettings &camera : s.cameras) {
    EXPECT_TRUE(ids.insert(camera.id).second) << camera.id << " is there twice";
    EXPECT_FALSE(camera.id.empty());
    EXPECT_NO_THROW(EXPECT_EQ(checked_id(camera.id), camera.id));
    EXPECT_FALSE(camera.uri.empty());
    EXPECT_LE(camera.max_fps, kMaxFps);
    for (unsigned minute = 0; minute < 24 * 60; minute += 10)
      for (const Rule &rule : rules_at(minute, camera.rules, camera.schedules))
        for (const double value : {rule.raise, rule.clear, rule.hold})
          EXPECT_TRUE(value >= 0 && value <= 86400) << value;
  }
  EXPECT_TRUE(s.interval >= kMinInterval && s.interval <= kMaxInterval) << s.interval;
  EXPECT_TRUE(s.history.interval >= s.interval && s.history.interval <= kMaxHistoryInterval);
  EXPECT_TRUE(s.history.retention >= kMinRetention && s.history.retention <= kMaxRetention);
  EXPECT_TRUE(s.web.max_connections >= 1 && s.web.max_connections <= kMaxConnections);
}

class ConfigFuzz : public testing::Test {
 protected:
  /// Returns whether the text was accepted as a configuration file.
  bool read(const std::string &text) const {
    const std::string file = folder_.file("config.toml");
    std::ofstream(file, std::ios::binary) << text;  // stays there after a crash
    std::string arguments[] = {"luminance-monitor", "--check", "--config", file};
    char *pointers[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                        arguments[3].data()};
    const double begin = processor_seconds();
    bool taken = false;
    try {
      expect_sensible(read_command_line(4, pointers).settings);
      taken = true;
    } catch (const SettingsError &error) {
      const std::string what = error.what();
      // These settings can also be given on the command line, so their errors name no file.
      const char *const kOfAll[] = {"no camera: ", "the page's user", "a TLS certificate",
                                    "history.interval is shorter"};
      const bool is_of_all = std::any_of(std::begin(kOfAll), std::end(kOfAll),
                                         [&](auto *begin) { return what.rfind(begin, 0) == 0; });
      EXPECT_TRUE(is_of_all || what.rfind(file + ": ", 0) == 0) << what;
    }
    EXPECT_LT(processor_seconds() - begin, 20);
    return taken;
  }

  const Folder folder_;
};

TEST_F(ConfigFuzz, SurvivesChangedFiles) {
  Fuzzer fuzzer(seed());
  const std::string valid = kToml;
  ASSERT_TRUE(read(valid));
  int taken = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::string text = fuzzer.changed(valid);
    taken += read(text);
    ASSERT_FALSE(HasFailure()) << "number " << i << ":\n" << text;
  }
  std::printf("%d of 2000 were taken\n", taken);
  EXPECT_GT(taken, 30) << "the changes are too rough to show anything";
  EXPECT_LT(taken, 1970);
}

TEST_F(ConfigFuzz, SurvivesRandomBytes) {
  Fuzzer fuzzer(seed());
  for (int i = 0; i < 1000; ++i) {
    std::string text;
    for (size_t pieces = fuzzer.below(60); pieces > 0; --pieces)
      text += fuzzer.below(4) == 0 ? fuzzer.bytes(fuzzer.below(30)) : fuzzer.piece();
    read(text);
    ASSERT_FALSE(HasFailure()) << "number " << i << ":\n" << text;
  }
}

TEST_F(ConfigFuzz, SurvivesDeepNesting) {
  for (const char *piece : kPieces)
    for (const std::string begin : {"", "a = ", "[", "cameras = ["})
      for (const size_t times : {100, 5000, 200000}) {
        const std::string text = begin + repeated(piece, times);
        if (text.size() <= 1 << 20) read(text);
      }
  for (const char *key : {"a.", "a .", "'a'.", "\"a\" . ", "a=[{", "{a="})
    for (const char *begin : {"", "[", "[[", "a = {"})
      EXPECT_FALSE(read(begin + repeated(key, 100000)));
}

TEST_F(ConfigFuzz, RefusesLargeFiles) {
  EXPECT_FALSE(read("# " + std::string(2 << 20, 'x')));
  EXPECT_FALSE(read(repeated("a", 1 << 20)));
  std::string cameras;
  for (int i = 0; i < 1025; ++i) cameras += "[[cameras]]\nuri = 'rtsp://a/'\n";
  EXPECT_FALSE(read(cameras));
}

}  // namespace
}  // namespace luminance::test
