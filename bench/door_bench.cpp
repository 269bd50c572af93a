// The door: a server and its clients in processes of their own on loopback, held against the store in this process.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <evershard/local.hpp>
#include <mutex>
#include <thread>

#include "evershard/bench/drive.hpp"
#include "evershard/bench/in_flight.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/served.hpp"
#include "evershard/bench/workload.hpp"
#include "evershard/doors/remote/remote.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::bench {
namespace {

constexpr const char* append_method = "/evershard.v1.EventStore/Append";
constexpr std::size_t idle_subscriptions = 1'000;

Result<Remote> client_of(const ServedStore& served) { return Remote::connect({.server = served.address()}); }

/// Unary calls, so many in flight; each with an append of one event.
Result<Figure> unary(const BenchOptions& options, const std::string& address, const std::string& name) {
  const auto channel = grpc::CreateChannel(address, grpc::InsecureChannelCredentials());
  grpc::GenericStub stub(channel);
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer in, out;
  };
  Workload workload(options.seed);
  InFlight room(64);
  std::atomic<std::uint64_t> done{0}, failed{0};
  std::mutex mutex;
  std::vector<std::shared_ptr<Call>>
      over;  // go in this thread: gRPC does not bear the last of a channel to go in its own
  const double began = now_seconds();
  while (now_seconds() - began < options.seconds) {
    auto append = workload.append(1);
    for (auto& event : append.events) event.id = EventId::random();
    auto call = std::make_shared<Call>();
    const grpc::Slice slice(codec::encode(append));
    call->in = grpc::ByteBuffer(&slice, 1);
    room.enter();
    {
      const std::lock_guard lock(mutex);
      over.clear();
    }
    auto& started = *call;
    stub.UnaryCall(&started.context, append_method, {}, &started.in, &started.out,
                   [&, call = std::move(call)](const grpc::Status& status) mutable {
                     ++(status.ok() ? done : failed);
                     {
                       const std::lock_guard lock(mutex);
                       over.push_back(std::move(call));
                     }
                     room.leave();
                   });
  }
  room.drain();
  Figure f{name, static_cast<double>(done) / (now_seconds() - began), "appends/s"};
  if (failed != 0) f.more.emplace_back("failed", static_cast<double>(failed));
  return f;
}

Result<Figure> unary_to_store(const BenchOptions& options) {
  auto served = ServedStore::start(fresh(options, "served"));
  if (!served) return refuse(served.error());
  return unary(options, (*served)->address(), "server, unary, 64 in flight");
}

Result<Figure> unary_to_nothing(const BenchOptions& options) {
  auto served = ServedStore::start(fresh(options, "served"));
  if (!served) return refuse(served.error());
  return unary(options, (*served)->echo_address(), "an empty service, unary, 64 in flight");
}

Result<Figure> one_in_flight(const BenchOptions& options, EventStore& store, const std::string& name) {
  Workload workload(options.seed);
  auto out = drive(store, 1, options.seconds, [&] { return workload.append(1); });
  Figure f{name, out.latencies.percentile(0.5), "us"};
  f.more = percentiles(out.latencies);
  return f;
}

Result<Figure> one_in_flight_here(const BenchOptions& options) {
  auto store = Local::open({.data_dir = fresh(options, "local"), .shards = 16});
  if (!store) return refuse(store.error());
  return one_in_flight(options, *store, "store in this process, 1 in flight of 1");
}

Result<Figure> one_in_flight_there(const BenchOptions& options) {
  auto served = ServedStore::start(fresh(options, "served"));
  if (!served) return refuse(served.error());
  auto store = client_of(**served);
  if (!store) return refuse(store.error());
  return one_in_flight(options, *store, "server, 1 in flight of 1");
}

/// `streams` connections of 64-event appends, each with one in flight.
Result<Figure> many(const BenchOptions& options, const std::vector<EventStore*>& stores, std::uint32_t in_flight_each,
                    const std::string& name) {
  std::vector<Outcome> outs(stores.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    threads.emplace_back([&, i] {
      Workload workload(options.seed + i);
      outs[i] = drive(*stores[i], in_flight_each, options.seconds, [&] { return workload.append(64); });
    });
  }
  for (auto& thread : threads) thread.join();
  double rate = 0;
  Latencies latencies;
  for (const auto& out : outs) {
    rate += static_cast<double>(out.events) / out.seconds;
    latencies.add(out.latencies);
  }
  Figure f{name, rate, "events/s"};
  f.more = percentiles(latencies);
  return f;
}

Result<Figure> many_here(const BenchOptions& options) {
  auto store = Local::open({.data_dir = fresh(options, "local"), .shards = 16});
  if (!store) return refuse(store.error());
  return many(options, {&*store}, 64, "store in this process, 64 in flight of 64");
}

Result<Figure> many_there(const BenchOptions& options) {
  auto served = ServedStore::start(fresh(options, "served"));
  if (!served) return refuse(served.error());
  std::vector<std::unique_ptr<Remote>> clients;
  std::vector<EventStore*> stores;
  for (int i = 0; i < 64; ++i) {
    auto client = client_of(**served);
    if (!client) return refuse(client.error());
    clients.push_back(std::make_unique<Remote>(std::move(*client)));
    stores.push_back(clients.back().get());
  }
  return many(options, stores, 1, "server, 64 streams of 64");
}

