// `evershard serve`: the store as a server.

#include "evershard/cli/server/serve.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "evershard/cli/command.hpp"
#include "evershard/cli/help/version.hpp"
#include "evershard/cli/server/serve_settings.hpp"
#include "evershard/doors/server/doors.hpp"
#include "evershard/doors/server/server.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/server/service_notice.hpp"
#include "evershard/doors/server/stop_signals.hpp"
#include "evershard/doors/server/token_file.hpp"
#include "evershard/doors/settings/settings_text.hpp"

namespace evershard::cli {
namespace {

using server::Asked;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds looks_every = std::chrono::milliseconds(500);  ///< whether the store has failed
constexpr milliseconds failed_ends_within{200};                       ///< what it serves is over
constexpr milliseconds beyond_draining = std::chrono::seconds(15);    ///< for closing the store

Outcome check_safety(const server::ServerOptions& options, serving::Log* log) {
  const auto findings = server::unsafe(server::exposures_of(options));
  if (findings.empty()) return {};
  if (options.insecure) {
    for (const auto& finding : findings) {
      if (log != nullptr) log->warning("insecure, as asked for", {{"because", finding}});
    }
    return {};
  }
  std::string all;
  for (const auto& finding : findings) all += (all.empty() ? "" : "; ") + finding;
  return Failed(Failure(ErrorCode::invalid_argument, all,
                        "give --tls-cert, --tls-key and --tokens (or --tls-client-ca), listen on 127.0.0.1, or say "
                        "--insecure where the network in between is trusted"));
}

/// `ready HOST:PORT`, first of all; whatever else is listened on stands behind it.
std::string ready_line(const server::Server& server) {
  std::string line = "ready";
  for (const auto& door : server.doors()) {
    if (door->addresses().empty()) continue;
    if (line != "ready") line += ' ' + std::string(door->speaks());
    for (const auto& address : door->addresses()) line += ' ' + address;
  }
  return line + '\n';
}

/// What is in force, for the page; from any thread.
class SettingsInForce {
 public:
  explicit SettingsInForce(settings::Settings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] std::string json() const {
    const std::lock_guard lock(mutex_);
    return settings::json_of(settings_);
  }
  /// The names of those that would be different now. The reloadable ones are from now on.
  std::vector<std::string> adopt(const settings::Settings& now) {
    const std::lock_guard lock(mutex_);
    auto names = settings::changed(settings_, now);
    for (const auto& name : names) {
      if (now.at(name).setting.reloadable) settings_.adopt(name, now);
    }
    return names;
  }

 private:
  mutable std::mutex mutex_;
  settings::Settings settings_;
};

/// At SIGHUP. What cannot be read leaves everything as it was.
void reload(const Invocation& invocation, const Serving& what, SettingsInForce& settings, server::Server& server,
            serving::Log& log) {
  if (auto opened = log.reopen(); !opened) log.error("log not opened anew", {{"error", opened.error().what}});
  auto files = server.reload();
  if (!files) log.error("files not reloaded", {{"error", files.error().what}});
  auto now = effective_settings(invocation.arguments, what.table);
  auto options = now ? server::options_of(*now) : Result<server::ServerOptions>(refuse(now.error()));
  if (!options) {
    log.error("settings not reloaded", {{"error", options.error().what}});
    return;
  }
  log.set_level(options->log.level);
  for (const auto& name : settings.adopt(*now)) {
    const auto& entry = now->at(name);
    if (entry.setting.reloadable)
      log.info("setting changed", {{"name", name}, {"value", entry.shown()}, {"source", entry.where}});
    else
      log.warning("setting changed: it needs a restart",
                  {{"name", name}, {"value", entry.shown()}, {"source", entry.where}});
  }
  log.info("reloaded", {{"files", files.has_value()}});
}

/// While the main thread is busy with what may take long: a signal to stop ends the process at once, and so does the
/// time limit. Nothing is lost by that: what was acknowledged is on the disk.
class LastResort {
 public:
  struct End {
    const char* why;  ///< for the log
    Exit status;
  };

  LastResort(const server::StopSignals& signals, End when_asked, std::optional<milliseconds> limit, serving::Log& log,
             End when_late = {"did not end in time: left as it is", Exit::timeout})
      : thread_([this, &signals, when_asked, limit, &log, when_late] {
          watch(signals, when_asked, limit, log, when_late);
        }) {}
  ~LastResort() {
    done_ = true;
    thread_.join();
  }
  LastResort(const LastResort&) = delete;

 private:
  void watch(const server::StopSignals& signals, End when_asked, std::optional<milliseconds> limit, serving::Log& log,
             End when_late) {
    const auto begin = steady_clock::now();
    while (!done_) {
      if (signals.wait(milliseconds(20)) == Asked::stop) {
        log.warning(when_asked.why);
        ::_exit(static_cast<int>(when_asked.status));
      }
      if (!limit || steady_clock::now() - begin < *limit) continue;
      log.error(when_late.why);
      ::_exit(static_cast<int>(when_late.status));
    }
  }

