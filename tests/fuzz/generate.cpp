// SPDX-License-Identifier: LGPL-2.1-or-later
#include "generate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "models.h"

namespace fuzz {
namespace {

std::vector<std::string> listed_formats(const char *factory_name) {
  std::vector<std::string> formats;
  GstElementFactory *factory = gst_element_factory_find(factory_name);
  if (factory == nullptr)
    g_error("the element %s was not found; check GST_PLUGIN_PATH", factory_name);
  const auto *l = gst_element_factory_get_static_pad_templates(factory);
  for (; l != nullptr; l = l->next) {
    auto *pad = static_cast<GstStaticPadTemplate *>(l->data);
    if (pad->direction != GST_PAD_SINK) continue;
    const Ref<GstCaps> caps(gst_static_pad_template_get_caps(pad));
    // The pads may offer other memories as well, with fewer formats.
    guint system = 0;
    while (!gst_caps_features_is_equal(gst_caps_get_features(caps.get(), system),
                                       GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      ++system;
    const GValue *list =
        gst_structure_get_value(gst_caps_get_structure(caps.get(), system), "format");
    for (guint i = 0; i < gst_value_list_get_size(list); ++i)
      formats.push_back(g_value_get_string(gst_value_list_get_value(list, i)));
  }
  gst_object_unref(factory);
  return formats;
}

std::string number_text(double value) {
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_ascii_dtostr(buffer, sizeof buffer, value);
}

std::string wild_number(Random &random) {
  return random.pick<std::string>({"0", "1", "-1", "0.5", "255", "256", "1e300", "-1e300", "nan",
                                   "inf", "-inf", "1e-300", "3.4e38", "-0.0", "abc", "",
                                   "99999999999999999999", "0x10"});
}

std::string numbers(Run &run, int count) {
  Random &random = run.random;
  std::string list;
  for (int i = 0; i < count; ++i) {
    const double value = static_cast<double>(random.between(-300, 300)) / 100;
    const bool wild = !run.sane && random.one_in(10);
    list += (i > 0 ? "," : "") + (wild ? wild_number(random) : number_text(value + 0.005));
  }
  return "<" + list + ">";
}

std::string rectangles(Run &run, int count) {
  Random &random = run.random;
  std::string list;
  for (int i = 0; i < 4 * count; ++i) {
    const long low = i % 4 < 2 ? (run.sane ? 0 : -20) : (run.sane ? 1 : -1);
    const double value = static_cast<double>(random.between(low, 40)) / random.pick({1, 1, 2});
    list += (i > 0 ? "," : "") + number_text(value);
  }
  return "<" + list + ">";
}

std::string array_text(Run &run, const std::string &name) {
  Random &random = run.random;
  if (name == "region-list")
    return rectangles(run, run.sane ? 1 + random.between(0, 3) : random.pick({0, 1, 2, 9, 70}));
  if (name == "region-matrices")
    return numbers(run, run.sane ? random.pick({6, 12}) : random.pick({0, 5, 6, 6, 12, 54, 70}));
  // As many points as the regions of add_metas() mostly have.
  if (name == "region-align")
    return numbers(run,
                   run.sane ? random.pick({0, 4, 10}) : random.pick({0, 1, 2, 4, 10, 10, 400}));
  if (name == "roi")
    return text("<%ld,%ld,%ld,%ld>", random.between(run.sane ? 0 : -20, 30),
                random.between(run.sane ? 0 : -20, 30), random.between(run.sane ? 1 : -2, 90),
                random.between(run.sane ? 1 : -2, 90));
  if (name == "classes") return random.pick<std::string>({"<>", "<0>", "<0,2>", "<-1,2147483647>"});
  return numbers(run, run.sane ? random.pick({1, 3}) : random.pick({0, 1, 1, 2, 3, 3, 3, 4, 40}));
}

/// The largest value of an integer property. Larger values would only exhaust the memory.
long most_of(const std::string &name) {
  static const auto *most = new std::map<std::string, long>{
      {"n-threads", 7},   {"upscale-factor", 4},    {"tile-columns", 5}, {"tile-rows", 5},
      {"max-batch", 9},   {"batch-size", 6},        {"crop-x", 9},       {"crop-y", 9},
      {"pad-value", 255}, {"frames-per-tensor", 4}, {"frame-step", 3},   {"clip-hop", 7},
  };
  const auto found = most->find(name);
  return found != most->end() ? found->second : 64;
}

std::string whole_text(Run &run, const std::string &name) {
  Random &random = run.random;
  if (name == "interval" || name == "window")
    return random.pick<std::string>(
        {"0", "1", "33000000", "40000000", "100000000", "3600000000000"});
  if (!run.sane && random.one_in(8)) return wild_number(random);
  // Most other lengths are shorter than the output.
  if (name == "shortest-edge" && (run.sane || random.one_in(2)))
    return random.pick<std::string>({"0", "0", "100", "300", "5000"});
  if (g_str_has_suffix(name.c_str(), "width") && random.one_in(60))
    return text("%ld", random.between(1, 4096));
  return text("%ld", random.between(0, most_of(name)));
}

std::string real_text(Run &run, const std::string &name) {
  Random &random = run.random;
  if (!run.sane && random.one_in(3)) return wild_number(random);
  if (name == "tile-overlap" || g_str_has_prefix(name.c_str(), "region-"))
    return random.pick<std::string>({"0", "0.2", "0.5", "0.9"});
  if (name == "confidence" || name == "iou")
    return random.pick<std::string>({"0", "0.25", "0.7", "1"});
  return random.pick<std::string>({"0", "1", "0.0039", "2.5", "114", "-1"});
}

std::string value_text(Run &run, const GParamSpec *spec) {
  Random &random = run.random;
  if (spec->value_type == GST_TYPE_ARRAY) return array_text(run, spec->name);
  if (spec->value_type == G_TYPE_BOOLEAN) return random.one_in(2) ? "true" : "false";
  if (spec->value_type == G_TYPE_DOUBLE) return real_text(run, spec->name);
  // Its values may contradict other properties, which is no error of the element.
  if (strcmp(spec->name, "model-config") == 0 || strcmp(spec->name, "model") == 0 ||
      strcmp(spec->name, "labels") == 0)
    return run.sane ? "" : model_file(run);
  if (spec->value_type == G_TYPE_STRING)
    return random.pick<std::string>({"", "face", run.sane ? "car" : "\xff\xfe", "a b"});
  if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass *values = G_PARAM_SPEC_ENUM(spec)->enum_class;
    return values->values[random.between(0, values->n_values - 1)].value_nick;
  }
  return whole_text(run, spec->name);
}

bool is_own(const GParamSpec *spec) {
  return g_str_has_prefix(g_type_name(spec->owner_type), "GstCuda") &&
         (spec->flags & G_PARAM_WRITABLE) != 0;
}

std::vector<GParamSpec *> own_properties(GstElement *element) {
  guint count = 0;
  GParamSpec **const all = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::vector<GParamSpec *> own;
  std::copy_if(all, all + count, std::back_inserter(own), is_own);
  g_free(all);
  return own;
}

/// Properties that keep an element from starting without a GPU. A harness requires that it starts.
bool is_of_the_gpu(const GParamSpec *spec) {
  return strcmp(spec->name, "backend") == 0 || strcmp(spec->name, "cuda-device-id") == 0;
}

/// Whether the element is in a harness, which starts it once. In a pipeline, each change of state
/// would fail with another error.
bool may_ask_for_gpu(const Run &run, GstElement *element) {
  const GstObject *parent = GST_OBJECT_PARENT(element);
  return !run.sane && GST_STATE(element) != GST_STATE_NULL && !GST_IS_PIPELINE(parent);
}

bool has_choice(GstElement *element, const char *property,
                std::initializer_list<const char *> nicks) {
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property);
  if (spec == nullptr) return false;
  gint value = 0;
  g_object_get(element, property, &value, nullptr);
  const GEnumValue *choice = g_enum_get_value(G_PARAM_SPEC_ENUM(spec)->enum_class, value);
  return std::any_of(nicks.begin(), nicks.end(),
                     [&](const char *nick) { return strcmp(choice->value_nick, nick) == 0; });
}

bool is_set(GstElement *element, const char *property) {
  gboolean value = FALSE;
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), property) != nullptr)
    g_object_get(element, property, &value, nullptr);
  return value != FALSE;
}

