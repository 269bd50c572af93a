// The link: two nodes in this process, each with its own threads, over loopback, plain and TLS.

#include <atomic>
#include <mutex>

#include "evershard/bench/in_flight.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/self_signed.hpp"
#include "evershard/cluster/link/links.hpp"

namespace evershard::bench {
namespace {

using namespace cluster;

constexpr std::size_t request_bytes = 200;
constexpr std::size_t batch_events = 64;

/// Node 2, and node 1 that answers it.
struct LinkedPair {
  std::unique_ptr<Links> server, client;

  static Result<LinkedPair> open(const BenchOptions& options, bool tls) {
    LinkOptions link;
    link.who = {"bench", 16, 1, NodeNumber(1), NodeRole::node, 0};
    link.secret = "a secret for the benchmark";
    if (tls) {
      const auto folder = fresh(options, "link");
      EVERSHARD_TRY(self_signed(folder));
      link.tls = LinkTls{folder / "certificate.pem", folder / "key.pem", folder / "certificate.pem", true};
    }
    LinkHandlers handlers;
    handlers.on_request = [](LinkRequest request) { request.reply(std::to_string(request.bytes.size())); };
    auto server = Links::open(link, std::move(handlers));
    if (!server) return refuse(server.error());
    const auto port = (*server)->listen("127.0.0.1", 0);
    if (!port) return refuse(port.error());
    link.who.node = NodeNumber(2);
    auto client = Links::open(link, {});
    if (!client) return refuse(client.error());
    EVERSHARD_TRY((*client)->dial({NodeNumber(1), "127.0.0.1", *port}));
    return LinkedPair{*std::move(server), *std::move(client)};
  }
};

/// Requests, so many in flight, each of so many bytes that stand for so many events.
Result<Figure> asked(const BenchOptions& options, bool tls, std::uint32_t depth, std::size_t bytes, std::size_t events,
                     std::string name) {
  auto pair = LinkedPair::open(options, tls);
  if (!pair) return refuse(pair.error());
  InFlight room(depth);
  Latencies latencies;
  std::uint64_t done = 0, failed = 0;
  const std::string payload(bytes, 'x');
  double began = 0, cpu = 0;
  bool warm = false;
  for (const double start = now_seconds(); !warm || now_seconds() - began < options.seconds;) {
    if (!warm && now_seconds() - start > 0.3) {
      room.drain();
      warm = true;
      done = failed = 0;
      latencies = {};
      began = now_seconds(), cpu = cpu_seconds();
    }
    room.enter();
    pair->client->request(NodeNumber(1), MessageKind(1), payload, std::chrono::seconds(10),
                          [&, sent = now_seconds()](const Result<std::string>& outcome) {
                            latencies.add((now_seconds() - sent) * 1e6);  // one thread's, the link's
                            ++(outcome ? done : failed);
                            room.leave();
                          });
  }
  room.drain();
  const double seconds = now_seconds() - began;
  Figure f{std::move(name), static_cast<double>(done * events) / seconds, events == 1 ? "requests/s" : "events/s"};
  f.more = percentiles(latencies);
  f.more.emplace_back("cpu_us_each",
                      (cpu_seconds() - cpu) * 1e6 / static_cast<double>(std::max<std::uint64_t>(1, done * events)));
  if (failed != 0) f.more.emplace_back("failed", static_cast<double>(failed));
  return f;
}

}  // namespace

Result<void> measure_link(const BenchOptions& options, Report& report) {
  report.heading("The link between nodes: both ends in this process, loopback, 200-byte requests");
  for (const std::uint32_t depth : {1u, 16u, 128u, 512u}) {
    const auto in_flight = ", " + std::to_string(depth) + " in flight";
    EVERSHARD_TRY(report_in_turn(
        options, report,
        {{[&] { return asked(options, false, depth, request_bytes, 1, "link, secret" + in_flight); }},
         {[&] { return asked(options, true, depth, request_bytes, 1, "link, TLS" + in_flight); }, {{0, 0, 0}}}}));
  }
  return report_in_turn(options, report,
                        {{[&] {
                           return asked(options, false, 16, batch_events * request_bytes, batch_events,
                                        "link, secret, 64 events a request, 16 in flight");
                         }},
                         {[&] {
                            return asked(options, true, 16, batch_events * request_bytes, batch_events,
                                         "link, TLS, 64 events a request, 16 in flight");
                          },
                          {{0, 0, 0}}},
                         {[&] {
                           return asked(options, false, 4, 1u << 20, (1u << 20) / request_bytes,
                                        "link, secret, 1 MiB a request, 4 in flight");
                         }},
                         {[&] {
                            return asked(options, true, 4, 1u << 20, (1u << 20) / request_bytes,
                                         "link, TLS, 1 MiB a request, 4 in flight");
                          },
                          {{2, 0, 0}}}});
}

}  // namespace evershard::bench
