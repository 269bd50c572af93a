#include "bench/peers/workloads.hpp"

#include <atomic>

#include "bench/peers/called.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t tags = 10'000;
constexpr std::size_t events_a_load_call = 512;
constexpr std::uint64_t bytes_of_one = 320;  // an event with its type and tags, as a cache has it

Workload::Shape shape() {
  Workload::Shape shape;
  shape.courses = tags;
  return shape;
}

using Call = std::function<Result<std::uint64_t>(PeerClient& client, Workload& workload)>;

Result<Called> called(Peer& peer, std::size_t clients, double seconds, std::uint64_t seed, const Call& call) {
  return called<PeerClient>(
      peer.process(), [&peer] { return peer.connect(); }, clients, seconds, seed, shape(), call);
}

Result<std::uint64_t> append_some(PeerClient& client, Workload& workload, std::size_t events) {
  const auto done = client.append(workload.append(events));
  if (!done) return refuse(done.error());
  return events;
}

Result<void> fill(Peer& peer, std::uint64_t events, std::uint64_t seed) {
  auto client = peer.connect();
  if (!client) return refuse(std::move(client).error());
  Workload workload(seed, shape());
  for (std::uint64_t done = 0; done < events; done += events_a_load_call)
    EVERSHARD_TRY((*client)->append(workload.append(std::min<std::uint64_t>(events_a_load_call, events - done))));
  return {};
}

/// One row: the first kind, and the others against it.
Result<void> row(const BenchOptions& options, const std::vector<PeerKind>& kinds, Report& report,
                 const std::function<Result<Figure>(std::size_t kind)>& measure) {
  std::vector<Contestant> contestants;
  for (std::size_t k = 0; k != kinds.size(); ++k) {
    Contestant one{[&, k] { return measure(k); }, {}};
    // Ours comes last: it is held against each of the others.
    if (k + 1 == kinds.size())
      for (std::size_t other = 0; other != k; ++other) one.held.push_back({other});
    contestants.push_back(std::move(one));
  }
  return report_in_turn(options, report, contestants);
}

}  // namespace

Result<void> measure_peer_appends(const BenchOptions& options, const std::vector<PeerKind>& kinds, Report& report) {
  report.heading("Appends of events of 256 bytes with two tags, synced, over loopback");
  struct Shape {
    const char* name;
    std::size_t clients, events;
    bool conditional;
  };
  for (const Shape& of :
       {Shape{"1 client, 1 event a call", 1, 1, false}, Shape{"64 clients, 1 event a call", 64, 1, false},
        Shape{"64 clients, 1 event a call, with a condition", 64, 1, true},
        Shape{"16 clients, 64 events a call", 16, 64, false}}) {
    const auto measure = [&](std::size_t k) -> Result<Figure> {
      auto peer = kinds[k].start(fresh(options, "peer"), 0);
      if (!peer) return refuse(std::move(peer).error());
      std::atomic<std::uint64_t> last{0};
      auto all = called(**peer, of.clients, options.seconds, options.seed,
                        [&](PeerClient& client, Workload& workload) -> Result<std::uint64_t> {
                          if (!of.conditional) return append_some(client, workload, of.events);
                          // Refused where another one came in between: rarely, and it counts as a call.
                          const auto done = client.append_if(workload.append(of.events), last);
                          if (!done && done.error().code == ErrorCode::condition_failed) return 0;
                          if (!done) return refuse(done.error());
                          last = std::max<std::uint64_t>(last, *done);
                          return of.events;
                        });
      if (!all) return refuse(std::move(all).error());
      return figure_of(kinds[k].name + ": " + of.name, *all, true);
    };
    EVERSHARD_TRY(row(options, kinds, report, measure));
  }
  return {};
}

Result<void> measure_peer_reads(const BenchOptions& options, const std::vector<PeerKind>& kinds, Report& report) {
  report.heading("Reads of " + std::to_string(options.events) + " events of 256 bytes, 10,000 tags, over loopback");
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::size_t k = 0; k != kinds.size(); ++k) {
    auto peer = kinds[k].start(fresh(options, "peer-" + std::to_string(k)), 0);
    if (!peer) return refuse(std::move(peer).error());
    EVERSHARD_TRY(fill(**peer, options.events, options.seed));
    peers.push_back(std::move(*peer));
  }
  const Call one_tag = [](PeerClient& client, Workload& workload) {
    return client.read("course:" + std::to_string(workload.random().below(tags)));
  };
  const Call one_event = [](PeerClient& client, Workload& workload) {
    return client.read_one("course:" + std::to_string(workload.random().below(tags)));
  };
  const Call everything = [](PeerClient& client, Workload&) { return client.read_all(); };
  enum class Files { as_they_are, in_the_systems_cache, on_disk };
  struct Shape {
    const char* name;
    std::size_t clients;
    const Call& call;
    Files files = Files::as_they_are;
  };
  const auto small_cache = options.events * bytes_of_one / 5;
  for (const Shape& of :
       {Shape{"everything, 1 client", 1, everything}, Shape{"one tag, 1 client, warm", 1, one_tag},
        Shape{"one tag, 16 clients, warm", 16, one_tag}, Shape{"the first event of a tag, 16 clients", 16, one_event},
        Shape{"one tag, 1 client, cold", 1, one_tag, Files::on_disk},
        Shape{"one tag, 1 client, five times what its cache holds", 1, one_tag, Files::in_the_systems_cache}}) {
    const auto measure = [&](std::size_t k) -> Result<Figure> {
      if (of.files == Files::on_disk) EVERSHARD_TRY(peers[k]->restart_cold());
      if (of.files == Files::in_the_systems_cache) EVERSHARD_TRY(peers[k]->restart_with_cache(small_cache));
      const auto seed = static_cast<std::uint64_t>(now_seconds() * 1e3);
      if (of.files != Files::on_disk) {  // what is measured is as warm as this makes it
        auto before = called(*peers[k], 2, options.seconds, seed + 100, of.call);
        if (!before) return refuse(std::move(before).error());
      }
      auto all = called(*peers[k], of.clients, of.files == Files::on_disk ? options.seconds / 4 : options.seconds, seed,
                        of.call);
      if (!all) return refuse(std::move(all).error());
      return figure_of(kinds[k].name + ": " + of.name, *all, false);
    };
    EVERSHARD_TRY(row(options, kinds, report, measure));
  }
  return {};
}

}  // namespace evershard::bench
