// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings from files and the command line. Passwords must not appear anywhere else.
#include "settings/settings.h"

#include <glib.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "settings/changes.h"
#include "settings/commandline.h"
#include "settings/identity.h"
#include "settings/reader.h"
#include "settings/secrets.h"

namespace luminance {
namespace {

namespace fs = std::filesystem;

class InFolder : public ::testing::Test {
 protected:
  InFolder() {
    gchar *name = g_dir_make_tmp("luminance-XXXXXX", nullptr);
    folder_ = name;
    g_free(name);
  }
  ~InFolder() override { fs::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  Command read(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "luminance-monitor");
    std::vector<char *> pointers;
    for (std::string &argument : arguments) pointers.push_back(argument.data());
    return read_command_line(static_cast<int>(pointers.size()), pointers.data());
  }
  std::string error_of(const std::vector<std::string> &arguments) const {
    try {
      read(arguments);
    } catch (const SettingsError &error) {
      return error.what();
    }
    return "no error";
  }
  Settings config(const std::string &text, const std::string &name = "c.toml") const {
    return read({"--config", write(name, text)}).settings;
  }
  std::string error_in(const std::string &text, const std::string &name = "c.toml") const {
    return error_of({"--config", write(name, text)});
  }

  fs::path folder_;
};

const Rule &rule_of(const Rules &rules, Verdict verdict) {
  return rules[static_cast<size_t>(verdict)];
}

using CommandLine = InFolder;

TEST_F(CommandLine, NamesCamerasOfDevicesFilesAndUris) {
  const Settings s = read({"/dev/video2", "/tmp/a b.mp4", "rtsp://10.0.0.5:554/live/1?x=y",
                           "/tmp/A_B.mp4", "/dev/v4l/by-id/usb-A-index0"})
                         .settings;
  ASSERT_EQ(s.cameras.size(), 5u);
  EXPECT_EQ(s.cameras[4].uri, "v4l2:///dev/v4l/by-id/usb-A-index0");
  EXPECT_EQ(s.cameras[4].name, "usb-A-index0");
  EXPECT_EQ(s.cameras[0].uri, "v4l2:///dev/video2");
  EXPECT_EQ(s.cameras[0].name, "video2");
  EXPECT_EQ(s.cameras[1].uri, "file:///tmp/a%20b.mp4");
  EXPECT_EQ(s.cameras[1].name, "a b.mp4");
  EXPECT_EQ(s.cameras[1].id, "a-b-mp4-" + s.cameras[1].source);
  EXPECT_EQ(s.cameras[2].uri, "rtsp://10.0.0.5:554/live/1?x=y");
  EXPECT_EQ(s.cameras[2].location, "rtsp://10.0.0.5:554/live/1");
  EXPECT_EQ(s.cameras[2].id, "10-0-0-5-554-live-1");
  EXPECT_EQ(s.cameras[3].id, "a-b-mp4-" + s.cameras[3].source);
  EXPECT_NE(s.cameras[3].source, s.cameras[1].source);
}

TEST_F(CommandLine, RefusesPasswordsInPlainSight) {
  const std::string error = error_of({"rtsp://user:geheim@host/a?token=geheim"});
  EXPECT_NE(error.find("rtsp://host/a"), std::string::npos) << error;
  EXPECT_EQ(error.find("geheim"), std::string::npos) << error;
  for (const char *uri :
       {"http://host/video?user=me&PWD=geheim&x=y", "srt://host:1?passphrase=geheim",
        "rtsp://host/user=me_password=geheim_channel=1"}) {
    const std::string found = error_of({uri});
    EXPECT_NE(found.find("command line"), std::string::npos) << found;
    EXPECT_EQ(found.find("geheim"), std::string::npos) << found;
  }
  setenv("CAMERA_PASSWORD", "geheim", 1);
  EXPECT_EQ(read({"http://host/a?pwd=${CAMERA_PASSWORD}&x=y"}).settings.cameras[0].uri,
            "http://host/a?pwd=geheim&x=y");
}

TEST_F(CommandLine, TakesPasswordsFromTheEnvironment) {
  setenv("CAMERA_PASSWORD", "ge/he@im?", 1);
  const Settings s = read({"rtsp://user:${CAMERA_PASSWORD}@host/a"}).settings;
  ASSERT_TRUE(s.cameras.at(0).credentials.has_value());
  EXPECT_EQ(s.cameras[0].credentials->user, "user");
  EXPECT_EQ(s.cameras[0].credentials->password, "ge/he@im?");
  EXPECT_EQ(s.cameras[0].uri, "rtsp://host/a");
  EXPECT_NE(error_of({"rtsp://user:${NOT_THERE}@host/a"}).find("'NOT_THERE'"), std::string::npos);
}

TEST_F(CommandLine, HidesVariablesInAPath) {
  setenv("CAMERA_HOST", "host", 1);
  setenv("CAMERA_KEY", "geheim", 1);
  const Settings s = read({"rtsp://${CAMERA_HOST}/${CAMERA_KEY}/a?b=${CAMERA_KEY}"}).settings;
  const CameraSettings &camera = s.cameras.at(0);
  EXPECT_EQ(camera.uri, "rtsp://host/geheim/a?b=geheim");
  EXPECT_EQ(camera.location, "rtsp://host/***/a");
  EXPECT_EQ(camera.name, "host/***/a");
  EXPECT_EQ(camera.id, "host-a");
  EXPECT_EQ(without_secrets("no " + camera.uri, camera), "no rtsp://host/***/a");
}

/// Returns the ids of cameras with these names, each at another place.
std::vector<std::string> ids_of(const std::vector<std::string> &names) {
  Settings settings;
  for (size_t i = 0; i < names.size(); ++i) {
    settings.cameras.push_back(
        camera_of("rtsp://host/" + std::to_string(std::hash<std::string>()(names[i])), settings));
    settings.cameras.back().name = names[i];
  }
  identify(settings.cameras);
  std::vector<std::string> ids;
  for (const CameraSettings &camera : settings.cameras) ids.push_back(camera.id);
  return ids;
}

TEST(Ids, AreMadeOfTheLettersOfTheirNames) {
  EXPECT_EQ(ids_of({"Entrance", "Склад №2", "Tür <1>", "入口", "שלום", "गेट", "Straße", "Cafe\u0301",
                    "Ａ１", "ÉTÉ", "می‌خواهم", "a\u202eb"}),
            (std::vector<std::string>{"entrance", "склад-no2", "tür-1", "入口", "שלום", "गेट",
                                      "strasse", "café", "a1", "été", "میخواهم", "ab"}));
  EXPECT_EQ(ids_of({std::string(100, 'x')})[0].size(), 60u);
  EXPECT_EQ(ids_of({"bad \xff\xc3 UTF-8"})[0], "bad-utf-8");
}

TEST(Ids, DoNotDependOnTheOrderOfCameras) {
  const std::vector<std::string> names = {"📷", "Гараж", "", "a b", "A_B", "…", "Двор"};
  const std::vector<std::string> ids = ids_of(names);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(ids[1], "гараж");
  for (const size_t i : {0, 2, 3, 4, 5}) EXPECT_EQ(ids[i].find_last_of('-') + 9, ids[i].size());
  std::vector<std::string> turned(names.rbegin(), names.rend());
  turned.insert(turned.begin(), "Склад");
  std::vector<std::string> others = ids_of(turned);
  others.erase(others.begin());
  EXPECT_EQ(std::vector<std::string>(others.rbegin(), others.rend()), ids);
}

TEST(Ids, AreNumberedForTheSameNameAndPlace) {
  Settings settings;
  for (int i = 0; i < 3; ++i) settings.cameras.push_back(camera_of("rtsp://host/a", settings));
  identify(settings.cameras);
  const std::string id = "host-a-" + settings.cameras[0].source;
  EXPECT_EQ(settings.cameras[0].id, id);
  EXPECT_EQ(settings.cameras[1].id, id + "-2");
  EXPECT_EQ(settings.cameras[2].id, id + "-3");
}

TEST(Ids, DistinguishPlacesByChannelsAndNotBySecrets) {
  setenv("CAMERA_KEY", "geheim", 1);
  const auto source = [](const std::string &uri) { return camera_of(uri, Settings()).source; };
  const std::string one = source("rtsp://host/live?channel=1&subtype=0");
  EXPECT_NE(source("rtsp://host/live?channel=2&subtype=0"), one);
  EXPECT_NE(source("rtsp://other/live?channel=1&subtype=0"), one);
  EXPECT_NE(source("http://host/live?channel=1&subtype=0"), one);
  for (const char *same : {"rtsp://host/live?channel=1&key=1&subtype=0",
                           "rtsp://user:pw@host/live?channel=1&subtype=0",
                           "rtsp://host/live?pwd=x&channel=1&subtype=0&token=abc#x",
                           "rtsp://host/live?channel=1&subtype=0&stream=${CAMERA_KEY}"})
    EXPECT_EQ(source(same), one) << same;
  EXPECT_EQ(source("rtsp://host/password=a/b"), source("rtsp://host/password=c/b"));
}

TEST_F(InFolder, IdsAreSetAndChecked) {
  const auto config = [&](const std::vector<std::string> &ids) {
    std::string text;
    for (const std::string &id : ids)
      text += "[[cameras]]\nname = 'Entrance'\nuri = 'rtsp://a/'\nid = \"" + id + "\"\n";
    return write("c.toml", text + "[[cameras]]\nname = 'gate'\nuri = 'rtsp://b/'\n");
  };
  const Settings s = read({"--config", config({"gate-2", "Склад_1.a", "cafe\u0301"})}).settings;
  EXPECT_EQ(s.cameras[0].id, "gate-2");
  EXPECT_EQ(s.cameras[1].id, "Склад_1.a");
  EXPECT_EQ(s.cameras[2].id, "café");
  EXPECT_EQ(s.cameras[3].id, "gate");
  EXPECT_NE(error_of({"--config", config({"gate"})}).find("the id 'gate' is set for one camera"),
            std::string::npos)
      << "the other would be renamed";
  for (const auto &[id, why] :
       std::map<std::string, std::string>{{"", "empty"},
                                          {"a b", "character"},
                                          {"a/b", "character"},
                                          {"..", "begin"},
                                          {"-a", "begin"},
                                          {"a\\u0000", "NUL"},
                                          {"a?b", "character"},
                                          {"a%b", "character"},
                                          {"a\u202eb", "character"},
                                          {std::string(81, 'a'), "more than 80"}}) {
    const std::string error = error_of({"--config", config({id})});
    EXPECT_NE(error.find("cameras[0].id"), std::string::npos) << error;
    EXPECT_NE(error.find(why), std::string::npos) << error;
  }
  const std::string error = error_of({"--config", config({"a", "b", "a"})});
  EXPECT_NE(error.find("cameras[2].id is already used by another camera"), std::string::npos)
      << error;
}

TEST_F(InFolder, SharedNamesAreReported) {
  const std::string camera = "[[cameras]]\nname = 'Gate'\nuri = 'rtsp://";
  const auto said_of = [&](const std::string &text) {
    return shared_names(read({"--config", write("c.toml", text)}).settings.cameras);
  };
  const std::string said = said_of(camera + "a/'\n" + camera + "b/'\n");
  EXPECT_EQ(said.find("2 cameras share the name 'Gate': gate-"), 0u) << said;
  EXPECT_EQ(said_of(camera + "a/'\n" + camera + "b/'\nid = 'other'\n"), "");
}

TEST_F(InFolder, MistakenSourcesAreRefused) {
  const auto said_of = [&](const std::string &uri) {
    return error_of({"--config", write("c.toml", "[[cameras]]\nname='x'\nuri = '" + uri + "'\n")});
  };
  fs::create_directory(folder_ / "10.0.0.7");
  for (const auto &[uri, words] : std::map<std::string, std::string>{
           {"rtps://10.0.0.5/stream", "unknown scheme 'rtps'; did you mean rtsp or rtsps?"},
           {"RTPS://10.0.0.5/stream", "did you mean rtsp or rtsps?"},
           {"rstp://10.0.0.5/stream", "did you mean rtsp"},
           {"htps://10.0.0.5/", "did you mean http or https?"},
           {"htp://10.0.0.5/", "did you mean http"},
           {"fiel:///a.mp4", "did you mean file?"},
           {"v412:///dev/video0", "did you mean v4l2?"},
           {"onvif://10.0.0.5/", "unknown scheme 'onvif'; the address of a camera begins with"},
           {"admin:geheim@10.0.0.5/stream", "unknown scheme 'admin'"},
           {"camera:554/stream", "unknown scheme 'camera'"},
           {"10.0.0.5/stream", "without a scheme"},
           {"10.0.0.5", "without a scheme"},
           {"10.0.0.5:554/stream", "without a scheme"},
           {"[fe80::1]/stream", "without a scheme"},
           {"camera.example/stream", "without a scheme"},
           {"localhost/stream", "without a scheme"},
           {"viewer@10.0.0.5/stream", "without a scheme"},
           {"rtsp:///stream", "has no host"},
           {"http:/10.0.0.5/stream", "has no host"},
           {"file://clip.webm", "three slashes"},
           {"rtsp://10.0.0.5/PATH", "placeholder"},
           {"rtsp://HOST/live", "placeholder"},
           {"", "is missing for 'x'; fill in the address"}}) {
    const std::string error = said_of(uri);
    EXPECT_NE(error.find("cameras[0].uri"), std::string::npos) << uri << ": " << error;
    EXPECT_NE(error.find(words), std::string::npos) << uri << ": " << error;
    EXPECT_EQ(error.find("geheim"), std::string::npos) << error;
    // The command line says the same.
    if (!uri.empty()) {
      EXPECT_NE(error_of({uri}).find(words), std::string::npos) << error_of({uri});
    }
  }
  for (const char *uri : {"rtsp://10.0.0.5/stream",
                          "RTSPS://a/",
                          "rtspt://a/",
                          "http://a/",
                          "https://a/",
                          "udp://:5000",
                          "srt://a:1",
                          "srt://:7001?mode=listener",
                          "rtmp://a/b",
                          "rtp://239.0.0.1:5000",
                          "file:///tmp/a.mp4",
                          "v4l2:///dev/video0",
                          "clip.webm",
                          "videos/clip.webm",
                          "/dev/video0",
                          "10.0.0.7/clip.webm",
                          "./10.0.0.5/clip.webm",
                          "../clip.webm",
                          "a b.mp4",
                          "videotestsrc.mkv"})
    EXPECT_EQ(said_of(uri), "no error") << uri;
}

TEST_F(CommandLine, SetsRulesOfAllCameras) {
  const std::string file = write("c.toml",
                                 "[[cameras]]\nname = 'a'\nuri = 'rtsp://a/'\n"
                                 "verdicts.too-dark.hold = 9\n");
  const Settings s = read({"--config", file, "--set", "too-dark.raise=50", "--set",
                           "flicker.enabled=false", "rtsp://b/"})
                         .settings;
  ASSERT_EQ(s.cameras.size(), 2u);
  for (const CameraSettings &camera : s.cameras) {
    EXPECT_EQ(rule_of(camera.rules, Verdict::kTooDark).raise, 50);
    EXPECT_EQ(rule_of(camera.rules, Verdict::kTooDark).clear, 55);  // same distance
    EXPECT_FALSE(rule_of(camera.rules, Verdict::kFlicker).enabled);
  }
  EXPECT_EQ(rule_of(s.cameras[0].rules, Verdict::kTooDark).hold, 9);
}

TEST_F(CommandLine, TakesTheSettingsOfARuleInAnyOrder) {
  for (const char *first : {"raise", "clear"}) {
    const bool raise = std::string(first) == "raise";
    const Settings s = read({"a", "--set", raise ? "too-bright.raise=230" : "too-bright.clear=220",
                             "--set", raise ? "too-bright.clear=220" : "too-bright.raise=230"})
                           .settings;
    EXPECT_EQ(rule_of(s.cameras[0].rules, Verdict::kTooBright).raise, 230);
    EXPECT_EQ(rule_of(s.cameras[0].rules, Verdict::kTooBright).clear, 220);
  }
}

TEST_F(CommandLine, RaisedVerdictsCanBeCleared) {
  const auto clear = [&](const std::string &rule, Verdict verdict) {
    return rule_of(read({"a", "--set", rule}).settings.rules, verdict).clear;
  };
  EXPECT_EQ(clear("frozen.raise=30", Verdict::kFrozen), 11);
  EXPECT_EQ(clear("frozen.raise=10", Verdict::kFrozen), 5);
  EXPECT_EQ(clear("flicker.raise=0.5", Verdict::kFlicker), 0.25);
  EXPECT_EQ(clear("too-dark.raise=251", Verdict::kTooDark), 253);
  for (const char *never : {"frozen.clear=0", "frozen.raise=0", "too-dark.clear=255"})
    EXPECT_NE(error_of({"a", "--set", never}).find("leaves no value"), std::string::npos) << never;
}

TEST_F(CommandLine, NamesWrongArguments) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no camera"},
      {{"a", "--interval", "0"}, "--interval"},
      {{"a", "--interval", "nan"}, "--interval"},
      {{"a", "--max-fps", "2.5"}, "--max-fps"},
      {{"a", "--backend", "gpu"}, "'gpu'"},
      {{"a", "--set", "too-dark"}, "VERDICT.SETTING=VALUE"},
      {{"a", "--set", "too-drak.raise=5"}, "verdicts.too-drak"},
      {{"a", "--set", "too-dark.rise=5"}, "verdicts.too-dark.rise"},
      {{"a", "--set", "too-dark.raise=dark"}, "verdicts.too-dark.raise"},
      {{"a", "--set", "too-dark.clear=3"}, "verdicts.too-dark.clear"},
      {{"a", "--listen", "host:99999"}, "99999"},
      {{"a", "--user", "x"}, "--password-file"},
      {{"a", "--tls-key", "x"}, "certificate"},
      {{"a", "--token-file", "/not/there"}, "/not/there"},
      {{"a", "--config", "/not/there.toml"}, "/not/there.toml"},
      {{"a", "--no-such"}, "--no-such"},
      {{"a", "rtsp://b/", "--fast"}, "rtsp://b/: --fast"},
      {{"--export", "xml"}, "xml"},
  };
  for (const auto &[arguments, text] : cases) {
    const std::string error = error_of(arguments);
    EXPECT_NE(error.find(text), std::string::npos) << text << ": " << error;
  }
}

