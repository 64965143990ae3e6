// SPDX-License-Identifier: LGPL-2.1-or-later
#include "notify/notifier.h"

#include <glib.h>

#include <algorithm>
#include <set>
#include <utility>

#include "log/log.h"
#include "notify/broker.h"
#include "notify/faultwatch.h"
#include "notify/mail.h"
#include "notify/outbox.h"
#include "notify/webhook.h"
#include "notify/worker.h"
#include "settings/changes.h"

namespace luminance {
namespace {

constexpr std::chrono::seconds kFarewell{3};
constexpr gint64 kTestPause = 10 * G_USEC_PER_SEC;
constexpr guint kTestLimit = 8000;  // milliseconds; an HTTP response may take ten seconds

FaultLimits fault_limits(const NotificationSettings &settings) {
  return {seconds(settings.after), seconds(settings.settle), seconds(settings.remind_hours * 3600),
          settings.verdicts};
}

OutboxLimits outbox_limits(const NotificationSettings &settings) {
  return {seconds(settings.group), settings.max_per_hour};
}

std::string new_id() {
  g_autofree gchar *id = g_uuid_string_random();
  return id;
}

/// A channel with its worker and the alerts that it has to send.
struct Sender {
  Sender(std::string kind, std::string address, std::shared_ptr<Channel> channel,
         const OutboxLimits &limits)
      : outbox(limits), worker(std::move(channel)) {
    report.kind = std::move(kind);
    report.address = std::move(address);
  }
  std::string name() const { return report.kind + " " + report.address; }

  std::string id = new_id();  // prefix of the ids of its messages
  ChannelReport report;
  Outbox outbox;
  Worker worker;
  // The channel's settings; one of the three is set.
  std::optional<WebhookSettings> webhook;
  std::optional<MailSettings> mail;
  std::optional<MqttSettings> mqtt;
  std::shared_ptr<Broker> broker;  // set for MQTT
};
using Senders = std::vector<std::unique_ptr<Sender>>;

/// Moves the alerts of `before` to `sender`. The ids of its messages stay the same, because the
/// receiver may have got some of them already.
void inherit(Sender &sender, Sender &before, const OutboxLimits &limits, Time now) {
  sender.id = before.id;
  sender.outbox = std::move(before.outbox);
  sender.outbox.set(limits);
  sender.outbox.restart(now);
}

/// Moves unsent alerts from channels that are gone to new ones of the same kind: the settings of a
/// channel may have changed. Channels with the same server are matched first.
void hand_over(Senders &gone, const std::vector<Sender *> &added, const OutboxLimits &limits,
               Time now) {
  for (const bool is_same_server : {true, false})
    for (Sender *sender : added) {
      const auto before =
          std::find_if(gone.begin(), gone.end(), [&](const std::unique_ptr<Sender> &one) {
            return one != nullptr && one->outbox.size() > 0 &&
                   one->report.kind == sender->report.kind &&
                   (!is_same_server || one->report.address == sender->report.address);
          });
      if (before == gone.end() || sender->outbox.size() > 0) continue;
      inherit(*sender, **before, limits, now);
      before->reset();
    }
}

/// Returns whether a verdict is enabled at any hour: its sensor stays while the verdict is off.
bool is_ever_enabled(Verdict verdict, const CameraSettings &camera) {
  const std::vector<Rule> rules = all_rules(verdict, camera.rules, camera.schedules);
  return std::any_of(rules.begin(), rules.end(), [](const Rule &rule) { return rule.enabled; });
}

/// Takes the sender with these settings from `all`; null if there is none.
template <class Channel>
std::unique_ptr<Sender> take(Senders &all, std::optional<Channel> Sender::*settings,
                             const Channel &wanted) {
  for (std::unique_ptr<Sender> &one : all)
    if (one != nullptr && (*one).*settings && are_same(*((*one).*settings), wanted))
      return std::move(one);
  return nullptr;
}

}  // namespace

/// A test of all channels. It reports its results once.
struct Test {
  std::vector<TestResult> results;
  std::vector<bool> is_known;
  std::function<void(const std::vector<TestResult> &)> done;

  void finish() {
    if (done) std::exchange(done, nullptr)(results);
  }
  void set(size_t number, const std::string &error) {
    results[number].error = error;
    is_known[number] = true;
    if (std::all_of(is_known.begin(), is_known.end(), [](bool known) { return known; })) finish();
  }
};

struct Notifier::Implementation {
  Implementation(const NotificationSettings &wanted, const Monitor &watched)
      : settings(wanted), monitor(watched), faults(fault_limits(wanted), watched) {}