Result<Figure> scan(EventStore& store, const std::string& name) {
  const double began = now_seconds();
  std::uint64_t events = 0;
  auto stream = store.read(Query::all(), {});
  for (;;) {
    auto page = stream.next_page();
    if (!page) return refuse(page.error());
    events += page->events.size();
    if (page->complete) break;
  }
  return Figure{name, static_cast<double>(events) / (now_seconds() - began), "events/s"};
}

Result<void> fill(const std::filesystem::path& directory, std::uint64_t events, std::uint64_t seed) {
  auto store = Local::open({.data_dir = directory, .shards = 16});
  if (!store) return refuse(store.error());
  Workload workload(seed);
  InFlight room(64);
  for (std::uint64_t sent = 0; sent < events; sent += 100) {
    room.enter();
    store->append_async(workload.append(100), [&room](const Result<Appended>&) { room.leave(); });
  }
  room.drain();
  return store->flush();
}

/// A feed that is never drained further than its first messages, as a subscriber that waits.
std::vector<EventFeed> subscribe(Remote& client, std::size_t count) {
  std::vector<EventFeed> feeds;
  for (std::size_t i = 0; i < count; ++i) {
    feeds.push_back(client.follow(Query{}.tags({"nobody:" + std::to_string(i)})));
    (void)feeds.back().next(std::chrono::seconds(1));
  }
  return feeds;
}

Result<void> measure_reads_there(const BenchOptions& options, Report& report) {
  const auto directory = fresh(options, "filled");
  EVERSHARD_TRY(fill(directory, options.events, options.seed));
  return report_in_turn(options, report,
                        {{[&]() -> Result<Figure> {
                           auto store = Local::open({.data_dir = directory});
                           if (!store) return refuse(store.error());
                           return scan(*store, "scan of everything in this process");
                         }},
                         {[&]() -> Result<Figure> {
                            auto served = ServedStore::start(directory);
                            if (!served) return refuse(served.error());
                            auto client = client_of(**served);
                            if (!client) return refuse(client.error());
                            return scan(*client, "scan of everything over the wire");
                          },
                          {{0, 0.5, 0}}}});
}

Result<void> measure_subscriptions(const BenchOptions& options, Report& report) {
  auto served = ServedStore::start(fresh(options, "served"));
  if (!served) return refuse(served.error());
  auto writer = client_of(**served);
  auto reader = client_of(**served);
  if (!writer || !reader) return refuse(ErrorCode::io, "cannot connect");
  auto live = following(options, *writer, reader->follow(Query::all()), "live subscription: from append to delivery");
  EVERSHARD_TRY(add(options, report, std::move(live)));

  Workload workload(options.seed);
  struct Load {
    double rate = 0;
    double cpu = 0;  ///< of the server, seconds an event
  };
  const auto load = [&]() -> Load {
    const double cpu = (*served)->cpu_seconds();
    auto out = drive(*writer, 64, options.seconds, [&] { return workload.append(1); });
    return {static_cast<double>(out.events) / out.seconds,
            ((*served)->cpu_seconds() - cpu) / static_cast<double>(std::max<std::uint64_t>(1, out.events))};
  };
  (void)load();  // warm
  std::vector<double> ratios, cpu_ratios;
  double memory = 0;
  // Alone, beside them, alone: a store that grows slower with its size is not taken for them.
  auto before = load();
  for (std::size_t round = 0; round < options.rounds; ++round) {
    const auto resident = (*served)->resident_bytes();
    std::optional<std::vector<EventFeed>> feeds = subscribe(*reader, idle_subscriptions);
    memory = std::max(memory, (static_cast<double>((*served)->resident_bytes()) - static_cast<double>(resident)) / 1e6);
    const auto beside = load();
    feeds.reset();
    const auto after = load();
    ratios.push_back(beside.rate * 2 / (before.rate + after.rate));
    cpu_ratios.push_back(beside.cpu * 2 / (before.cpu + after.cpu));
    before = after;
  }
  std::sort(ratios.begin(), ratios.end());
  std::sort(cpu_ratios.begin(), cpu_ratios.end());
  Figure f{"append rate beside 1,000 idle subscriptions", ratios[ratios.size() / 2], "of alone"};
  f.more.emplace_back("least", ratios.front());
  f.more.emplace_back("most", ratios.back());
  f.more.emplace_back("server_cpu_of_alone", cpu_ratios[cpu_ratios.size() / 2]);
  f.more.emplace_back("memory_mb", memory);
  f.target = "no measurable difference, under 100 MB";
  f.reached = f.value > 0.95 && memory < 100;
  return add(options, report, std::move(f));
}

}  // namespace

Result<void> measure_door(const BenchOptions& options, Report& report) {
  report.heading("The door: server and clients as processes on loopback");
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{[&] { return one_in_flight_here(options); }}, {[&] { return one_in_flight_there(options); }, {{0, 0, 0}}}}));
  EVERSHARD_TRY(report_in_turn(
      options, report,
      {{[&] { return unary_to_nothing(options); }}, {[&] { return unary_to_store(options); }, {{0, 0.6, 0}}}}));
  EVERSHARD_TRY(report_in_turn(
      options, report, {{[&] { return many_here(options); }}, {[&] { return many_there(options); }, {{0, 0.6, 0}}}}));
  EVERSHARD_TRY(measure_reads_there(options, report));
  return measure_subscriptions(options, report);
}

}  // namespace evershard::bench
