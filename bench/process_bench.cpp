// Processes and timers: reactions against plain commands, one alone, timers pending, firing, and due while nobody ran.

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <evershard/local.hpp>
#include <evershard/process.hpp>
#include <map>
#include <thread>

#include "evershard/bench/appends_beside.hpp"
#include "evershard/bench/counter.hpp"
#include "evershard/bench/in_flight.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"
#include "evershard/protocol/timers.hpp"

namespace evershard::bench {

struct Pinged {
  std::int64_t instance = 0;
};
struct SetAlarm {
  std::int64_t after_us = 0;
};
struct Ring {
  std::int64_t unused = 0;
};
struct Rang {
  std::int64_t unused = 0;
};
struct Nothing {
  std::int64_t unused = 0;
};

}  // namespace evershard::bench

namespace evershard {
template <>
struct Codec<bench::Pinged> : bench::NumberCodec<bench::Pinged, &bench::Pinged::instance> {
  static constexpr std::string_view name = "bench.pinged";
};
template <>
struct Codec<bench::SetAlarm> : bench::NumberCodec<bench::SetAlarm, &bench::SetAlarm::after_us> {
  static constexpr std::string_view name = "bench.set_alarm";
};
template <>
struct Codec<bench::Ring> : bench::NumberCodec<bench::Ring, &bench::Ring::unused> {
  static constexpr std::string_view name = "bench.ring";
};
template <>
struct Codec<bench::Rang> : bench::NumberCodec<bench::Rang, &bench::Rang::unused> {
  static constexpr std::string_view name = "bench.rang";
};
template <>
struct Codec<bench::Nothing> : bench::NumberCodec<bench::Nothing, &bench::Nothing::unused> {};
}  // namespace evershard

