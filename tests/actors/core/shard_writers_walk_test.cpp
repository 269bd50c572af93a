// Seeded walks: several nodes' writers and a coordinator under random requests, retries, crashes, moves and new
// coordinators. Every step is checked by WritersWorld against the naive order; at the end everybody comes to rest. A
// failure is a seed: EVERSHARD_WALK_SEED=n EVERSHARD_WALK_TRACE=1; EVERSHARD_WALK_COUNT=n for more of them.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed), world_(options(seed)) {}

  void run(int steps) {
    for (int i = 0; i != steps && !testing::Test::HasFailure(); ++i) step();
    if (!testing::Test::HasFailure()) world_.rest();
  }
  [[nodiscard]] const std::map<std::string, int>& seen() const { return world_.seen; }

 private:
  static WritersWorld::Options options(std::uint64_t seed) {
    WritersWorld::Options options;
    options.shards = static_cast<std::uint32_t>(2 + seed % 3);
    options.nodes = static_cast<std::uint32_t>(1 + seed / 3 % 3);
    if (seed % 4 == 0) options.term_mask = 7;  // terms collide: needless refusals, streams under one hash
    if (seed % 5 == 0) options.window_events_max = 8;
    if (seed % 7 == 0) options.writers.recent_entries_max = 4;
    if (seed % 9 == 0) options.writers.unordered_bytes_max = 1'000;
    if (seed % 2 == 0) options.writers.report_events_max = 2;
    options.writers.waiting_max = seed % 6 == 0 ? 2 : 100;
    return options;
  }
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }
  bool once_in(std::uint64_t n) { return pick(n) == 0; }
  std::uint32_t node() { return static_cast<std::uint32_t>(pick(world_.options.nodes)); }
  std::string aggregate() { return "order-" + std::to_string(pick(6)); }
  Tag tag() { return {std::string(1, static_cast<char>('a' + pick(4)))}; }

  void step() {
    world_.view_lag = once_in(2) ? pick(10) : 0;
    switch (pick(26)) {
      case 0:
      case 1:
      case 2:
        send();
        break;
      case 3:
      case 4:
        world_.close(node());
        break;
      case 5:
      case 6:
      case 7:
        world_.sync(node());
        break;
      case 8:
      case 9:
        world_.look_up(node(), random_());
        break;
      case 10:
      case 11:
      case 12:
        world_.deliver_report(random_(), once_in(8), once_in(12));
        break;
      case 13:
        world_.deliver_promise(random_());
        break;
      case 14:
      case 15:
        part();
        break;
      case 16:
      case 17:
        world_.deliver_reply(random_());
        break;
      case 18:
      case 19:
        world_.make_cut();
        break;
      case 20:
      case 21:
      case 22:
      case 23:
        world_.apply(node());
        break;
      default:
        rare();
        break;
    }
  }

  void part() {
    if (world_.parts.empty() || !once_in(10)) {
      world_.deliver_part(random_(), once_in(8));
      return;
    }
    world_.lose_part(pick(world_.parts.size()), once_in(2));
  }

  void send() {
    if (once_in(4) && !world_.clients.empty()) {
      const std::uint64_t client = 1 + pick(world_.clients.size());
      if (!unnamed_.contains(client)) {
        auto again = world_.original(client);
        if (once_in(3) && again.ack != Ack::durable) {
          // Another request whose events have the same ids, elsewhere. (Who asks for the sync alone takes that upon
          // him.)
          again.request_id = EventId::derived({}, static_cast<std::uint32_t>(random_()));
          for (auto& event : again.events) event.aggregate = *AggregateId::parse(aggregate());
          again.expectations.clear();
        }
        world_.send(once_in(6) ? std::optional(node()) : std::nullopt, std::move(again));
        return;
      }
    }
    Append append;
    for (std::uint64_t n = 1 + pick(3); n != 0; --n) {
      append.event(once_in(10) ? "" : aggregate(), once_in(2) ? "Placed" : "Paid", "p" + std::to_string(random_()),
                   {tag()});
    }
    const GlobalPosition last = world_.model.last();
    if (once_in(2)) {
      const std::string on =
          once_in(4) || !append.events[0].aggregate ? aggregate() : append.events[0].aggregate->text();
      const std::uint64_t version = world_.model.version(*AggregateId::parse(on), last).value + pick(3);
      switch (pick(6)) {
        case 0:
          append.expect(on, Version::none());
          break;
        case 1:
          append.expect(on, Version::exists());
          break;
        default:
          append.expect(on, Version::exactly(version == 0 ? 0 : version - pick(2)));
          break;
      }
    }
    for (std::uint64_t n = pick(3) == 0 ? 1 + pick(2) : 0; n != 0; --n) {
      const GlobalPosition after{once_in(10) ? 0 : last.value - std::min(last.value, pick(5))};
      append.fail_if(once_in(4) ? Query{}.types({"Paid"}).tags({tag()}) : Query{}.tags({tag()}), after);
    }
    if (once_in(4)) append.ack = Ack::durable;
    const bool named = !once_in(8);
    const std::uint64_t client = world_.send(std::move(append), named);
    if (!named) unnamed_.insert(client);
  }

  void rare() {
    const std::uint32_t n = node();
    auto& at = world_.nodes[n];
    switch (pick(16)) {
      case 0:
        if (once_in(3))
          world_.crash(n, CutNumber{at.persisted.value + pick(at.writers->last_cut().value - at.persisted.value + 1)});
        break;
      case 1:
        if (once_in(4)) world_.replace_coordinator();
        break;
      case 2:
        if (once_in(3)) world_.move(ShardId{static_cast<std::uint16_t>(pick(world_.options.shards))}, n);
        break;
      case 3:
        world_.lose_session(n);
        break;
      case 4:
        world_.digests_wanted = once_in(2);
        world_.builds = !once_in(4);
        break;
      case 5:
        if (once_in(3) && !world_.clients.empty()) world_.give_up(1 + pick(world_.clients.size()));
        break;
      case 6:
      case 7:
      case 8:
        for (std::uint32_t s = 0; s != world_.options.shards; ++s) {
          const ShardId shard{static_cast<std::uint16_t>(s)};
          const auto& owner = world_.nodes[world_.owners[s]];
          if (owner.session && !owner.writers->is_open(shard)) world_.open(shard, world_.owners[s]);
        }
        break;
      default:
        if (!at.session) world_.begin_session(n);
        break;
    }
  }

  std::mt19937_64 random_;
  WritersWorld world_;
  std::set<std::uint64_t> unnamed_;
};