  std::atomic<bool> done_{false};
  std::thread thread_;
};

Result<std::unique_ptr<server::Server>> start_server(server::ServerOptions options, const server::StopSignals& signals,
                                                     serving::Log& log, const std::vector<server::StartDoor>& doors,
                                                     const server::OpenStore& open) {
  const LastResort last_resort(signals, {"asked to stop before it was ready", Exit::done}, std::nullopt, log);
  return server::Server::start(std::move(options), log, doors, open);
}

/// Until it is asked to stop, or the store has failed: that is returned.
std::optional<Error> run_until_asked(const Invocation& invocation, const Serving& what,
                                     const server::StopSignals& signals, const server::ServiceNotice& notice,
                                     SettingsInForce& settings, server::Server& server, serving::Log& log) {
  const auto every = notice.watchdog_every().value_or(std::chrono::hours(1));
  bool told_unwell = false, told_full = false;
  for (auto due = steady_clock::now() + every;;) {
    const auto left = std::chrono::ceil<milliseconds>(due - steady_clock::now());
    const auto asked = signals.wait(std::min(left, looks_every));
    if (asked == Asked::stop) return {};
    if (auto failed = server.failed()) return failed;
    if (const auto why = told_unwell ? std::optional<Error>() : server.cannot_write()) {
      log.error("nothing is written any more until the store is opened again: start this process again",
                {{"error", why->what}});
      server.tell_unwell();
      told_unwell = true;
    }
    if (const auto full = server.short_of_disk(); full.has_value() != told_full) {
      told_full = full.has_value();
      if (full)
        log.error("appends are refused until the disk has room again", {{"error", full->what}});
      else
        log.info("the disk has room again: appends are taken");
    }
    if (asked == Asked::reload) {
      notice.send("RELOADING=1\nSTATUS=reloading");
      reload(invocation, what, settings, server, log);
      notice.send("READY=1\nSTATUS=serving");
    }
    if (steady_clock::now() < due) continue;
    due = steady_clock::now() + every;
    if (!notice.watchdog_every()) continue;
    if (server.is_well())
      notice.send("WATCHDOG=1");
    else
      log.error("the store does not answer, or does not write: systemd is not told that all is well");
  }
}

Outcome run(const Invocation& invocation) { return serve(invocation, server::all_doors(), whole_store()); }
Options options() { return settings_options(server::server_settings()); }

}  // namespace

Serving whole_store() {
  return {server::server_settings(), server::configuration_sample,
          [](const settings::Settings&) -> Result<server::OpenStore> {
            return server::OpenStore(server::open_whole_store);
          }};
}

Outcome serve(const Invocation& invocation, const std::vector<server::StartDoor>& doors, const Serving& what) {
  if (invocation.arguments.has("help-markdown") || invocation.arguments.has("sample-config")) {
    invocation.out.write(invocation.arguments.has("sample-config") ? what.sample() : server::configuration_document());
    return {};
  }
  auto settings = effective_settings(invocation.arguments, what.table);
  if (!settings) return Failed(Failure(std::move(settings).error()));
  if (invocation.arguments.has("check")) print_settings(invocation, *settings);
  auto options = server::options_of(*settings);
  if (!options) return Failed(Failure(std::move(options).error()));
  auto open = what.opening(*settings);
  if (!open) return Failed(Failure(std::move(open).error()));
  if (invocation.arguments.has("check")) {
    if (auto tokens = server::TokenFile(options->tokens).load(); !tokens)
      return Failed(Failure(std::move(tokens).error()));
    return check_safety(*options, nullptr);
  }

  const server::StopSignals signals;
  const auto notice = server::ServiceNotice::from_environment();
  auto opened = serving::Log::open(options->log);
  if (!opened) return Failed(Failure(std::move(opened).error()));
  serving::Log& log = **opened;
  if (auto safe = check_safety(*options, &log); !safe) return safe;
  log.info("starting", {{"version", version_number()}, {"commit", build_commit()}, {"pid", ::getpid()}});
  log_settings(*settings, log);
  for (const auto& name : unknown_variables(what.table))
    log.warning("a variable of the environment is no setting", {{"name", name}});
  notice.send("STATUS=opening the store");
  SettingsInForce in_force(*std::move(settings));
  options->kinds = invocation.program.kinds();
  options->processes = invocation.program.processes();
  options->settings_json = [&in_force] { return in_force.json(); };
  const auto drain_timeout = options->drain_timeout;
  const auto log_file = options->log.file;
  auto server = start_server(*std::move(options), signals, log, doors, *open);
  if (!server) {
    // On standard error the command's own line says it.
    if (!log_file.empty())
      log.error("not started", {{"code", name_of(server.error().code)}, {"error", server.error().what}});
    return Failed(Failure(std::move(server).error()));
  }
  invocation.out.write(ready_line(**server));
  invocation.out.flush();
  notice.send("READY=1\nSTATUS=serving");
  log.info("ready");
  const auto failed = run_until_asked(invocation, what, signals, notice, in_force, **server, log);

  if (failed)
    log.error("the store has failed: this process ends, to be started again",
              {{"code", name_of(failed->code)}, {"error", failed->what}});
  // Nothing is done any more by a store that has failed: whoever waits for it is answered already.
  const auto drain = failed ? milliseconds(0) : drain_timeout;
  notice.send("STOPPING=1\nSTATUS=draining");
  log.info("stopping", {{"drain_ms", drain.count()}});
  // Other nodes take over once its connections are gone: that is not to wait for its clients.
  const LastResort last_resort(signals, {"asked again: ended at once", Exit::interrupted},
                               failed ? failed_ends_within : drain + beyond_draining, log,
                               failed ? LastResort::End{"stopped: clients were left as they are", exit_of(failed->code)}
                                      : LastResort::End{"did not end in time: left as it is", Exit::timeout});
  (*server)->stop(drain);
  server->reset();
  log.info("stopped");
  if (failed) return Failed(Failure(*failed));
  return {};
}

Command serve_command() {
  return {"serve",
          "server",
          "Serves a store until SIGTERM. Creates the store if there is none.",
          "evershard serve --data shop --shards 16",
          options,
          run};
}

}  // namespace evershard::cli