namespace evershard::bench {
namespace {

constexpr std::uint64_t instances = 1'000;
constexpr std::uint32_t in_flight = 256;

/// A command to another aggregate for each event, and nothing else.
struct Relay {
  static constexpr std::string_view type = "relay";
  using State = Nothing;
  using Reacts = Types<Pinged>;
  using Events = Types<>;
  static std::string key(const Pinged& event) { return std::to_string(event.instance); }
  static Reaction<Relay> on(const State&, const Pinged& event) {
    return react().send<Counter>(std::to_string(event.instance), Add{1});
  }
};

/// The same, of a process that wants to hear where its commands are rejected.
struct WatchfulRelay : Relay {
  static constexpr std::string_view type = "watchful_relay";
  using Sends = Types<Add>;
  static Reaction<WatchfulRelay> on_rejected(const State&, const Add&, const Rejected&) { return ignore(); }
};

struct Alarm {
  static constexpr std::string_view type = "alarm";
  using State = Nothing;
  using Commands = Types<SetAlarm, Ring>;
  using Events = Types<Rang>;
  static Effect<> on(const State&, const SetAlarm& command) {
    return schedule("ring", std::chrono::microseconds(command.after_us), Ring{});
  }
  static Effect<> on(const State&, const Ring&) { return persist(Rang{}); }
  static void apply(State&, const Rang&) {}
};

Result<Local> open_store(const BenchOptions& options, bool anew = true) {
  const auto directory = anew ? fresh(options, "processes") : options.directory / "processes";
  return Local::open({.data_dir = directory, .shards = 16, .create = anew});
}

/// Sends `count` things, so many under way.
template <class Send>
Result<void> send_all(std::uint64_t count, std::uint32_t most, Send send) {
  InFlight room(most);
  std::atomic<std::uint64_t> failed{0};
  for (std::uint64_t n = 0; n != count; ++n) {
    room.enter();
    send(n, [&](bool well) {
      if (!well) ++failed;
      room.leave();
    });
  }
  room.drain();
  if (failed) return refuse(ErrorCode::io, std::to_string(failed) + " of " + std::to_string(count) + " failed");
  return {};
}

std::uint64_t figure(const Local& store, std::string_view name) {
  const auto stats = store.stats();
  if (!stats) return 0;
  for (const auto& [of, value] : stats->details)
    if (of == name) return value;
  return 0;
}

/// Errors: timeout, cancelled
Result<void> wait_until(const BenchOptions& options, double seconds, const std::function<bool()>& there) {
  for (const double until = now_seconds() + seconds; now_seconds() < until;
       std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
    if (there()) return {};
    if (options.stop && options.stop()) return refuse(ErrorCode::cancelled, "stopped");
  }
  return refuse(ErrorCode::timeout, "it does not come to its end");
}

Result<Figure> plain_commands(const BenchOptions& options) {
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Counter>());
  Random random(options.seed);
  std::uint64_t sent = 0;
  const double began = now_seconds(), cpu = cpu_seconds();
  while (now_seconds() - began < options.seconds) {
    constexpr std::uint64_t batch = 2'000;
    EVERSHARD_TRY(send_all(batch, in_flight, [&](std::uint64_t, auto done) {
      store->get<Counter>(std::to_string(random.below(instances)))
          .ask_async(Add{1}, [done](const Answer<Total>& answer) { done(answer.replied()); });
    }));
    sent += batch;
  }
  Figure f{"commands, 1,000 aggregates, 256 in flight", static_cast<double>(sent) / (now_seconds() - began),
           "commands/s"};
  f.more.emplace_back("cpu_us_each", (cpu_seconds() - cpu) * 1e6 / static_cast<double>(sent));
  return f;
}

/// Events that are there already, each answered by one command to another aggregate.
template <class P>
Result<Figure> reactions(const BenchOptions& options, const char* name) {
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Counter>());
  Random random(options.seed);
  const auto events = static_cast<std::uint64_t>(options.seconds * 20'000);
  for (std::uint64_t n = 0; n < events; n += 1'000) {
    Append append;
    for (int i = 0; i != 1'000; ++i)
      append.event("source-" + std::to_string(random.below(instances)), "bench.pinged",
                   std::to_string(random.below(instances)));
    if (auto done = store->append(std::move(append)); !done) return refuse(done.error());
  }
  const double began = now_seconds(), cpu = cpu_seconds();
  EVERSHARD_TRY(store->run<P>());
  EVERSHARD_TRY(wait_until(options, 600, [&] { return store->process_status().front().sent == events; }));
  const double took = now_seconds() - began;
  Figure f{name, static_cast<double>(events) / took, "reactions/s"};
  f.more.emplace_back("cpu_us_each", (cpu_seconds() - cpu) * 1e6 / static_cast<double>(events));
  return f;
}

Result<void> one_alone(const BenchOptions& options, Report& report) {
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Counter>());
  EVERSHARD_TRY(store->run<Relay>());
  Latencies command, reaction;
  const double began = now_seconds();
  std::uint64_t sent = 0;
  while (now_seconds() - began < options.seconds) {
    const double asked = now_seconds();
    if (auto answer = store->get<Counter>("other").ask(Add{1}); !answer) return refuse(answer.error());
    command.add((now_seconds() - asked) * 1e6);
    auto appended = store->append(Append{}.event("source-1", "bench.pinged", "1"));
    if (!appended) return refuse(appended.error());
    const double there = now_seconds();
    ++sent;
    while (store->process_status().front().sent != sent) std::this_thread::sleep_for(std::chrono::microseconds(20));
    reaction.add((now_seconds() - there) * 1e6);
  }
  Figure f{"one reaction alone, from the event's answer to the command's", reaction.percentile(0.5), "us"};
  f.more.emplace_back("p99_us", reaction.percentile(0.99));
  f.more.emplace_back("command_alone_us", command.percentile(0.5));
  f.target = "at most two commands alone and 1 ms";
  f.reached = f.value <= 2 * command.percentile(0.5) + 1'000;
  return add(options, report, std::move(f));
}

Result<void> set_alarms(Local& store, std::uint64_t count, std::chrono::microseconds after) {
  return send_all(count, 4'096, [&](std::uint64_t n, auto done) {
    store.get<Alarm>(std::to_string(n)).ask_async(SetAlarm{after.count()}, [done](const Answer<Done>& answer) {
      done(answer.replied());
    });
  });
}