TEST(ShardWritersWalk, KeepsEveryPromiseWhateverComes) {
  std::map<std::string, int> seen;
  const char* fixed = std::getenv("EVERSHARD_WALK_SEED");
  const std::uint64_t first = fixed != nullptr ? std::strtoull(fixed, nullptr, 10) : 1;
  const char* more = std::getenv("EVERSHARD_WALK_COUNT");
  const std::uint64_t count = more != nullptr ? std::strtoull(more, nullptr, 10) : fixed != nullptr ? 1 : 1'500;
  for (std::uint64_t seed = first; seed != first + count; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Walk walk(seed);
    walk.run(500);
    for (const auto& [what, times] : walk.seen()) seen[what] += times;
    if (HasFailure()) return;
  }
  if (fixed != nullptr) return;
  for (const char* what : {"appended",
                           "duplicate",
                           "durable",
                           "version_conflict",
                           "condition_failed",
                           "overloaded",
                           "fenced",
                           "timeout",
                           "unavailable",
                           "part placed",
                           "refused by a cut",
                           "part busy",
                           "confirmed",
                           "looked up",
                           "promised",
                           "built on another",
                           "refused with its base",
                           "duplicate_event",
                           "crash",
                           "move",
                           "coordinator replaced"}) {
    EXPECT_GT(seen[what], 0) << "never seen: " << what;
    RecordProperty(what, seen[what]);
  }
}

}  // namespace
}  // namespace evershard::actors
