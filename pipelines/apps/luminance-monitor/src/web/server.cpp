// SPDX-License-Identifier: LGPL-2.1-or-later
#include "web/server.h"

#include <algorithm>
#include <utility>

#include "history/csv.h"
#include "history/queries.h"
#include "log/log.h"
#include "settings/limits.h"
#include "web/api.h"
#include "web/http.h"
#include "web/incidentpictures.h"
#include "web/incidents.h"
#include "web/login.h"
#include "web/maintenance.h"
#include "web/page.h"
#include "web/references.h"
#include "web/requests.h"
#include "web/stream.h"
#include "web/tls.h"

namespace luminance {
namespace {

constexpr int64_t kDay = 24 * 3600 * 1000;
constexpr int64_t kMaxRows = 5000;  // of the history in one response
const std::string kIncidents = "/api/v1/incidents";

/// Returns the host without its port, in lower case.
std::string name_in(const std::string &host) {
  const size_t end = host.front() == '[' ? host.find(']') + 1 : host.find(':');
  g_autofree gchar *lower = g_ascii_strdown(host.c_str(), -1);
  return std::string(lower).substr(0, end);
}

Answer no_picture() { return failure(404, "the camera has no picture"); }

/// Half of the connections may wait for the history. One address has a quarter of them at most, so
/// it leaves room for others.
std::unique_ptr<Queries> make_queries(const WebSettings &settings, const History *history) {
  if (history == nullptr) return nullptr;
  return std::make_unique<Queries>(history->file(), std::max(1u, settings.max_connections / 2));
}

}  // namespace

struct Server::Implementation {
  Implementation(const WebSettings &settings, const Served &what)
      : served(what),
        address(settings.address),
        queries(make_queries(settings, what.history)),
        references(what.monitor, what.stills),
        pictures(what.monitor, what.stills, what.history),
        stream(what.monitor, what.history, std::max(1u, settings.max_connections / 4 * 3)),
        incidents(what.history,
                  [this](const auto &exchange, auto query, const auto &type) {
                    submit(exchange, std::move(query), type);
                  }),
        http(settings, [this](const std::shared_ptr<Exchange> &exchange) { answer(exchange); }),
        login(settings, http.port(), page) {
    if (!http.is_loopback()) require_authentication(settings);
    const auto maintain = [](gpointer self) -> gboolean {
      static_cast<Implementation *>(self)->maintain();
      return G_SOURCE_CONTINUE;
    };
    maintain_timer = g_timeout_add_seconds(1, maintain, this);
  }
  ~Implementation() { g_source_remove(maintain_timer); }

  void answer(const std::shared_ptr<Exchange> &exchange);
  void check_host(const Exchange &exchange) const;
  void maintain();
  void drop_readers(bool all);
  void route(const std::shared_ptr<Exchange> &exchange);
  void route_camera(const std::shared_ptr<Exchange> &exchange, const std::string &rest);
  void still(const std::shared_ptr<Exchange> &exchange, const Camera &camera);
  void reference(const std::shared_ptr<Exchange> &exchange, const Camera &camera) const;
  void renew_reference(const std::shared_ptr<Exchange> &exchange, const Camera &camera);
  void open_stream(const std::shared_ptr<Exchange> &exchange);
  void events(const std::shared_ptr<Exchange> &exchange);
  void history(const std::shared_ptr<Exchange> &exchange, const Camera &camera);
  void csv(const std::shared_ptr<Exchange> &exchange, const Camera &camera);
  void submit(const std::shared_ptr<Exchange> &exchange, Queries::Query query,
              const std::string &type = "application/json");
  void route_incidents(const std::shared_ptr<Exchange> &exchange, const std::string &rest);
  void test_notifications(const std::shared_ptr<Exchange> &exchange);
  int64_t now() const { return served.monitor.clock().wall(served.monitor.clock().now()); }