TEST_F(CommandLine, RefusesEmptySecretsFromTheEnvironment) {
  for (const char *name : {"LUMINANCE_MONITOR_TOKEN", "LUMINANCE_MONITOR_PASSWORD"}) {
    setenv(name, "", 1);
    EXPECT_NE(error_of({"a"}).find(name), std::string::npos);
    unsetenv(name);
  }
}

TEST_F(CommandLine, RefusesAnonymousAccessUnlessAllowed) {
  for (const char *address : {"0.0.0.0:80", ":80", "[::]:80", "192.0.2.1", "[2001:db8::1]:80"}) {
    EXPECT_NE(error_of({"a", "--listen", address}).find("--allow-anonymous"), std::string::npos)
        << address;
    EXPECT_TRUE(read({"a", "--listen", address, "--allow-anonymous"}).settings.web.allow_anonymous);
    EXPECT_NO_THROW(read({"a", "--listen", address, "--token-file", write("token", "secret")}));
    EXPECT_NO_THROW(read({"a", "--listen", address, "--no-web"}));
  }
  for (const char *address : {"127.0.0.1:80", "127.1.2.3", "[::1]:80", "localhost:80"})
    EXPECT_NO_THROW(read({"a", "--listen", address})) << address;
  const std::string web = "[web]\nlisten = ':80'\n", camera = "[[cameras]]\nuri = 'rtsp://a'\n";
  EXPECT_NE(error_in(web + camera).find("web.allow-anonymous"), std::string::npos);
  EXPECT_TRUE(config(web + "allow-anonymous = true\n" + camera).web.allow_anonymous);
  EXPECT_TRUE(
      config(web + "token = 'x'\ntrust-forwarded-for = true\n" + camera).web.trust_forwarded_for);
}