/// A million that wait, and the opening with them.
Result<void> pending(const BenchOptions& options, Report& report) {
  constexpr std::uint64_t timers = 1'000'000;
  {
    auto store = open_store(options);
    if (!store) return refuse(store.error());
    EVERSHARD_TRY(store->host<Alarm>());
    EVERSHARD_TRY(set_alarms(*store, timers, std::chrono::hours(24)));
    EVERSHARD_TRY(store->flush());
  }
  auto store = open_store(options, false);
  if (!store) return refuse(store.error());
  malloc_trim(0);
  const auto before = static_cast<double>(resident_bytes());
  const double began = now_seconds();
  EVERSHARD_TRY(store->host<Alarm>());
  EVERSHARD_TRY(wait_until(options, 120, [&] { return figure(*store, "timers.pending") == timers; }));
  Figure opened{"a million timers pending, opened again", now_seconds() - began, "s"};
  opened.target = "at most 2";
  opened.reached = opened.value <= 2;
  malloc_trim(0);
  Figure each{"memory of a timer that waits", (static_cast<double>(resident_bytes()) - before) / timers, "bytes"};
  each.target = "at most 250";
  each.reached = each.value <= 250;
  EVERSHARD_TRY(add(options, report, std::move(opened)));
  return add(options, report, std::move(each));
}

/// How late each fired, by its events.
Result<Latencies> lateness(Local& store) {
  Latencies late;
  std::map<AggregateId, std::int64_t> due;
  auto events = store.read(Query{}.types({std::string(timers_changed_type)}));
  for (const auto& event : events) {
    const auto changed = decode_timers_changed(event.payload);
    if (!changed) return refuse(changed.error());
    if (changed->fired.empty())
      due[*event.aggregate] = due_of(changed->set.front(), event.occurred_at).micros;
    else
      late.add(static_cast<double>(event.occurred_at.micros - due.at(*event.aggregate)));
  }
  if (events.error()) return refuse(*events.error());
  return late;
}

/// All due at once.
Result<void> firing(const BenchOptions& options, Report& report) {
  constexpr std::uint64_t timers = 50'000;
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Alarm>());
  const double due = now_seconds() + 6;
  EVERSHARD_TRY(send_all(timers, 4'096, [&](std::uint64_t n, auto done) {
    const auto left = static_cast<std::int64_t>(std::max(0.0, due - now_seconds()) * 1e6);
    store->get<Alarm>(std::to_string(n)).ask_async(SetAlarm{left}, [done](const Answer<Done>& answer) {
      done(answer.replied());
    });
  }));
  EVERSHARD_TRY(wait_until(options, 60, [&] { return figure(*store, "timers.fired") == timers; }));
  const double took = now_seconds() - due;
  Figure f{"timers firing, 50,000 due at once", timers / took, "timers/s"};
  f.target = "10 k/s";
  f.reached = f.value >= 10e3;
  return add(options, report, std::move(f));
}

/// 5,000 a second, spread over the time.
Result<void> firing_at_half(const BenchOptions& options, Report& report) {
  constexpr double rate = 5'000;
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  EVERSHARD_TRY(store->host<Alarm>());
  const auto timers = static_cast<std::uint64_t>(rate * std::max(2.0, options.seconds));
  const double first = now_seconds() + 3;
  EVERSHARD_TRY(send_all(timers, 4'096, [&](std::uint64_t n, auto done) {
    const double at = first + static_cast<double>(n) / rate;
    store->get<Alarm>(std::to_string(n))
        .ask_async(SetAlarm{static_cast<std::int64_t>(std::max(0.0, at - now_seconds()) * 1e6)},
                   [done](const Answer<Done>& answer) { done(answer.replied()); });
  }));
  EVERSHARD_TRY(wait_until(options, 120, [&] { return figure(*store, "timers.fired") == timers; }));
  auto late = lateness(*store);
  if (!late) return refuse(late.error());
  Figure f{"timers firing, 5,000 a second: how late", late->percentile(0.5), "us"};
  f.more.emplace_back("p99_us", late->percentile(0.99));
  f.more.emplace_back("max_us", late->max());
  f.target = "median 20 ms, p99 250 ms";
  f.reached = f.value <= 20e3 && late->percentile(0.99) <= 250e3;
  return add(options, report, std::move(f));
}