  const Served served;
  const std::string address;
  const Page page;
  const std::unique_ptr<Queries> queries;  // null: no history is kept
  References references;
  IncidentPictures pictures;
  EventStream stream;
  IncidentApi incidents;
  Http http;  // destroyed before the stream, whose readers it has
  Login login;
  struct StreamReader {
    std::string session;  // that permits the request; empty: a header does
    std::weak_ptr<Exchange> exchange;
  };
  std::vector<StreamReader> readers;  // of the stream
  guint maintain_timer = 0;
};

void Server::Implementation::answer(const std::shared_ptr<Exchange> &exchange) try {
  if (exchange->path() != "/healthz") {
    check_host(*exchange);
    if (login.answer(exchange) || !login.admits(exchange)) return;
  }
  route(exchange);
} catch (const Refusal &refusal) {
  exchange->answer(failure(refusal.status, refusal.what()));
}

void Server::Implementation::check_host(const Exchange &exchange) const {
  // Prevents DNS rebinding: another site's page in a browser of this machine, whose host name has
  // come to resolve to this server, could read the API without a password.
  const std::string &host = exchange.host();
  if (!login.is_open() || !http.is_loopback() || host.empty()) return;
  const std::string name = name_in(host);
  if (name != "localhost" && name != "127.0.0.1" && name != "[::1]" && name != address)
    throw Refusal(403, "unexpected Host header");
}

void Server::Implementation::route(const std::shared_ptr<Exchange> &exchange) {
  const std::string &path = exchange->path();
  const std::string cameras = "/api/v1/cameras";
  const auto json = [&](const std::string &text) {
    exchange->answer({200, "application/json", text});
  };
  // Always 200: other statuses make an orchestrator restart the monitor, which does not repair a
  // disk and loses data that wait to be written.
  if (path == "/healthz")
    return json(error_of(served.history).empty() ? R"({"status":"ok"})"
                                                 : R"({"status":"ok","history":"failing"})");
  if (path == "/metrics")
    return exchange->answer(
        {200, "text/plain; version=0.0.4; charset=utf-8", served.metrics.text()});
  if (path == cameras) return json(text_of(cameras_json(served.monitor, served.history)));
  if (path == "/api/v1/events") return events(exchange);
  if (path == "/api/v1/notifications") return json(text_of(notifications_json(served.notifier)));
  if (path == "/api/v1/notifications/test") return test_notifications(exchange);
  if (path == "/api/v1/stream") return open_stream(exchange);
  if (path.rfind(kIncidents, 0) == 0)
    return route_incidents(exchange, path.substr(kIncidents.size()));
  if (path.rfind(cameras + "/", 0) == 0)
    return route_camera(exchange, path.substr(cameras.size() + 1));
  if (!page.answer(*exchange)) throw Refusal(404, "not found");
}

/// `rest`: "", ".csv", "/ID" or "/ID/picture.jpg"
void Server::Implementation::route_incidents(const std::shared_ptr<Exchange> &exchange,
                                             const std::string &rest) {
  if (queries == nullptr) throw Refusal(404, "no history is kept");
  std::optional<std::string> camera = exchange->parameter("camera");
  incidents.answer(exchange, rest, camera, now(), login.user_of(*exchange));
}

/// `rest`: "ID" or "ID/what"
void Server::Implementation::route_camera(const std::shared_ptr<Exchange> &exchange,
                                          const std::string &rest) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  const Camera *camera = served.monitor.camera(rest.substr(0, slash));
  if (camera == nullptr) throw Refusal(404, "no such camera");
  const std::string what = rest.substr(slash);
  const auto json = [&](const std::string &text) {
    exchange->answer({200, "application/json", text});
  };
  if (what.empty()) return json(text_of(camera_json(*camera, served.monitor.clock())));
  if (what == "/recent") return json(text_of(recent_json(*camera, served.monitor)));
  if (what == "/history") return history(exchange, *camera);
  if (what == "/history.csv") return csv(exchange, *camera);
  if (what == "/still.jpg") return still(exchange, *camera);
  if (what == "/reference.jpg") return reference(exchange, *camera);
  if (what == "/maintenance") return answer_maintenance(*exchange, served.monitor, *camera);
  if (what == "/reference") return renew_reference(exchange, *camera);
  throw Refusal(404, "not found");
}

void Server::Implementation::still(const std::shared_ptr<Exchange> &exchange,
                                   const Camera &camera) {
  const auto done = [exchange](GBytes *jpeg) {
    if (jpeg == nullptr) return exchange->answer(no_picture());
    gsize size = 0;
    const auto *bytes = static_cast<const char *>(g_bytes_get_data(jpeg, &size));
    exchange->answer({200, "image/jpeg", {bytes, size}});
  };
  served.stills.still(served.monitor.number_of(camera), done);
}

void Server::Implementation::reference(const std::shared_ptr<Exchange> &exchange,
                                       const Camera &camera) const {
  const std::shared_ptr<const std::string> &jpeg = camera.reference_picture();
  exchange->answer(jpeg == nullptr ? no_picture() : Answer{200, "image/jpeg", *jpeg});
}

void Server::Implementation::renew_reference(const std::shared_ptr<Exchange> &exchange,
                                             const Camera &camera) {
  if (!is_own_post(*exchange)) return;
  served.monitor.renew_scene(served.monitor.number_of(camera));
  log_line("the reference of " + camera.name() + " is learned anew, as a client asked");
  exchange->answer({200, "application/json", text_of(camera_json(camera, served.monitor.clock()))});
}

void Server::Implementation::open_stream(const std::shared_ptr<Exchange> &exchange) {
  Answer answer = {200, "text/event-stream", ""};
  if (exchange->is_head()) return exchange->answer(std::move(answer));
  if (!stream.has_room()) throw Refusal(503, "too many clients of the event stream");
  readers.push_back({login.session_of(*exchange), exchange});
  exchange->answer(std::move(answer), stream.open(exchange));
}

void Server::Implementation::maintain() {
  for (const std::string &line : login.report()) log_line("web: " + line);
  pictures.maintain();
  drop_readers(false);
}