TEST_F(CommandLine, ListensWhereItIsTold) {
  const auto web = [&](const std::string &listen) {
    return read({"a", "--listen", listen, "--allow-anonymous"}).settings.web;
  };
  EXPECT_EQ(read({"a"}).settings.web.address, "127.0.0.1");
  EXPECT_EQ(web("0.0.0.0:80").address, "0.0.0.0");
  EXPECT_EQ(web("0.0.0.0:80").port, 80);
  EXPECT_EQ(web("[::1]:81").address, "::1");
  EXPECT_EQ(web("[::1]:81").port, 81);
  EXPECT_EQ(web("::1").address, "::1");
  EXPECT_EQ(web("::1").port, 8080);
  EXPECT_EQ(web("host").address, "host");
  EXPECT_EQ(web(":0").address, "0.0.0.0");
  EXPECT_EQ(web(":0").port, 0);
}

using ConfigFile = InFolder;

TEST_F(ConfigFile, IsComparedWithTheOneBefore) {
  const auto camera = [](const std::string &name, const std::string &more = "") {
    return "[[cameras]]\nname = '" + name + "'\nuri = 'rtsp://" + name + "'\n" + more;
  };
  const Settings before = config(camera("a") + camera("b") + camera("c") + camera("d"));
  const CameraChanges same = camera_changes(before, before);
  EXPECT_EQ(4u, same.unchanged);
  EXPECT_TRUE(same.added.empty() && same.removed.empty() && same.changed.empty());
  const Settings after =
      config(camera("e") + camera("d") + camera("b") + camera("a", "max-fps = 1"));
  const CameraChanges changes = camera_changes(before, after);
  EXPECT_EQ(std::vector<std::string>{"e"}, changes.added);
  EXPECT_EQ(std::vector<std::string>{"c"}, changes.removed);
  EXPECT_EQ(std::vector<std::string>{"a"}, changes.changed);
  EXPECT_EQ(2u, changes.unchanged);
  for (const char *more : {"user = 'x'", "user = 'x'\npassword = 'y'", "max-fps = 3",
                           "max-fps = 3\nverdicts.frozen = false"})
    EXPECT_EQ(1u, camera_changes(config(camera("a")), config(camera("a", more))).changed.size())
        << more;
  for (const char *more : {"verdicts.frozen = false", "verdicts.too-dark.raise = 30",
                           "verdicts.too-dark.clear = 60", "verdicts.too-dark.hold = 1"}) {
    const CameraChanges one = camera_changes(config(camera("a")), config(camera("a", more)));
    EXPECT_EQ(std::vector<std::string>{"a"}, one.rules) << more;
    EXPECT_TRUE(one.changed.empty() && one.unchanged == 0) << more;
  }
  const auto polled = [&](const char *interval) {
    return config(std::string("[[cameras]]\nuri = 'http://a/'\nsnapshot-interval = ") + interval);
  };
  EXPECT_EQ(1u, camera_changes(polled("1"), polled("2")).changed.size());
  EXPECT_EQ(1u, camera_changes(polled("1"), polled("1.0")).unchanged);
  EXPECT_EQ(4u, camera_changes(before, config("backend = 'cpu'\n" + camera("a") + camera("b") +
                                              camera("c") + camera("d")))
                    .changed.size());
}

