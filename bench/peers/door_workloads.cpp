#include "bench/peers/called.hpp"
#include "bench/peers/doors.hpp"
#include "bench/peers/workloads.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t events_of_a_stream = 100;
constexpr std::size_t payload_bytes = 256;
constexpr double wanted = 0.85;

/// What both protocols have words for: no tags.
std::vector<Event> plain_events(Workload& workload, std::size_t count) {
  auto events = workload.append(count).events;
  for (auto& event : events) event.tags.clear();
  return events;
}

enum class Speaks { own, kurrent };

Result<std::unique_ptr<DoorClient>> client_at(const Doors& doors, Speaks protocol) {
  return protocol == Speaks::own ? client_of_own_door(doors.own) : client_of_kurrent_door(doors.kurrent);
}

struct DoorContestant {
  Speaks speaks;
  const char* name;
  bool open_call = false;
  std::optional<std::size_t> against{};
};

using DoorCall = std::function<Result<std::uint64_t>(DoorClient& client, Workload& workload)>;

Result<Called> called_at(const Doors& doors, Speaks protocol, std::size_t clients, double seconds, std::uint64_t seed,
                         const DoorCall& call) {
  return called<DoorClient>(
      *doors.process, [&] { return client_at(doors, protocol); }, clients, seconds, seed, {}, call);
}

Result<void> fill_streams(const Doors& doors, std::uint64_t events, std::uint64_t seed) {
  const auto client = client_of_own_door(doors.own);
  Workload workload(seed);
  // Streams grow side by side, as they do.
  const auto streams = std::max<std::uint64_t>(1, events / events_of_a_stream);
  for (std::uint64_t part = 0; part != events_of_a_stream / 20; ++part)
    for (std::uint64_t stream = 0; stream != streams; ++stream) {
      auto some = plain_events(workload, 20);
      some.front().aggregate = AggregateId{"order", std::to_string(stream)};
      EVERSHARD_TRY(client->append_on_open_call(some));
    }
  return {};
}

}  // namespace

Result<void> measure_door_appends(const BenchOptions& options, const std::filesystem::path& program, Report& report) {
  report.heading("KurrentDB's door beside our own: appends of events of 256 bytes, synced, over loopback");
  struct Shape {
    const char* name;
    std::size_t clients, events;
  };
  static constexpr DoorContestant contestants[] = {{Speaks::own, "own door", false, {}},
                                                   {Speaks::own, "own door, a call that stays open", true, {}},
                                                   {Speaks::kurrent, "KurrentDB's, Append", false, 0},
                                                   {Speaks::kurrent, "KurrentDB's, BatchAppend", true, 1}};
  for (const Shape& of : {Shape{"1 client, 1 event a call", 1, 1}, Shape{"64 clients, 1 event a call", 64, 1},
                          Shape{"16 clients, 64 events a call", 16, 64}}) {
    std::vector<Contestant> all;
    for (const auto& contestant : contestants) {
      Contestant one{[&]() -> Result<Figure> {
                       auto doors = Doors::start(program, fresh(options, "doors"));
                       if (!doors) return refuse(std::move(doors).error());
                       auto done = called_at(*doors, contestant.speaks, of.clients, options.seconds, options.seed,
                                             [&](DoorClient& client, Workload& workload) -> Result<std::uint64_t> {
                                               const auto events = plain_events(workload, of.events);
                                               EVERSHARD_TRY(contestant.open_call ? client.append_on_open_call(events)
                                                                                  : client.append(events));
                                               return events.size();
                                             });
                       if (!done) return refuse(std::move(done).error());
                       return figure_of(std::string(contestant.name) + ": " + of.name, *done, true);
                     },
                     {}};
      if (contestant.against) one.held.push_back({*contestant.against, wanted});
      all.push_back(std::move(one));
    }
    EVERSHARD_TRY(report_in_turn(options, report, all));
  }
  return {};
}

Result<void> measure_door_reads(const BenchOptions& options, const std::filesystem::path& program, Report& report) {
  report.heading("KurrentDB's door beside our own: reads of " + std::to_string(options.events) +
                 " events of 256 bytes in streams of 100, over loopback");
  auto doors = Doors::start(program, fresh(options, "doors"));
  if (!doors) return refuse(std::move(doors).error());
  EVERSHARD_TRY(fill_streams(*doors, options.events, options.seed));
  const auto streams = std::max<std::uint64_t>(1, options.events / events_of_a_stream);
  const auto events = streams * events_of_a_stream;

  const auto folder = fresh(options, "messages");
  const auto port = free_port();
  auto messages =
      PeerProcess::start(std::filesystem::read_symlink("/proc/self/exe"),
                         {"--serve-messages", std::to_string(port), std::to_string(payload_bytes)}, port, folder);
  if (!messages) return refuse(std::move(messages).error());

  const auto counted = [](const Result<std::uint64_t>& seen, std::uint64_t wanted_events) -> Result<std::uint64_t> {
    if (seen && *seen != wanted_events)
      return refuse(ErrorCode::io,
                    "a read gave " + std::to_string(*seen) + " events, not " + std::to_string(wanted_events));
    return seen;
  };
  struct Shape {
    const char* name;
    std::size_t clients;
    std::uint64_t events;
    DoorCall call;
  };
  const DoorCall one_stream = [&](DoorClient& client, Workload& workload) {
    return counted(client.read({"order", std::to_string(workload.random().below(streams))}), events_of_a_stream);
  };
  const DoorCall everything = [&](DoorClient& client, Workload&) { return counted(client.read_all(), events); };
  const DoorCall catching_up = [&](DoorClient& client, Workload&) { return client.catch_up(events); };
  for (const Shape& of : {Shape{"a stream of 100 events, 1 client", 1, events_of_a_stream, one_stream},
                          Shape{"a stream of 100 events, 16 clients", 16, events_of_a_stream, one_stream},
                          Shape{"everything, 1 client", 1, events, everything},
                          Shape{"a subscription to everything catches up", 1, events, catching_up}}) {
    const auto measure = [&](Speaks speaks, const char* name) -> Result<Figure> {
      const auto seed = static_cast<std::uint64_t>(now_seconds() * 1e3);
      auto before = called_at(*doors, speaks, 2, options.seconds / 2, seed + 100, of.call);
      if (!before) return refuse(std::move(before).error());
      auto all = called_at(*doors, speaks, of.clients, options.seconds, seed, of.call);
      if (!all) return refuse(std::move(all).error());
      return figure_of(std::string(name) + ": " + of.name, *all, false);
    };
    // A message an event from memory: what KurrentDB's protocol costs with this gRPC at the least.
    const auto from_memory = [&]() -> Result<Figure> {
      auto all = called<MessagesClient>(
          **messages, [&]() -> Result<std::unique_ptr<MessagesClient>> { return MessagesClient::to(port); }, of.clients,
          options.seconds, options.seed, {},
          [&](MessagesClient& to, Workload&) { return to.read_messages(of.events); });
      if (!all) return refuse(std::move(all).error());
      return figure_of(std::string("messages from memory: ") + of.name, *all, false);
    };
    EVERSHARD_TRY(report_in_turn(options, report,
                                 {{[&] { return measure(Speaks::own, "own door"); }, {}},
                                  {from_memory, {}},
                                  {[&] { return measure(Speaks::kurrent, "KurrentDB's"); }, {{0, wanted}, {1}}}}));
  }
  return {};
}

}  // namespace evershard::bench