bool has_items(GstElement *element, const char *property) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), property) == nullptr) return false;
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), property, &list);
  const bool has = gst_value_array_get_size(&list) > 0;
  g_value_unset(&list);
  return has;
}

void set_text(Run &run, GstElement *element, const char *property, const char *value) {
  run.say(text("%s %s=%s", GST_OBJECT_NAME(element), property, value));
  gst_util_set_object_arg(G_OBJECT(element), property, value);
}

/// Whether slots are made by the matrices that metas or the property give.
bool has_matrices(GstElement *element) {
  if (has_choice(element, "regions", {"meta"}))
    return is_set(element, "region-oriented") || has_items(element, "region-align");
  return has_choice(element, "regions", {"matrices"});
}

void make_matrices_possible(Run &run, GstElement *element) {
  if (is_set(element, "antialias")) {
    set_text(run, element, "method", "bilinear");
    set_text(run, element, "antialias", "false");
  }
  if (has_choice(element, "resize-mode", {"torchvision", "transformers"}))
    set_text(run, element, "resize-mode", "ultralytics");
  if (is_set(element, "pad-normalized") && !has_choice(element, "region-edge", {"repeat"}))
    set_text(run, element, "pad-normalized", "false");
}

/// Changes properties that exclude each other, because most random choices of them do.
void make_resize_possible(Run &run, GstElement *element) {
  if (has_choice(element, "method", {"box", "bicubic", "lanczos"}) && !is_set(element, "antialias"))
    set_text(run, element, "antialias", "true");
  if (has_choice(element, "method", {"nearest"}) && is_set(element, "antialias"))
    set_text(run, element, "antialias", "false");
  if (is_set(element, "antialias") && has_choice(element, "resize-mode", {"affine"}))
    set_text(run, element, "resize-mode", run.random.pick({"ultralytics", "torchvision"}));
  if (is_set(element, "antialias") && has_choice(element, "color", {"yuv"}))
    set_text(run, element, "color", "rgb");
  const bool excludes_zero = has_choice(element, "resize-mode", {"affine"}) ||
                             has_choice(element, "dtype", {"uint8", "int8"});
  if (is_set(element, "pad-normalized") && excludes_zero)
    set_text(run, element, "pad-normalized", "false");
  if (has_matrices(element)) make_matrices_possible(run, element);
  if (has_choice(element, "video-direction", {"custom"}))
    set_text(run, element, "video-direction", run.random.pick({"90r", "auto"}));
}