TEST_F(ConfigFile, NamesSettingsThatNeedARestart) {
  const std::string camera = "[[cameras]]\nuri = 'rtsp://a'\n";
  const Settings before = config(camera);
  EXPECT_TRUE(fixed_changes(before, before).empty());
  const std::pair<const char *, const char *> cases[] = {
      {"interval = 2\n", "interval"},
      {"web.enabled = false\n", "web.enabled"},
      {"web.listen = '127.0.0.1:81'\n", "web.listen"},
      {"web.max-connections = 81\n", "web.max-connections"},
      {"web.trust-forwarded-for = true\n", "web.trust-forwarded-for"},
      {"web.tls-certificate = 'a'\nweb.tls-key = 'b'\n", "web.tls-certificate"},
      {"history.file = 'a'\n", "history.file"},
      {"history.enabled = false\n", "history.file"},
      {"history.interval = 61\n", "history.interval"},
      {"history.retention-days = 31\n", "history.retention-days"},
  };
  for (const auto &[text, name] : cases)
    EXPECT_EQ(std::vector<std::string>{name}, fixed_changes(before, config(text + camera))) << text;
  for (const char *text : {"web.token = 'x'\n", "web.allow-anonymous = true\n", "loop = true\n",
                           "web = { user = 'a', password = 'b' }\n", "max-fps = 3\n"})
    EXPECT_TRUE(fixed_changes(before, config(text + camera)).empty()) << text;
}