  Senders make_senders(Senders before) const;
  std::unique_ptr<Sender> make_broker(const MqttSettings &mqtt) const;
  Topics topics(const MqttSettings &mqtt) const;
  void find_silent_cameras();
  void show_states();
  void send(Sender &sender, const Outbox::Batch &batch);
  void note(Sender &sender, const std::string &error);
  Time now() const { return monitor.clock().now(); }
  int64_t wall() const { return monitor.clock().wall(now()); }

  NotificationSettings settings;
  const Monitor &monitor;
  FaultWatch faults;
  Senders senders;
  std::map<std::string, ChannelTotals> totals;  // by kind
  std::set<std::string> silent;                 // cameras that send no frames
  bool has_changed = true;                      // what a broker retains has changed
  std::shared_ptr<Test> test;
  std::optional<gint64> tested;
  guint test_timer = 0;
};

Senders Notifier::Implementation::make_senders(Senders before) const {
  Senders made;
  std::vector<Sender *> added;
  const OutboxLimits limits = outbox_limits(settings);
  const auto add = [&](auto member, const auto &wanted, const auto &make) {
    std::unique_ptr<Sender> sender = take(before, member, wanted);
    if (sender == nullptr) {
      sender = make();
      (*sender).*member = wanted;
      added.push_back(sender.get());
    }
    sender->outbox.set(limits);
    made.push_back(std::move(sender));
  };
  for (const WebhookSettings &webhook : settings.webhooks)
    add(&Sender::webhook, webhook, [&] {
      return std::make_unique<Sender>("webhook", webhook.address,
                                      std::make_shared<Webhook>(webhook), limits);
    });
  if (settings.mail)
    add(&Sender::mail, *settings.mail, [&] {
      return std::make_unique<Sender>("mail", settings.mail->server,
                                      std::make_shared<Mail>(*settings.mail), limits);
    });
  if (settings.mqtt)
    add(&Sender::mqtt, *settings.mqtt, [&] { return make_broker(*settings.mqtt); });
  hand_over(before, added, limits, now());
  for (const std::unique_ptr<Sender> &sender : before)
    if (sender != nullptr && sender->outbox.size() > 0)
      log_line("notifications: " + sender->name() + ": removed with " +
               std::to_string(sender->outbox.size()) + " alerts that were not sent");
  return made;
}

std::unique_ptr<Sender> Notifier::Implementation::make_broker(const MqttSettings &mqtt) const {
  auto broker = std::make_shared<Broker>(mqtt, topics(mqtt));
  auto sender = std::make_unique<Sender>("mqtt", mqtt.broker, broker, outbox_limits(settings));
  sender->broker = std::move(broker);
  return sender;
}

Topics Notifier::Implementation::topics(const MqttSettings &mqtt) const {
  std::vector<Device> devices;
  for (const auto &camera : monitor.cameras()) {
    Device device = {camera->id(), camera->name(), !camera->is_silent(), {}};
    for (size_t i = 0; i < kVerdicts; ++i)
      if (const auto verdict = static_cast<Verdict>(i);
          settings.verdicts[i] && is_ever_enabled(verdict, camera->settings()))
        device.verdicts.emplace_back(verdict, faults.state_of(*camera, verdict));
    devices.push_back(std::move(device));
  }
  return topics_of(mqtt, devices);
}

/// Finds cameras without frames: only their sensor of no-frames is available.
void Notifier::Implementation::find_silent_cameras() {
  std::set<std::string> silent_now;
  for (const auto &camera : monitor.cameras())
    if (camera->is_silent()) silent_now.insert(camera->id());
  if (silent_now == silent) return;
  silent = std::move(silent_now);
  has_changed = true;
}

void Notifier::Implementation::show_states() {
  if (!std::exchange(has_changed, false)) return;
  for (const std::unique_ptr<Sender> &sender : senders)
    if (sender->broker != nullptr) sender->broker->keep(topics(*sender->mqtt));
}

void Notifier::Implementation::send(Sender &sender, const Outbox::Batch &batch) {
  Message message;
  message.id = sender.id + "." + std::to_string(batch.number);
  message.time = wall();
  message.alerts = batch.alerts;
  message.omitted = batch.omitted;
  sender.worker.send(message, [this, &sender](const std::string &error) {
    if (error.empty())
      sender.outbox.sent(now());
    else
      sender.outbox.failed(now());
    note(sender, error);
  });
}

/// Records whether a message was sent. Logs that only if it differs from the message before.
void Notifier::Implementation::note(Sender &sender, const std::string &error) {
  ChannelReport &report = sender.report;
  const bool was_failing = std::exchange(report.is_failing, !error.empty());
  ChannelTotals &total = totals[report.kind];
  if (error.empty()) {
    ++total.sent;
    report.last_success = wall();
    sender.outbox.resume();
    if (was_failing) log_line("notifications: " + sender.name() + ": works again");
    return;
  }
  ++total.failed;
  const bool is_new = !was_failing || report.last_error != error;
  report.last_error = error;
  report.last_error_time = wall();
  if (is_new) log_line("notifications: " + sender.name() + ": " + error);
}

Notifier::Notifier(const NotificationSettings &settings, const Monitor &monitor)
    : implementation_(std::make_unique<Implementation>(settings, monitor)) {
  implementation_->senders = implementation_->make_senders({});
}

Notifier::~Notifier() {
  if (implementation_->test_timer != 0) g_source_remove(implementation_->test_timer);
}

void Notifier::change(const NotificationSettings &settings) {
  implementation_->settings = settings;
  implementation_->faults.set(fault_limits(settings));
  implementation_->senders =
      implementation_->make_senders(std::exchange(implementation_->senders, {}));
  implementation_->has_changed = true;
}

void Notifier::tick() {
  const Time now = implementation_->now();
  implementation_->find_silent_cameras();
  const std::vector<Alert> alerts = implementation_->faults.tick();
  if (implementation_->faults.take_learned() || !alerts.empty())
    implementation_->has_changed = true;
  for (const std::unique_ptr<Sender> &sender : implementation_->senders) {
    for (const Alert &alert : alerts) sender->outbox.add(alert, now);
    if (sender->broker != nullptr && sender->broker->take_connected()) sender->outbox.resume();
    if (const size_t count = sender->outbox.give_up(now); count > 0)
      log_line("notifications: " + sender->name() + ": " + std::to_string(count) +
               " alerts could not be sent within a day and are discarded");
    if (const auto batch = sender->outbox.take(now)) implementation_->send(*sender, *batch);
  }
  implementation_->show_states();
}

void Notifier::finish() {
  const auto end = std::chrono::steady_clock::now() + kFarewell;
  for (const std::unique_ptr<Sender> &sender : implementation_->senders) {
    if (sender->outbox.size() > 0)
      log_line("notifications: " + sender->name() + ": " + std::to_string(sender->outbox.size()) +
               " alerts were not sent");
    sender->broker.reset();
    sender->worker.cancel();
  }
  for (const std::unique_ptr<Sender> &sender : implementation_->senders)
    sender->worker.wait_until(end);
  implementation_->senders.clear();
}

std::vector<ChannelReport> Notifier::channels() const {
  std::vector<ChannelReport> reports;
  for (const std::unique_ptr<Sender> &sender : implementation_->senders) {
    reports.push_back(sender->report);
    reports.back().waiting = sender->outbox.size();
  }
  return reports;
}

std::map<std::string, ChannelTotals> Notifier::totals() const {
  std::map<std::string, ChannelTotals> totals = implementation_->totals;
  for (const std::unique_ptr<Sender> &sender : implementation_->senders)
    totals[sender->report.kind];
  return totals;
}

bool Notifier::test(std::function<void(const std::vector<TestResult> &)> done) {
  Implementation &self = *implementation_;
  const gint64 now = g_get_monotonic_time();
  if (self.tested && now - *self.tested < kTestPause) return false;
  self.tested = now;
  self.test = std::make_shared<Test>();
  self.test->done = std::move(done);
  for (const std::unique_ptr<Sender> &sender : self.senders) {
    self.test->results.push_back(
        {sender->report.kind, sender->report.address, "no response within 8 s"});
    self.test->is_known.push_back(false);
  }
  Message message;
  message.id = new_id();
  message.time = self.wall();
  message.is_test = true;
  for (size_t i = 0; i < self.senders.size(); ++i) {
    Sender &sender = *self.senders[i];
    sender.worker.send(message, [&self, &sender, i, test = self.test](const std::string &error) {
      self.note(sender, error);
      test->set(i, error);
    });
  }
  if (self.test_timer != 0) g_source_remove(self.test_timer);
  const auto give_up = [](gpointer data) -> gboolean {
    auto *implementation = static_cast<Implementation *>(data);
    implementation->test_timer = 0;
    implementation->test->finish();
    return G_SOURCE_REMOVE;
  };
  self.test_timer = g_timeout_add(kTestLimit, give_up, &self);
  if (self.senders.empty()) self.test->finish();
  return true;
}

void Notifier::on_change(const Camera &camera, const Change &change) {
  implementation_->faults.on_change(camera, change);
}

/// The rules decide which sensors there are.
void Notifier::on_rules(const Camera &) { implementation_->has_changed = true; }

void Notifier::on_added(const Camera &camera) {
  implementation_->faults.on_added(camera);
  implementation_->has_changed = true;
}

void Notifier::on_removed(const Camera &camera) {
  implementation_->faults.on_removed(camera);
  implementation_->has_changed = true;
}

}  // namespace luminance
