#include "tests/process/cluster_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int names = 200;  ///< of which each is taken once
constexpr int aggregates = 40;
constexpr auto call_timeout = 2s;

bool may_be_tried_again(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::timeout || code == ErrorCode::fenced ||
         code == ErrorCode::wrong_shard || code == ErrorCode::overloaded || code == ErrorCode::cancelled;
}

}  // namespace

ClusterLoad::ClusterLoad(const ClusterProcesses& cluster, std::uint64_t seed, int clients)
    : cluster_(cluster), seed_(seed) {
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) asked_.insert(n);
  for (int c = 0; c < clients; ++c) threads_.emplace_back([this, c] { append(c); });
  threads_.emplace_back([this] { read(0); });
  threads_.emplace_back([this] { follow(0); });
}

ClusterLoad::~ClusterLoad() { stop(); }

void ClusterLoad::stop() {
  over_ = true;
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

bool ClusterLoad::goes_on(std::uint64_t more, std::chrono::milliseconds deadline) const {
  const auto before = acknowledged_.load();
  for (const auto until = Clock::now() + deadline; Clock::now() < until; std::this_thread::sleep_for(5ms))
    if (acknowledged_ >= before + more) return true;
  return false;
}

void ClusterLoad::ask(std::uint32_t node, bool yes) {
  const std::lock_guard lock(mutex_);
  if (yes)
    asked_.insert(node);
  else
    asked_.erase(node);
}

std::uint32_t ClusterLoad::any_node(std::mt19937_64& random) {
  const std::lock_guard lock(mutex_);
  return *std::next(asked_.begin(), static_cast<std::ptrdiff_t>(random() % asked_.size()));
}

Append ClusterLoad::make(int client, int number, std::mt19937_64& random) {
  const auto name = std::to_string(client) + "-" + std::to_string(number);
  Append append;
  append.request_id = EventId::random();
  const auto first = "order-" + std::to_string(random() % aggregates);
  append.event(first, "Placed", name + ".a", {"client:" + std::to_string(client)});
  if (random() % 2 == 0)
    append.event("account-" + std::to_string(random() % aggregates), "Charged", name + ".b")
        .event(first, "Paid", name + ".c");
  if (random() % 3 == 0) {
    const auto of = random() % 4 == 0 ? "account-" + std::to_string(random() % aggregates) : first;
    const std::lock_guard lock(mutex_);
    append.expect(of, Version::exactly(versions_[of]));
  }
  if (random() % 3 == 0) {
    const auto taken = "name:" + std::to_string(random() % names);
    append.events.front().tags.push_back(taken);
    append.fail_if(Query().tags({taken}), GlobalPosition{0});
  }
  return append;
}

void ClusterLoad::note(HistoryAppend asked) {
  const std::lock_guard lock(mutex_);
  if (asked.acknowledged) {
    ++acknowledged_;
    newest_ = std::max(newest_, asked.acknowledged->last_position);
    for (const auto& version : asked.acknowledged->versions) {
      auto& known = versions_[version.aggregate.text()];
      known = std::max(known, version.version);
    }
  }
  history_.appends.push_back(std::move(asked));
}

void ClusterLoad::append(int client) {
  std::mt19937_64 random(seed_ + static_cast<std::uint64_t>(client));
  std::map<std::uint32_t, Remote> stores;
  for (int number = 0; !over_; ++number) {
    HistoryAppend asked;
    asked.append = make(client, number, random);
    asked.began = ++now_;
    // The same request until somebody answers it, whoever is asked.
    for (asked.tries = 1;; ++asked.tries) {
      const auto node = any_node(random);
      auto store = stores.find(node);
      if (store == stores.end()) store = stores.emplace(node, cluster_.connect(node, call_timeout)).first;
      const auto done = store->second.append(asked.append);
      asked.ended = ++now_;
      if (done)
        asked.acknowledged = *done;
      else if (!may_be_tried_again(done.error().code))
        asked.refused = done.error();
      if (asked.acknowledged || asked.refused || over_) break;
      ++tried_again_;
      std::this_thread::sleep_for(20ms);
    }
    note(std::move(asked));
  }
}

void ClusterLoad::fill(std::uint32_t node, const std::set<std::uint32_t>& shards) {
  auto store = cluster_.connect(node, call_timeout);
  for (const auto shard : shards) {
    HistoryAppend asked;
    asked.append = Append().event(cluster_.aggregate_in(shard), "Filled", EventId::random().text());
    asked.append.request_id = EventId::random();
    asked.began = ++now_;
    const auto until = Clock::now() + 60s;
    for (; !asked.acknowledged && Clock::now() < until; ++asked.tries) {
      const auto done = store.append(asked.append);
      if (done)
        asked.acknowledged = *done;
      else
        EXPECT_TRUE(may_be_tried_again(done.error().code)) << done.error().what;
    }
    asked.ended = ++now_;
    EXPECT_TRUE(asked.acknowledged) << "shard " << shard << ", asked of node " << node;
    note(std::move(asked));
  }
}

bool ClusterLoad::put(std::uint32_t node, std::uint32_t shard, std::chrono::milliseconds timeout) {
  HistoryAppend asked;
  asked.append = Append().event(cluster_.aggregate_in(shard), "Put", EventId::random().text());
  asked.append.request_id = EventId::random();
  asked.began = ++now_;
  const auto done = cluster_.connect(node, timeout).append(asked.append);
  asked.ended = ++now_;
  if (done)
    asked.acknowledged = *done;
  else
    EXPECT_TRUE(may_be_tried_again(done.error().code)) << done.error().what;
  note(std::move(asked));
  return done.has_value();
}

/// What is read, anywhere, has what was acknowledged to anybody before.
void ClusterLoad::read(int reader) {
  std::mt19937_64 random(seed_ + 1'000 + static_cast<std::uint64_t>(reader));
  while (!over_) {
    auto store = cluster_.connect(any_node(random), call_timeout);
    HistoryRead seen;
    {
      const std::lock_guard lock(mutex_);
      seen.options.at_least = newest_;
    }
    if (random() % 2 == 0) seen.query = Query().tags({"client:" + std::to_string(random() % 4)});
    if (random() % 2 == 0) seen.options.after = GlobalPosition{random() % (seen.options.at_least->value + 1)};
    seen.began = ++now_;
    auto stream = store.read(seen.query, seen.options);
    for (const auto& event : stream) seen.events.push_back(event);
    seen.ended = ++now_;
    seen.watermark = stream.watermark();
    if (stream.error()) {
      EXPECT_TRUE(may_be_tried_again(stream.error()->code)) << stream.error()->what;
    } else {
      const std::lock_guard lock(mutex_);
      history_.reads.push_back(std::move(seen));
    }
    std::this_thread::sleep_for(100ms);
  }
}

/// One subscription over the whole time, that goes on elsewhere where its node is gone.
void ClusterLoad::follow(int follower) {
  std::mt19937_64 random(seed_ + 2'000 + static_cast<std::uint64_t>(follower));
  HistoryFollow seen;
  while (!over_) {
    auto store = cluster_.connect(any_node(random), call_timeout);
    auto feed = store.follow(seen.query, {.after = seen.watermark});
    while (!over_) {
      auto item = feed.next(200ms);
      if (!item) {
        EXPECT_TRUE(may_be_tried_again(item.error().code)) << item.error().what;
        break;
      }
      std::move(item->events.begin(), item->events.end(), std::back_inserter(seen.events));
      seen.watermark = std::max(seen.watermark, item->watermark);
    }
  }
  const std::lock_guard lock(mutex_);
  history_.follows.push_back(std::move(seen));
}

void ClusterLoad::check() {
  // What was not acknowledged may have been read or followed all the same.
  auto known = newest_;
  for (const auto& read : history_.reads) known = std::max(known, read.watermark);
  for (const auto& follow : history_.follows) known = std::max(known, follow.watermark);
  std::vector<RecordedEvent> log;
  for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n) {
    auto store = cluster_.connect(n, 60s);
    std::vector<RecordedEvent> here;
    // What was not answered may still be on its way to its place: one node is read to its end, the others as far.
    auto stream = store.read(Query::all(), n == 1 ? ReadOptions{.at_least = known}
                                                  : ReadOptions{.up_to = GlobalPosition{log.size()},
                                                                .at_least = GlobalPosition{log.size()}});
    for (const auto& event : stream) here.push_back(event);
    ASSERT_FALSE(stream.error()) << "node " << n << ": " << stream.error()->what;
    if (n == 1)
      log = std::move(here);
    else
      EXPECT_TRUE(here == log) << "node " << n << " reads something else than node 1";
  }
  const auto faults = faults_of(history_, log);
  for (const auto& fault : faults) ADD_FAILURE() << fault;
  if (!faults.empty()) {
    std::map<std::string, const RecordedEvent*> once;
    for (const auto& event : log) {
      const auto [at, first] = once.emplace(event.payload, &event);
      if (first) continue;
      for (const auto* one : {at->second, &event})
        std::printf("%s: position %ju, shard %u, offset %ju, %s, seq_nr %ju, id %s\n", event.payload.c_str(),
                    static_cast<std::uintmax_t>(one->position.value), static_cast<unsigned>(one->shard.value),
                    static_cast<std::uintmax_t>(one->offset.value),
                    one->aggregate ? one->aggregate->text().c_str() : "-",
                    static_cast<std::uintmax_t>(one->seq_nr.value), one->id.text().c_str());
    }
  }
  std::size_t conflicts = 0;
  for (const auto& asked : history_.appends) conflicts += asked.refused ? 1u : 0u;
  std::printf("%zu requests, %llu acknowledged, %zu refused, %llu tried again; %zu reads; %zu events\n",
              history_.appends.size(), static_cast<unsigned long long>(acknowledged_.load()), conflicts,
              static_cast<unsigned long long>(tried_again_.load()), history_.reads.size(), log.size());
  EXPECT_TRUE(conflicts > 0 || history_.appends.size() < 300) << "nothing was in anybody's way";
  EXPECT_FALSE(history_.reads.empty()) << "nothing was read";
}

void finish(ClusterProcesses& cluster, ClusterLoad& load) {
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

}  // namespace evershard::testing