TEST_F(ConfigFile, SetsWhatItNames) {
  write("secret", "geheim\n");
  const Settings s = config(R"(
interval = 2
max-fps = 5
[web]
listen = "0.0.0.0:9000"
token-file = "secret"
[history]
file = "h.db"
interval = 10
retention-days = 7
[verdicts]
flicker = false
too-dark = { raise = 30, clear = 33, hold = 2 }
[[cameras]]
name = "Tür <1>"
uri = "rtsp://10.0.0.5/stream"
user = "viewer"
password-file = "secret"
[[cameras]]
uri = "clip.webm"
max-fps = 1
verdicts.frozen.enabled = false
)");
  EXPECT_EQ(s.interval, 2);
  EXPECT_EQ(s.web.port, 9000);
  EXPECT_EQ(s.web.token, "geheim");
  EXPECT_EQ(s.history.file, (folder_ / "h.db").string());
  EXPECT_EQ(s.history.interval, 10);
  EXPECT_EQ(s.history.retention, 7);
  ASSERT_EQ(s.cameras.size(), 2u);
  EXPECT_EQ(s.cameras[0].name, "Tür <1>");
  EXPECT_EQ(s.cameras[0].id, "tür-1");
  EXPECT_EQ(s.cameras[0].max_fps, 5u);
  EXPECT_EQ(s.cameras[0].credentials->password, "geheim");
  EXPECT_EQ(s.cameras[1].uri, "file://" + (folder_ / "clip.webm").string());
  EXPECT_EQ(s.cameras[1].max_fps, 1u);
  EXPECT_FALSE(rule_of(s.cameras[1].rules, Verdict::kFrozen).enabled);
  for (const CameraSettings &camera : s.cameras) {
    EXPECT_FALSE(rule_of(camera.rules, Verdict::kFlicker).enabled);
    EXPECT_EQ(rule_of(camera.rules, Verdict::kTooDark).clear, 33);
  }
}