/// Appends of one client, a second before and while they fire.
Result<void> overdue(const BenchOptions& options, Report& report) {
  constexpr std::uint64_t timers = 100'000;
  {
    auto store = open_store(options);
    if (!store) return refuse(store.error());
    EVERSHARD_TRY(store->host<Alarm>());
    EVERSHARD_TRY(set_alarms(*store, timers, std::chrono::seconds(20)));
  }
  std::this_thread::sleep_for(std::chrono::seconds(20));
  auto store = open_store(options, false);
  if (!store) return refuse(store.error());
  auto beside = std::make_unique<AppendsBeside>(*store);
  const double usual = beside->rate_during([&] { std::this_thread::sleep_for(std::chrono::seconds(1)); });
  Result<void> done{};
  double took = 0;
  const double during = beside->rate_during([&] {
    const double began = now_seconds();
    done = store->host<Alarm>();
    if (done) done = wait_until(options, 120, [&] { return figure(*store, "timers.fired") == timers; });
    took = now_seconds() - began;
  });
  beside.reset();
  EVERSHARD_TRY(done);
  Figure f{"100,000 timers due while nobody ran, fired", took, "s"};
  f.more.emplace_back("appends_beside_of_usual", during / usual);
  f.target = "at most 20; appends beside it at least 0.70 of usual";
  f.reached = took <= 20 && during / usual >= 0.70;
  return add(options, report, std::move(f));
}

/// Plain appends; of the second, to a store in which a process and timers wait.
Result<Figure> appends_beside(const BenchOptions& options, bool idle) {
  auto store = open_store(options);
  if (!store) return refuse(store.error());
  if (idle) {
    EVERSHARD_TRY(store->host<Counter>());
    EVERSHARD_TRY(store->host<Alarm>());
    EVERSHARD_TRY(set_alarms(*store, 10'000, std::chrono::hours(1)));
    EVERSHARD_TRY(store->run<Relay>());
  }
  std::uint64_t sent = 0;
  const double began = now_seconds(), cpu = cpu_seconds();
  while (now_seconds() - began < options.seconds) {
    constexpr std::uint64_t batch = 5'000;
    EVERSHARD_TRY(send_all(batch, in_flight, [&](std::uint64_t n, auto done) {
      store->append_async(Append{}.event("other-" + std::to_string(n % 100), "bench.added", "1"),
                          [done](const Result<Appended>& answer) { done(answer.has_value()); });
    }));
    sent += batch;
  }
  Figure f{idle ? "appends beside an idle process and 10,000 timers" : "appends, 256 in flight",
           static_cast<double>(sent) / (now_seconds() - began), "events/s"};
  f.more.emplace_back("cpu_us_each", (cpu_seconds() - cpu) * 1e6 / static_cast<double>(sent));
  return f;
}

}  // namespace

Result<void> measure_processes(const BenchOptions& options, Report& report) {
  report.heading("Processes and timers: synced, 16 shards");
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{[&] { return plain_commands(options); }},
       {[&] { return reactions<Relay>(options, "reactions: an event answered by a command, 1,000 instances"); },
        {{0, 0.4}}},
       {[&] { return reactions<WatchfulRelay>(options, "the same, where rejections are reacted to"); }}}));
  EVERSHARD_TRY(one_alone(options, report));
  EVERSHARD_TRY(report_in_turn(options, report,
                               {{[&] { return appends_beside(options, false); }},
                                {[&] { return appends_beside(options, true); }, {{0, 0.95}}}}));
  EVERSHARD_TRY(firing(options, report));
  EVERSHARD_TRY(firing_at_half(options, report));
  EVERSHARD_TRY(overdue(options, report));
  return pending(options, report);
}

}  // namespace evershard::bench
