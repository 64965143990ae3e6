// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery/probe.h"

#include <glib.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

namespace luminance {
namespace {

constexpr size_t kMaxDepth = 32, kMaxPrefixes = 64, kMaxDevices = 64, kMaxAddresses = 8;

/// The namespaces of interest, and the letters that stand for them in the reader's paths.
constexpr std::pair<const char *, const char *> kNamespaces[] = {
    {"http://www.w3.org/2003/05/soap-envelope", "s"},
    {"http://schemas.xmlsoap.org/ws/2004/08/addressing", "a"},
    {"http://www.w3.org/2005/08/addressing", "a"},  // some cameras use it
    {"http://schemas.xmlsoap.org/ws/2005/04/discovery", "d"},
};
constexpr const char *kRelatesTo = "/s:Envelope/s:Header/a:RelatesTo";
const std::string kMatch = "/s:Envelope/s:Body/d:ProbeMatches/d:ProbeMatch";

std::string letter_of(const std::string &uri) {
  for (const auto &[known, letter] : kNamespaces)
    if (uri == known) return letter;
  return "";
}

std::vector<std::string> words_of(const std::string &text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Returns the rest of a scope after `begin`, which ends in a slash; empty if it begins otherwise.
std::string scope_value(const std::string &scope, const std::string &begin) {
  if (g_ascii_strncasecmp(scope.c_str(), begin.c_str(), begin.size()) != 0) return "";
  const std::string value = scope.substr(begin.size());
  g_autofree gchar *plain = g_uri_unescape_string(value.c_str(), nullptr);
  return plain != nullptr ? plain : value;
}

/// Whether a device may be a camera: it has the type of cameras, or tells no type.
bool is_camera(const std::string &types) {
  constexpr const char *kType = "NetworkVideoTransmitter";
  const std::vector<std::string> all = words_of(types);
  return all.empty() || std::any_of(all.begin(), all.end(), [](const std::string &type) {
           return type.substr(type.find(':') + 1) == kType;
         });
}

/// Reads an answer. GMarkup knows no declared entities, so that none can expand, and no namespaces,
/// which this class resolves.
class Reader {
 public:
  bool read(const std::string &text) {
    constexpr GMarkupParser kParser = {on_begin, on_end, on_text, nullptr, nullptr};
    const std::unique_ptr<GMarkupParseContext, decltype(&g_markup_parse_context_free)> context(
        g_markup_parse_context_new(&kParser, G_MARKUP_TREAT_CDATA_AS_TEXT, this, nullptr),
        g_markup_parse_context_free);
    return g_markup_parse_context_parse(context.get(), text.data(),
                                        static_cast<gssize>(text.size()), nullptr) &&
           g_markup_parse_context_end_parse(context.get(), nullptr);
  }
  const std::string &relates_to() const { return relates_to_; }
  const std::vector<OnvifDevice> &devices() const { return devices_; }

 private:
  struct Element {
    size_t path;      // length of the path before it
    size_t prefixes;  // number of prefixes before it
    std::string text;
  };
  struct Prefix {
    std::string name, uri;
  };

  static void on_begin(GMarkupParseContext *, const gchar *name, const gchar **names,
                       const gchar **values, gpointer self, GError **error) {
    auto *reader = static_cast<Reader *>(self);
    if (reader->elements_.size() >= kMaxDepth || reader->prefixes_.size() > kMaxPrefixes)
      g_set_error_literal(error, G_MARKUP_ERROR, G_MARKUP_ERROR_INVALID_CONTENT, "too much");
    else
      reader->begin(name, names, values);
  }
  static void on_end(GMarkupParseContext *, const gchar *, gpointer self, GError **) {
    static_cast<Reader *>(self)->end();
  }
  static void on_text(GMarkupParseContext *, const gchar *text, gsize size, gpointer self,
                      GError **) {
    auto *reader = static_cast<Reader *>(self);
    if (!reader->elements_.empty()) reader->elements_.back().text.append(text, size);
  }

  void begin(const std::string &name, const gchar **names, const gchar **values) {
    elements_.push_back({path_.size(), prefixes_.size(), ""});
    for (; *names != nullptr; ++names, ++values) {
      if (g_str_equal(*names, "xmlns")) prefixes_.push_back({"", *values});
      if (g_str_has_prefix(*names, "xmlns:")) prefixes_.push_back({*names + 6, *values});
    }
    const size_t colon = name.find(':');
    const std::string prefix = colon == std::string::npos ? "" : name.substr(0, colon);
    path_ += "/" + letter_of(uri_of(prefix)) + ":" + name.substr(prefix.empty() ? 0 : colon + 1);
    if (path_ == kMatch) device_ = {}, types_.clear();
  }

  std::string uri_of(const std::string &prefix) const {
    const auto found = std::find_if(prefixes_.rbegin(), prefixes_.rend(),
                                    [&](const Prefix &known) { return known.name == prefix; });
    return found != prefixes_.rend() ? found->uri : "";
  }

  void end() {
    const Element element = std::move(elements_.back());
    elements_.pop_back();
    take(element.text);
    path_.resize(element.path);
    prefixes_.resize(element.prefixes);
  }

  void take(const std::string &text) {
    if (path_ == kRelatesTo) relates_to_ = words_of(text).empty() ? "" : words_of(text).front();
    if (path_ == kMatch + "/a:EndpointReference/a:Address")
      device_.endpoint = words_of(text).empty() ? "" : words_of(text).front();
    if (path_ == kMatch + "/d:Types") types_ = text;
    if (path_ == kMatch + "/d:Scopes") take_scopes(words_of(text));
    if (path_ == kMatch + "/d:XAddrs") {
      device_.addresses = words_of(text);
      device_.addresses.resize(std::min(device_.addresses.size(), kMaxAddresses));
    }
    if (path_ == kMatch && is_camera(types_) && devices_.size() < kMaxDevices)
      devices_.push_back(std::move(device_));
  }

  void take_scopes(const std::vector<std::string> &scopes) {
    for (const std::string &scope : scopes) {
      if (device_.name.empty()) device_.name = scope_value(scope, "onvif://www.onvif.org/name/");
      if (device_.hardware.empty())
        device_.hardware = scope_value(scope, "onvif://www.onvif.org/hardware/");
    }
  }

  std::vector<Element> elements_;
  std::vector<Prefix> prefixes_;
  std::string path_;  // such as "/s:Envelope/s:Body"
  std::string relates_to_, types_;
  OnvifDevice device_;
  std::vector<OnvifDevice> devices_;
};

}  // namespace

std::string probe(const std::string &id) {
  g_autofree gchar *escaped = g_markup_escape_text(id.c_str(), -1);
  return R"(<?xml version="1.0" encoding="UTF-8"?>
<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" )"
         R"(xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" )"
         R"(xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" )"
         R"(xmlns:dn="http://www.onvif.org/ver10/network/wsdl">)"
         R"(<s:Header><a:Action s:mustUnderstand="1">)"
         R"(http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action><a:MessageID>)" +
         std::string(escaped) +
         R"(</a:MessageID><a:ReplyTo><a:Address>)"
         R"(http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous</a:Address>)"
         R"(</a:ReplyTo><a:To s:mustUnderstand="1">)"
         R"(urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To></s:Header>)"
         R"(<s:Body><d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe></s:Body>)"
         R"(</s:Envelope>)";
}

std::vector<OnvifDevice> devices_in(const std::string &answer, const std::string &id) {
  Reader reader;
  if (!reader.read(answer) || reader.relates_to() != id) return {};
  return reader.devices();
}

}  // namespace luminance