std::string strange_fields(Random &random) {
  std::string fields;
  if (random.one_in(20))
    fields += ",interlace-mode=" + random.pick<std::string>({"progressive", "interleaved", "mixed",
                                                             "fields", "alternate"});
  if (random.one_in(30))
    fields += ",multiview-mode=" + random.pick<std::string>({"mono", "side-by-side", "separated"}) +
              random.pick<std::string>({"", ",views=2"});
  if (random.one_in(10))
    fields += ",pixel-aspect-ratio=" +
              random.pick<std::string>({"16/11", "2147483647/1", "1/2147483647", "0/1"});
  if (random.one_in(12))
    fields +=
        ",colorimetry=" + random.pick<std::string>({"bt2020", "0:0:0:0", "nonsense", "1:1:16:4"});
  if (random.one_in(12))
    fields += ",chroma-site=" + random.pick<std::string>({"none", "dv", "nonsense", "v-cosited"});
  return fields;
}

}  // namespace

const std::vector<std::string> &formats_of(const char *factory) {
  static auto *known = new std::map<std::string, std::vector<std::string>>;
  std::vector<std::string> &formats = (*known)[factory];
  if (formats.empty()) formats = listed_formats(factory);
  return formats;
}

Size random_size(Random &random) {
  const auto sized = [&](long width, long height) {
    return Size{static_cast<int>(random.between(1, width)),
                static_cast<int>(random.between(1, height))};
  };
  switch (random.between(0, 11)) {
    case 0: return sized(4096, 8);
    case 1: return sized(8, 4096);
    case 2: return sized(640, 480);
    case 3: return sized(3, 3);
    default: return sized(70, 70);
  }
}

std::string video_caps(Run &run, const std::vector<std::string> &formats) {
  Random &random = run.random;
  const Size size = random_size(random);
  std::string format = random.pick(formats), feature;
  if (!run.sane && random.one_in(40))
    format = random.pick<std::string>({"GRAY16_BE", "A420_10BE", "NV12_64Z32", "v210", "nonsense"});
  if (!run.sane && random.one_in(40))
    feature = random.pick<std::string>(
        {"(memory:SystemMemory)", "(format:Interlaced)", "(memory:CUDAMemory)"});
  std::string caps = "video/x-raw" + feature + ",format=" + format +
                     text(",width=%d,height=%d", size.width, size.height);
  if (!random.one_in(5))
    caps += ",framerate=" + random.pick<std::string>({"30/1", "0/1", "1/1", "30000/1001"});
  if (random.one_in(4))
    caps += ",colorimetry=" +
            random.pick<std::string>({"bt601", "bt709", "1:4:0:0", "bt2020", "bt2100-pq"});
  if (random.one_in(5))
    caps += ",chroma-site=" + random.pick<std::string>({"jpeg", "mpeg2", "cosited"});
  // If a field occurs twice, the last one counts.
  return run.sane ? caps : caps + strange_fields(random);
}