/// Drops readers whose session is over, or all of them.
void Server::Implementation::drop_readers(bool all) {
  const auto is_finished = [&](const StreamReader &reader) {
    const std::shared_ptr<Exchange> exchange = reader.exchange.lock();
    if (exchange == nullptr) return true;
    const bool may_stay = !all && (reader.session.empty() || login.knows(reader.session));
    if (!may_stay) exchange->drop();
    return !may_stay;
  };
  readers.erase(std::remove_if(readers.begin(), readers.end(), is_finished), readers.end());
}

/// Runs the query on another thread, and answers with its result.
void Server::Implementation::submit(const std::shared_ptr<Exchange> &exchange, Queries::Query query,
                                    const std::string &type) {
  const auto done = [waiting = std::weak_ptr(exchange), type](Queries::Outcome outcome) {
    const std::shared_ptr<Exchange> exchange = waiting.lock();
    if (exchange == nullptr) return;
    exchange->answer(outcome.error.empty()
                         ? Answer{200, type, std::move(outcome.text)}
                         : failure(outcome.is_missing ? 404 : 500, outcome.error));
  };
  std::shared_ptr<Queries::Handle> query_handle = queries->submit(std::move(query), done);
  if (query_handle == nullptr) throw Refusal(503, "too many requests for the history");
  exchange->keep(std::move(query_handle));
}

void Server::Implementation::events(const std::shared_ptr<Exchange> &exchange) {
  if (queries == nullptr) throw Refusal(404, "no history is kept");
  const Range range = range_of(*exchange, now(), {});
  const auto limit = static_cast<size_t>(number(*exchange, "limit", 1, 1000, 100));
  std::optional<std::string> camera = exchange->parameter("camera");
  submit(exchange, [camera, range, limit](Reader &reader) {
    return text_of(events_json(reader.events(camera, range.from, range.to, limit)));
  });
}

void Server::Implementation::history(const std::shared_ptr<Exchange> &exchange,
                                     const Camera &camera) {
  if (queries == nullptr) throw Refusal(404, "no history is kept");
  const Range range = range_of(*exchange, now(), kDay);
  const auto points = static_cast<size_t>(number(*exchange, "points", 1, kMaxRows, 600));
  submit(exchange, [id = camera.id(), range, points](Reader &reader) {
    return text_of(history_json(id, reader.rows(id, range.from, range.to, points)));
  });
}

/// Answers when all channels have sent a test message or failed.
void Server::Implementation::test_notifications(const std::shared_ptr<Exchange> &exchange) {
  if (!is_own_post(*exchange)) return;
  if (served.notifier == nullptr || served.notifier->channels().empty())
    throw Refusal(404, "no notifications are set up");
  const auto done = [waiting = std::weak_ptr(exchange)](const std::vector<TestResult> &results) {
    if (const std::shared_ptr<Exchange> exchange = waiting.lock())
      exchange->answer({200, "application/json", text_of(test_json(results))});
  };
  if (!served.notifier->test(done))
    throw Refusal(429, "a test was sent less than 10 seconds ago; try again later");
}

/// Answers with a CSV file, with at most as many rows as one response may have.
void Server::Implementation::csv(const std::shared_ptr<Exchange> &exchange, const Camera &camera) {
  if (queries == nullptr) throw Refusal(404, "no history is kept");
  const Range range = range_of(*exchange, now(), kDay);
  const auto text = [id = camera.id(), name = camera.name(), range](Reader &reader) {
    std::string lines = kCsvHeader;
    for (const Row &row : reader.rows(id, range.from, range.to, kMaxRows))
      lines += csv_line(id, name, csv_time(row.time), row);
    return lines;
  };
  submit(exchange, text, "text/csv; charset=utf-8");
}

Server::Server(const WebSettings &settings, const Served &served)
    : implementation_(std::make_unique<Implementation>(settings, served)) {}
Server::~Server() = default;

const std::string &Server::address() const { return implementation_->http.address(); }

void Server::change(const WebSettings &settings) {
  Http &http = implementation_->http;
  if (!http.is_loopback()) require_authentication(settings);
  if (http.has_tls() && !settings.certificate.empty())
    set_identity(std::make_unique<Identity>(settings));
  // Readers of the stream were permitted by passwords and tokens that are no longer valid.
  if (implementation_->login.change(settings)) implementation_->drop_readers(true);
}

void Server::on_interval(const Camera &camera, const Interval &) {
  implementation_->references.note(camera);
  implementation_->stream.note(camera);
}
void Server::on_change(const Camera &camera, const Change &change) {
  if (change.raised) implementation_->pictures.note(camera, change.verdict);
  implementation_->stream.note(camera);
}
void Server::on_status(const Camera &camera) { implementation_->stream.note(camera); }
void Server::on_rules(const Camera &camera) { implementation_->stream.note(camera); }
void Server::on_maintenance(const Camera &camera) { implementation_->stream.note(camera); }
void Server::on_added(const Camera &camera) { implementation_->stream.add(camera); }
void Server::on_removed(const Camera &camera) {
  implementation_->references.remove(camera);
  implementation_->pictures.remove(camera);
  implementation_->stream.remove(camera);
}

}  // namespace luminance