TEST_F(ConfigFile, NamesTheSettingThatIsWrong) {
  const std::pair<const char *, const char *> cases[] = {
      {"intervall = 1", "intervall is unknown"},
      {"interval = 'x'", "interval is not a number"},
      {"interval = 1e300", "interval is 1e+300"},
      {"interval = nan", "interval is nan"},
      {"cameras = 3", "cameras is not a list"},
      {"cameras = [3]", "cameras[0] is not a table"},
      {"[[cameras]]\nname = 'x'", "cameras[0].uri is missing"},
      {"[[cameras]]\nuri = 'rtsp://a'\nname = ''", "cameras[0].name is empty"},
      {"[[cameras]]\nuri = 'rtsp://a'\nuser = 3", "cameras[0].user is not a string"},
      {"[[cameras]]\nuri = 'rtsp://a'\npassword = 'x'", "cameras[0].password"},
      {"[[cameras]]\nuri = 'rtsp://a'\nuser = 'x'\npassword-file = 'none'", "password-file"},
      {"[[cameras]]\nuri = 'rtsp://a'\nverdicts.too-dark.raise = 300",
       "cameras[0].verdicts.too-dark.raise is 300"},
      {"[[cameras]]\nuri = 'rtsp://a'\nsnapshot-interval = 1",
       "cameras[0].snapshot-interval needs a uri that begins with http"},
      {"[[cameras]]\nuri = 'http://a'\nsnapshot-interval = 0",
       "cameras[0].snapshot-interval is 0, must be between 0.2 and 3600"},
      {"[web]\nlisten = 'a:b'", "web.listen"},
      {"[web]\ntoken = ''", "web.token is empty"},
      {"[history]\nretention-days = -1", "history.retention-days"},
      {"a = 1979-05-27", "date"},
      {"a = [", "line 1"},
  };
  for (const auto &[text, expected] : cases) {
    const std::string error = error_in(text);
    EXPECT_NE(error.find(expected), std::string::npos) << text << ": " << error;
    EXPECT_NE(error.find("c.toml"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
  EXPECT_NE(error_in("cameras: []", "c.yaml").find("must end in .toml"), std::string::npos);
}

TEST_F(ConfigFile, AnEmptyVariableIsNoSecret) {
  setenv("EMPTY", "", 1);
  for (const char *text :
       {"[web]\ntoken-env = 'EMPTY'", "[web]\nuser = 'x'\npassword-env = 'EMPTY'",
        "[[cameras]]\nuri = 'rtsp://a'\nuser = 'x'\npassword-env = 'EMPTY'"}) {
    const std::string error = error_in(text);
    EXPECT_NE(error.find("-env: 'EMPTY' is empty"), std::string::npos) << error;
  }
}

TEST_F(ConfigFile, AWrongUriIsNoFile) {
  setenv("CAMERA_PASSWORD", "geheim", 1);
  for (const char *uri : {"rtsp://me:${CAMERA_PASSWORD}@host:99999/x", "rtsp://me:geheim@[::1/x",
                          "rtsp://me:gehe/im@host/x"}) {
    const std::string error = error_in(std::string("[[cameras]]\nuri = '") + uri + "'");
    EXPECT_NE(error.find("cameras[0].uri: a camera's URI"), std::string::npos) << error;
    EXPECT_EQ(error.find("gehe"), std::string::npos) << error;
  }
  setenv("CAMERA_PORT", "8554", 1);
  EXPECT_EQ(config("[[cameras]]\nuri = 'rtsp://host:${CAMERA_PORT}/x'").cameras[0].uri,
            "rtsp://host:8554/x");
}

TEST_F(ConfigFile, RefusesUrisThatHideAPasswordInThePath) {
  for (const char *uri :
       {"rtsp://admin:123/4geheim@host:554/live", "rtsp://admin:123?4geheim@host/live",
        "rtsp://admin:123#4geheim@host/live", "rtsp://admin:p@ss/4geheim@host/live",
        "http://admin/4:geheim@host", "rtsp://admin:123/4:geheim@[::1]:554/"}) {
    for (const std::string &error :
         {error_in(std::string("[[cameras]]\nuri = '") + uri + "'"), error_of({uri})}) {
      EXPECT_NE(error.find("write '/' as %2F"), std::string::npos) << uri << ": " << error;
      for (const char *part : {"123", "geheim", "4:", "ss/4"})
        EXPECT_EQ(error.find(part), std::string::npos) << error;
    }
  }
  const CameraSettings camera =
      config("[[cameras]]\nuri = 'rtsp://admin:123%2F4@host:554/live'").cameras.at(0);
  EXPECT_EQ(camera.credentials->password, "123/4");
  EXPECT_EQ(camera.location, "rtsp://host:554/live");
}

TEST_F(ConfigFile, TakesAtSignsWhereNoPasswordCanBe) {
  for (const char *uri : {"http://host/@yard/live", "http://[::1]/a?user=me@home",
                          "rtsp://host:554/live/me%40home", "file:///tmp/a:b@c.mp4"})
    EXPECT_EQ(config(std::string("[[cameras]]\nuri = '") + uri + "'").cameras.at(0).uri, uri);
  EXPECT_EQ(config("[[cameras]]\nuri = 'rtsp://@host:554/cam@1'").cameras.at(0).uri,
            "rtsp://host:554/cam@1");
}

TEST_F(ConfigFile, ReadsRedirectHosts) {
  const std::string begin = "[[cameras]]\nuri = 'http://a/'\nredirect-hosts = ";
  EXPECT_EQ(config(begin + "['b', '[::1]:8080']").cameras.at(0).redirect_hosts,
            (std::vector<std::string>{"b", "[::1]:8080"}));
  EXPECT_TRUE(config("[[cameras]]\nuri = 'http://a/'").cameras.at(0).redirect_hosts.empty());
  for (const char *wrong : {"'b'", "[1]", "['']", "['http://b']", "['*']"}) {
    const std::string error = error_in(begin + wrong);
    EXPECT_NE(error.find("cameras[0].redirect-hosts"), std::string::npos) << wrong << error;
  }
}

TEST_F(ConfigFile, RefusesMaliciousContents) {
  EXPECT_NE(error_in("a = " + std::string(100000, '[')).find("nested"), std::string::npos);
  EXPECT_NE(error_in(std::string(2 << 20, '#')).find("too large"), std::string::npos);
  std::string many = "a = [";
  for (int i = 0; i < 200000; ++i) many += "1,";
  EXPECT_NE(error_in(many + "]").find("too many"), std::string::npos);
}

TEST(Secrets, AreCutOutOfMessages) {
  CameraSettings camera;
  camera.uri = "http://host/video?token=abc123";
  camera.location = "http://host/video";
  camera.credentials = Credentials{"viewer", "ge heim"};
  EXPECT_EQ(without_secrets("cannot open http://host/video?token=abc123", camera),
            "cannot open http://host/video");
  EXPECT_EQ(without_secrets("GET /video?token=abc123 as viewer:ge heim", camera),
            "GET /video?*** as viewer:***");
  EXPECT_EQ(without_secrets("viewer:ge%20heim@host", camera), "viewer:***@host");
  camera.uri += "#part";
  EXPECT_EQ(without_secrets("GET /video?token=abc123", camera), "GET /video?***");
  EXPECT_EQ(without_secrets("no /user=a_password=b_c/d", camera), "no /user=a_password=***/d");
}

TEST(Secrets, AreCutOutOfOtherAddresses) {
  CameraSettings camera;
  camera.uri = camera.location = "http://host/video";
  EXPECT_EQ(without_secrets("leads to http://me:geheim@other:81/a?sid=4bR&x=y, perhaps", camera),
            "leads to http://other:81/a perhaps");
  EXPECT_EQ(without_secrets("see 'rtsp://other/4bRfx0QhDIxzUo1x'", camera),
            "see 'rtsp://other/***'");
  EXPECT_EQ(without_secrets("GET /a/apikey=geheim/b", camera), "GET /a/apikey=***/b");
  EXPECT_EQ(without_secrets("no file:///a?b#c", camera), "no file:///a?b#c");
}

TEST(Secrets, KeysOfAPathAreNotShown) {
  const auto shown = [](const std::string &path) {
    return split_uri("rtsps://host:7441/" + path).location.substr(18);
  };
  EXPECT_EQ(shown("4bRfx0QhDIxzUo1x"), "***");
  EXPECT_EQ(shown("s/9f86d081884c7d659a2feaa0c55ad015/live?x"), "s/***/live");
  EXPECT_EQ(shown("123e4567-e89b-12d3-a456-426614174000"), "***");
  for (const char *path : {"Streaming/Channels/101", "h264Preview_01_main", "cam/realmonitor",
                           "onvif-media/media.amp", "the-camera-above-the-entrance", "live/ch00_0",
                           "StreamingChannels101", "2026010112000000", "%E5%85%A5%E5%8F%A3"})
    EXPECT_EQ(shown(path), path);
}

TEST(Secrets, UrisAreSplit) {
  const SplitUri split = split_uri("rtsp://a%40b:p%3Aw@[fe80::1]:554/x?y=z#f");
  EXPECT_EQ(split.uri, "rtsp://[fe80::1]:554/x?y=z#f");
  EXPECT_EQ(split.location, "rtsp://[fe80::1]:554/x");
  EXPECT_EQ(split.credentials->user, "a@b");
  EXPECT_EQ(split.credentials->password, "p:w");
  EXPECT_EQ(split_uri("rtsp://h/a=b&Password=c&d/Token=e").location,
            "rtsp://h/a=b&Password=***&d/Token=***");
  EXPECT_FALSE(split_uri("rtsp://host/x").credentials.has_value());
  EXPECT_THROW(split_uri("no uri"), SettingsError);
  EXPECT_THROW(split_uri("rtsp://10.0[;x/stream"), SettingsError);
}

}  // namespace
}  // namespace luminance