std::string tensor_caps(Run &run) {
  Random &random = run.random;
  const long factor = random.between(1, 3), channels = random.pick({1, 2, 3, 3});
  std::string dimensions = text("%ld:%ld:%ld", random.between(1, 40), random.between(1, 40),
                                run.sane ? channels * factor * factor : random.between(1, 40));
  if (random.one_in(2)) dimensions += random.one_in(3) ? ":2" : ":1";
  if (!run.sane && random.one_in(20))
    dimensions = random.pick<std::string>({"2147483647:2147483647:4:1", "0:1:4:1", "-1:2:4:1",
                                           "1:1:1:1:2", "a:b", "99999999999:1:4:1"});
  return "other/tensors,format=static,num_tensors=1,types=" +
         random.pick<std::string>({"uint8", "float32", "float16", "uint8", "float32"}) +
         ",dimensions=(string)" + dimensions + ",framerate=30/1";
}

std::string network_caps(Run &run) {
  Random &random = run.random;
  const std::string dimensions =
      random.pick<std::string>({"9:6:1", "9:6:3", "40:7:2", "8:30:1", "6:30:1", "6:300:2", "10:1",
                                "10:4", "5:5:1", "3:3", "1"});
  return "other/tensors,format=" + std::string(random.one_in(6) ? "flexible" : "static") +
         ",num_tensors=1,types=" +
         random.pick<std::string>({"float32", "float32", "float16", "int32"}) +
         ",dimensions=(string)" + dimensions + ",framerate=30/1";
}

std::string downstream_caps(Run &run) {
  Random &random = run.random;
  const Size size = random_size(random);
  switch (random.between(0, run.sane ? 5 : 11)) {
    case 0: return text("video/x-raw,width=%d,height=%d;other/tensors", size.width, size.height);
    case 1: return "other/tensors;video/x-raw,format={RGB,BGRA,Y444}";
    case 2:
      return text("video/x-raw,width=[1,%d],height=[2,%d];other/tensors", size.width + 1,
                  size.height + 2);
    case 6: return "text/plain";
    case 7:
      return text(
          "other/tensors,format=static,num_tensors=1,types=uint8,"
          "dimensions=(string)%d:%d:3:1,framerate=30/1",
          size.width, size.height);
    case 8:
      return text(
          "other/tensors,format=static,num_tensors=1,dimensions=(string){%d:%d:3,"
          "3:%d:%d:1,1:2:3:4}",
          size.width, size.height, size.width, size.height);
    default: return "";
  }
}

void set_random_property(Run &run, GstElement *element) {
  const std::vector<GParamSpec *> own = own_properties(element);
  if (own.empty()) return;
  GParamSpec *const spec = run.random.pick(own);
  if (is_of_the_gpu(spec) && !may_ask_for_gpu(run, element)) return;
  const std::string wanted = value_text(run, spec);
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  if (gst_value_deserialize_with_pspec(&value, wanted.c_str(), spec)) {
    run.say(text("%s %s=%s", GST_OBJECT_NAME(element), spec->name, wanted.c_str()));
    g_param_value_validate(spec, &value);
    g_object_set_property(G_OBJECT(element), spec->name, &value);
  }
  g_value_unset(&value);
  if (run.sane || !run.random.one_in(4)) make_resize_possible(run, element);
}

bool reads_files(const std::vector<GstElement *> &elements) {
  const auto has_text = [](GstElement *element, const char *property) {
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), property) == nullptr)
      return false;
    gchar *text = nullptr;
    g_object_get(element, property, &text, nullptr);
    const bool has = text != nullptr && *text != '\0';
    g_free(text);
    return has;
  };
  return std::any_of(elements.begin(), elements.end(), [&](GstElement *element) {
    return has_text(element, "model-config") || has_text(element, "model");
  });
}

void copy_properties(GstElement *from, GstElement *to, guint threads) {
  for (GParamSpec *spec : own_properties(from)) {
    if (is_of_the_gpu(spec)) continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, spec->value_type);
    g_object_get_property(G_OBJECT(from), spec->name, &value);
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(to), spec->name) != nullptr)
      g_object_set_property(G_OBJECT(to), spec->name, &value);
    g_value_unset(&value);
  }
  g_object_set(to, "n-threads", threads, nullptr);
}

}  // namespace fuzz
