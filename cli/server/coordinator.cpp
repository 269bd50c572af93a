// `evershard coordinator`: who orders a cluster's events.

#include <unistd.h>

#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "evershard/cli/command.hpp"
#include "evershard/cli/help/version.hpp"
#include "evershard/cli/server/coordinator_term.hpp"
#include "evershard/cli/server/serve_settings.hpp"
#include "evershard/cluster/etcd/etcd_leader.hpp"
#include "evershard/cluster/link/reserved_port.hpp"
#include "evershard/cluster/order/succession.hpp"
#include "evershard/cluster/peers/leader_link.hpp"
#include "evershard/doors/server/coordinator_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/server/stop_signals.hpp"
#include "evershard/doors/serving/log.hpp"

namespace evershard::cli {
namespace {

constexpr std::chrono::milliseconds look_into_log_every{250};  ///< who stands by looks into the log who leads
constexpr std::chrono::milliseconds tick{20};
constexpr std::chrono::seconds without_etcd_most{4};  ///< as long as a put of the cut log waits
/// One try of what the leader's row is asked: the signals wait for it.
constexpr std::chrono::milliseconds leader_row_timeout{1'000};

Options coordinator_flags() { return settings_options(server::coordinator_settings()); }

/// Whether it can pass by itself: etcd may be away, or somebody else may have been quicker.
bool may_pass(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout || error.code == ErrorCode::io ||
         error.code == ErrorCode::fenced || error.code == ErrorCode::overloaded;
}

std::uint64_t drawn() {
  static std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

/// A process of which several may be there: it leads, or stands by for who does.
class CoordinatorProcess {
 public:
  CoordinatorProcess(const Invocation& invocation, server::CoordinatorSettings settings, serving::Log& log,
                     const server::StopSignals& signals)
      : invocation_(invocation), settings_(std::move(settings)), log_(log), signals_(signals) {}

  /// Until SIGTERM. Errors: why it cannot go on
  std::optional<Failure> run() { return settings_.cut_log.empty() ? run_alone() : run_with_others(); }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Failure> run_alone();
  std::optional<Failure> run_with_others();
  /// Returns: false: SIGTERM
  Result<bool> stand_by(cluster::LeaderLink& link, cluster::Succession& succession, cluster::EtcdLeader& leader);
  Result<bool> lead(cluster::Succession& succession, cluster::EtcdLeader& leader);
  Result<std::unique_ptr<CoordinatorTerm>> begin(std::uint16_t port);
  void say_ready(std::uint16_t port);
  template <class Links>
  void reload(Links& links);

  const Invocation& invocation_;
  const server::CoordinatorSettings settings_;
  serving::Log& log_;
  const server::StopSignals& signals_;
  std::uint16_t reserved_port_ = 0;  ///< where it listens when it leads
  bool said_ready_ = false;
};

/// At SIGHUP. What cannot be read leaves everything as it was.
template <class Links>
void CoordinatorProcess::reload(Links& links) {
  if (auto opened = log_.reopen(); !opened) log_.error("log not opened anew", {{"error", opened.error().what}});
  if (auto files = links.reload_tls(); !files) log_.error("files not reloaded", {{"error", files.error().what}});
  auto settings = effective_settings(invocation_.arguments, server::coordinator_settings());
  auto options = settings ? server::coordinator_options_of(*settings)
                          : Result<server::CoordinatorSettings>(refuse(settings.error()));
  if (!options) {
    log_.error("settings not reloaded", {{"error", options.error().what}});
    return;
  }
  log_.set_level(options->log.level);
  log_.info("reloaded", {{"log_level", name_of(options->log.level)}});
}

void CoordinatorProcess::say_ready(std::uint16_t port) {
  if (std::exchange(said_ready_, true)) return;
  auto place = settings_.place;
  place.port = port;
  invocation_.out.write("ready " + cluster::text_of(place) + '\n');
  invocation_.out.flush();
}

Result<std::unique_ptr<CoordinatorTerm>> CoordinatorProcess::begin(std::uint16_t port) {
  auto term = CoordinatorTerm::begin(settings_, port, log_);
  if (!term) return term;
  auto place = settings_.place;
  place.port = (*term)->port();
  log_.info("leading", {{"address", cluster::text_of(place)},
                        {"epoch", (*term)->epoch().value},
                        {"store", (*term)->identity().store.text()},
                        {"shards", (*term)->identity().shards}});
  say_ready(place.port);
  return term;
}

std::optional<Failure> CoordinatorProcess::run_alone() {
  auto term = begin(settings_.place.port);
  if (!term) return Failure(std::move(term).error());
  for (;;) {
    const auto asked = signals_.wait(std::chrono::milliseconds(200));
    if (asked == server::Asked::stop) return std::nullopt;
    if (asked == server::Asked::reload) reload(**term);
    if (auto ended = (*term)->ended())
      return Failure(std::move(*ended), "it has stepped down: nodes go on with whoever leads now");
  }
}

std::optional<Failure> CoordinatorProcess::run_with_others() {
  // What is wrong for good is said now, not when it is to lead.
  auto log = open_cut_log(settings_);
  if (!log) return Failure(std::move(log).error());
  const auto shards = (*log)->identity().shards;
  log->reset();
  if (auto keys = check_etcd_keys(settings_); !keys) return Failure(std::move(keys).error());
  auto etcd = etcd_of(settings_);
  if (!etcd) return Failure(std::move(etcd).error());
  etcd->timeout = leader_row_timeout;
  auto leader = cluster::EtcdLeader::open(*std::move(etcd));
  if (!leader) return Failure(std::move(leader).error());
  const auto reserved = cluster::ReservedPort::open(settings_.place.host, settings_.place.port);
  if (!reserved) return Failure(reserved.error());
  auto link_options = coordinator_link_of(settings_, shards);
  if (!link_options) return Failure(std::move(link_options).error());
  reserved_port_ = reserved->port();
  link_options->who = cluster::standing_by(link_options->who);

  cluster::Succession succession({.own_address = server::advertised_address(settings_, reserved_port_)}, Clock::now(),
                                 drawn());
  for (;;) {
    {
      auto link = cluster::LeaderLink::open(*link_options);
      if (!link) return Failure(std::move(link).error());
      auto turn = stand_by(**link, succession, **leader);
      if (!turn) return Failure(std::move(turn).error());
      if (!*turn) return std::nullopt;
    }
    auto goes_on = lead(succession, **leader);
    if (!goes_on) return Failure(std::move(goes_on).error());
    if (!*goes_on) return std::nullopt;
  }
}

Result<bool> CoordinatorProcess::stand_by(cluster::LeaderLink& link, cluster::Succession& succession,
                                          cluster::EtcdLeader& leader) {
  auto look_at = Clock::now();
  bool was_up = false, away = false;
  std::optional<cluster::Leader> known;
  for (;;) {
    const auto asked = signals_.wait(tick);
    if (asked == server::Asked::stop) return false;
    if (asked == server::Asked::reload) reload(link);
    if (const bool up = link.up(); up != was_up) {
      was_up = up;
      if (!up) succession.lost(Clock::now(), drawn());
      if (up) {
        log_.info("standing by", {{"leader", known ? known->address : ""}, {"epoch", known ? known->epoch.value : 0}});
        look_at = Clock::now() + look_into_log_every;
      }
    }
    if (was_up) succession.reached();  // again, too: the log may have named a new epoch at the same address
    const bool turn = succession.should_lead(Clock::now());
    if (!turn && Clock::now() < look_at) continue;
    auto found = leader.read();
    look_at = Clock::now() + look_into_log_every;
    if (!found) {
      if (!may_pass(found.error())) return refuse(std::move(found).error());
      if (!std::exchange(away, true)) log_.warning("the cut log is away", {{"error", found.error().what}});
      continue;
    }
    if (std::exchange(away, false)) log_.info("the cut log is there again");
    known = *found;
    succession.leader_is(known, Clock::now(), drawn());
    if (auto followed = link.follow(succession.follows()); !followed)
      log_.warning("the leader cannot be followed", {{"error", followed.error().what}});
    if (known && known->address != server::advertised_address(settings_, reserved_port_)) say_ready(reserved_port_);
    if (turn && succession.should_lead(Clock::now())) return true;
  }
}

Result<bool> CoordinatorProcess::lead(cluster::Succession& succession, cluster::EtcdLeader& leader) {
  auto term = begin(reserved_port_);
  if (!term) {
    if (!may_pass(term.error())) return refuse(std::move(term).error());
    log_.warning("cannot lead", {{"code", name_of(term.error().code)}, {"error", term.error().what}});
    succession.ended(false, Clock::now(), drawn());
    return true;
  }
  succession.began(Clock::now());
  cluster::Leader self{(*term)->epoch(), server::advertised_address(settings_, reserved_port_)};
  bool had_nodes = (*term)->has_owners();
  auto beat_at = Clock::now(), said_at = beat_at;
  for (;;) {
    std::optional<Error> ended = (*term)->ended();
    const auto nodes = (*term)->nodes();
    had_nodes = had_nodes || nodes > 0;
    succession.nodes(nodes, had_nodes && nodes == 0 && (*term)->could_be_replaced(), Clock::now());
    if (!ended && Clock::now() >= beat_at) {
      self.beat += nodes > 0 ? 1 : 0;
      const auto said = leader.say(self);
      if (said) said_at = Clock::now();
      // There may be no cut to put for a long time, so the beat tells whether this leader can still write to etcd.
      if (!said && (said.error().code == ErrorCode::fenced || Clock::now() - said_at > without_etcd_most))
        ended = said.error();
      beat_at = Clock::now() + cluster::SuccessionOptions().beat_every;
    }
    const bool gives_way = !ended && succession.should_give_way(Clock::now());
    if (gives_way)
      ended = Error(ErrorCode::unavailable, "no node has come, or no quorum: another coordinator may be reached");
    if (ended) {
      log_.warning("stepping down", {{"code", name_of(ended->code)}, {"error", ended->what}});
      if (ended->code == ErrorCode::corruption) {
        // A leader that was frozen hears of cuts that its successor made. Where nobody has led since, the log has lost
        // its end, and nobody must go on with it.
        const auto newest = leader.read();
        if (!newest || !*newest || (*newest)->epoch <= self.epoch) return refuse(std::move(*ended));
      }
      term->reset();
      succession.ended(gives_way, Clock::now(), drawn());
      return true;
    }
    const auto asked = signals_.wait(tick);
    if (asked == server::Asked::stop) return false;
    if (asked == server::Asked::reload) reload(**term);
  }
}

Outcome run_coordinator(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  if (arguments.has("help-markdown") || arguments.has("sample-config")) {
    invocation.out.write(arguments.has("sample-config") ? server::coordinator_configuration_sample()
                                                        : server::configuration_document());
    return {};
  }
  auto settings = effective_settings(arguments, server::coordinator_settings());
  if (!settings) return Failed(Failure(std::move(settings).error()));
  if (arguments.has("check")) print_settings(invocation, *settings);
  auto options = server::coordinator_options_of(*settings);
  if (!options) return Failed(Failure(std::move(options).error()));
  // Before anything is opened; the number of shards is the log's.
  const auto link = coordinator_link_of(*options, 1);
  if (!link) return Failed(Failure(link.error()));
  if (!options->key_file.empty())
    if (auto master = master_key_of(*options); !master) return Failed(Failure(std::move(master).error()));
  if (arguments.has("check")) return {};

  const server::StopSignals signals;
  auto opened = serving::Log::open(options->log);
  if (!opened) return Failed(Failure(std::move(opened).error()));
  serving::Log& log = **opened;
  log.info("starting", {{"version", version_number()}, {"commit", build_commit()}, {"pid", ::getpid()}});
  log_settings(*settings, log);
  for (const auto& name : unknown_variables(server::coordinator_settings()))
    log.warning("a variable of the environment is no setting", {{"name", name}});
  for (const auto& finding : server::unsafe(*link)) log.warning("insecure, as asked for", {{"because", finding}});
  auto failed = CoordinatorProcess(invocation, *std::move(options), log, signals).run();
  log.info("stopped");
  if (failed) return Failed(std::move(*failed));
  return {};
}

}  // namespace

Command coordinator_command() {
  return {"coordinator",
          "server",
          "Runs the coordinator of a cluster until SIGTERM.",
          "evershard coordinator --data order --nodes 3 --secret-file secret",
          coordinator_flags,
          run_coordinator};
}

}  // namespace evershard::cli
