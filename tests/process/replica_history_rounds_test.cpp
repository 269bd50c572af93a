// Kill rounds of what replicas keep beside events: shards move, a retention policy removes events behind snapshots,
// aggregates are removed, nodes and the coordinator are killed, followers are away, all at once. After every round each
// acknowledged event is there, or was removed while a snapshot stands for it; states that are loaded are what a model
// says; replicas have the same. So it is on each disk alone: of a node that was killed, as it was then, and of all at
// the end. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/protocol/retention_events.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/index/event_cursor.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/open.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/replicas.hpp"

namespace evershard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int tallies_a_writer = 6, tally_writers = 4;
constexpr auto tally_patience = 60s;
constexpr auto tally_call = 2s;

template <class Condition>
bool in_time(Condition condition) {
  for (const auto until = std::chrono::steady_clock::now() + tally_patience; !condition();
       std::this_thread::sleep_for(20ms))
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

/// An aggregate and all that was asked of it, in turn, by one thread. Its state is a number that each event changes.
struct Tally {
  struct Event {
    std::string payload{};      ///< empty: the store's own event, which says that it was removed
    std::uint64_t state = 0;    ///< behind it
    GlobalPosition position{};  ///< as it was acknowledged; 0: not yet
  };

  [[nodiscard]] std::uint64_t version() const { return events.size(); }
  [[nodiscard]] std::uint64_t state_at(std::uint64_t version) const {
    return version == 0 ? 0 : events[version - 1].state;
  }
  /// Below this version nothing is missed: it was removed as a whole.
  [[nodiscard]] std::uint64_t removed_below() const {
    for (auto version = events.size(); version != 0; --version)
      if (events[version - 1].payload.empty()) return version;
    return 1;
  }

  AggregateId id;
  std::mutex mutex;  ///< held as long as something is asked of it
  std::vector<Event> events;
  std::uint64_t snapshot = 0;  ///< the latest version of which one was acknowledged
};

std::uint64_t with_event(std::uint64_t state, const std::string& payload) {
  for (const char c : payload) state = (state ^ static_cast<unsigned char>(c)) * 1'099'511'628'211u;
  return state;
}

/// An aggregate's events and latest snapshot, from wherever.
struct TallySeen {
  std::vector<RecordedEvent> events;
  std::optional<RecordedSnapshot> snapshot;
};

/// What cannot be of it; nothing: it is what was asked, up to some version. `whole`: up to the last.
std::optional<std::string> fault_of(const Tally& tally, const TallySeen& seen, bool whole) {
  const auto text = tally.id.text();
  const auto fault = [&](std::uint64_t version, const std::string& what) {
    return std::optional(text + ", event " + std::to_string(version) + " of " + std::to_string(seen.events.size()) +
                         " (snapshot " + (seen.snapshot ? std::to_string(seen.snapshot->version.value) : "none") +
                         "; asked: " + std::to_string(tally.version()) + " events, snapshot " +
                         std::to_string(tally.snapshot) + ", removed below " + std::to_string(tally.removed_below()) +
                         "): " + what);
  };
  const auto stands = seen.snapshot ? seen.snapshot->version.value : 0;
  if (stands > tally.version()) return fault(stands, "a snapshot of a version that nobody made");
  if (stands != 0 && seen.snapshot->payload != std::to_string(tally.state_at(stands)))
    return fault(stands, "the snapshot is of another state");
  auto state = tally.state_at(stands);
  std::uint64_t version = 0;
  for (const auto& event : seen.events) {
    ++version;
    if (event.seq_nr.value != version) return fault(version, "it has number " + std::to_string(event.seq_nr.value));
    if (version > tally.version()) return fault(version, "nobody asked for it");
    const auto& asked = tally.events[version - 1];
    if (asked.position.value != 0 && event.position != asked.position)
      return fault(version, "it has position " + std::to_string(event.position.value) + ", not " +
                                std::to_string(asked.position.value));
    if (event.state == EventState::removed) {
      if (version > stands && version >= tally.removed_below())
        return fault(version, "it is removed, and no snapshot stands for it");
      continue;
    }
    if (asked.payload.empty() ? event.type != retention::aggregate_removed : event.payload != asked.payload)
      return fault(version, "it is another one");
    if (version > stands) {
      state = asked.payload.empty() ? 0 : with_event(state, event.payload);
      if (state != asked.state) return fault(version, "the state behind it is another one");
    }
  }
  if (!whole) return std::nullopt;
  if (version != tally.version()) return fault(version, "what was acknowledged behind it is not there");
  if (stands < tally.snapshot) return fault(version, "a later snapshot was acknowledged");
  return std::nullopt;
}

/// Clients that write to tallies, and what they were told; others remove what snapshots stand for.
class Tallies {
 public:
  Tallies(const ClusterProcesses& cluster, std::uint64_t seed)
      : cluster_(cluster), tallies_(tally_writers * tallies_a_writer) {
    for (std::size_t i = 0; i != tallies_.size(); ++i)
      tallies_[i].id = {i % 2 == 0 ? "tally" : "count", std::to_string(i)};
    for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) asked_.insert(n);
    set_policy({"tallies", RetentionPolicy::Kind::truncate, "tally", 1s});
    set_policy({"counts", RetentionPolicy::Kind::events, "Counted", 1s});
    for (int w = 0; w != tally_writers; ++w)
      threads_.emplace_back([this, w, seed] { write(w, seed + 10 + static_cast<std::uint64_t>(w)); });
    threads_.emplace_back([this, seed] { apply_policies(seed + 9); });
  }
  ~Tallies() { stop(); }

  void stop() {
    over_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  void ask(std::uint32_t node, bool yes) {
    const std::lock_guard lock(mutex_);
    yes ? (void)asked_.insert(node) : (void)asked_.erase(node);
  }
  /// Waits until one more run of the policies has removed something. `between` is done between looks. Returns: whether
  /// that came.
  [[nodiscard]] bool policies_remove(const std::function<void()>& between) const {
    const auto before = removing_runs_.load();
    return in_time([&] { return between(), removing_runs_ > before; });
  }
  /// Nobody writes as long as it is held.
  [[nodiscard]] std::vector<std::unique_lock<std::mutex>> held() {
    std::vector<std::unique_lock<std::mutex>> all;
    for (auto& tally : tallies_) all.emplace_back(tally.mutex);
    return all;
  }

  /// At this node; while nobody writes.
  void check_at(std::uint32_t node) {
    auto client = cluster_.connect(node, tally_patience);
    for (const auto& tally : tallies_) {
      GlobalPosition last;
      for (const auto& event : tally.events) last = std::max(last, event.position);
      const auto there = client.wait_for(last, tally_patience);
      ASSERT_TRUE(there) << "node " << node << ": " << there.error().what;
      TallySeen seen;
      auto snapshot = client.snapshot(tally.id);
      ASSERT_TRUE(snapshot) << "node " << node << ", " << tally.id.text() << ": " << snapshot.error().what;
      seen.snapshot = *std::move(snapshot);
      auto stream = client.read(tally.id);
      for (const auto& event : stream) seen.events.push_back(event);
      if (stream.error() && stream.error()->code == ErrorCode::not_found) {
        EXPECT_TRUE(tally.version() == 0 || tally.events.back().payload.empty()) << stream.error()->what;
        continue;
      }
      ASSERT_FALSE(stream.error()) << "node " << node << ": " << stream.error()->what;
      const auto fault = fault_of(tally, seen, true);
      EXPECT_FALSE(fault) << "node " << node << " reads: " << *fault;
    }
  }
  /// On a disk that nobody has open, of which these shards are meant. Returns: what cannot be. `whole`: it has all.
  std::vector<std::string> faults_on(const fs::path& disk, const std::set<std::uint32_t>& shards, bool whole) {
    std::vector<std::string> faults;
    const auto is = storage::identity_in(disk);
    if (!is || !*is) return {"no store: " + (is ? "" : is.error().what)};
    storage::StoreOptions options;
    options.data_dir = disk;
    options.create = false;
    options.disk_reserve_bytes = 0;
    options.member = storage::ClusterMember{(*is)->node, (*is)->store, (*is)->fork, (*is)->term_key, (*is)->created_at};
    const auto store = storage::open_node_store(options);
    if (!store) return {"it does not open: " + store.error().what};
    const storage::Reader reader(**store);
    const auto view = (*store)->view();
    for (auto& tally : tallies_) {
      if (!shards.contains(sharding::shard_of(sharding::stream_hash(tally.id), cluster_.shards()).value)) continue;
      TallySeen seen;
      auto snapshot = reader.latest_snapshot(tally.id);
      if (!snapshot) return faults.push_back(tally.id.text() + ": " + snapshot.error().what), faults;
      seen.snapshot = *std::move(snapshot);
      auto cursor = reader.open(view, tally.id, StreamOptions{});
      for (std::size_t before = 1; before != seen.events.size();) {
        before = seen.events.size();
        const auto read = cursor->next(1'000, 1u << 20, seen.events);
        if (!read) return faults.push_back(tally.id.text() + ": " + read.error().what), faults;
      }
      if (auto fault = fault_of(tally, seen, whole)) faults.push_back(*std::move(fault));
    }
    return faults;
  }
  [[nodiscard]] std::string told() const {
    std::uint64_t events = 0;
    for (const auto& tally : tallies_) events += tally.version();
    return std::to_string(events) + " events, " + std::to_string(snapshots_) + " snapshots, " +
           std::to_string(removing_runs_) + " runs of policies removed " + std::to_string(removed_) + ", " +
           std::to_string(wholes_) + " aggregates removed";
  }

 private:
  std::uint32_t any_node(std::mt19937_64& random) {
    const std::lock_guard lock(mutex_);
    return *std::next(asked_.begin(), static_cast<std::ptrdiff_t>(random() % asked_.size()));
  }
  /// Until somebody does it, whoever is asked.
  template <class Do>
  void surely(std::mt19937_64& random, const std::string& what, Do done) {
    std::string last;
    EXPECT_TRUE(in_time([&] {
      auto client = cluster_.connect(any_node(random), tally_call);
      const std::optional<Error> error = done(client);
      if (error) last = error->what;
      return !error;
    })) << what
        << ": " << last;
  }
  void set_policy(const RetentionPolicy& policy) {
    std::mt19937_64 random(1);
    surely(random, policy.name, [&](Remote& client) -> std::optional<Error> {
      const auto done = client.retention().set_retention_policy(policy, {});
      return done ? std::nullopt : std::optional(done.error());
    });
  }
  void apply_policies(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    while (!over_) {
      const auto done = cluster_.connect(any_node(random), 5s).retention().apply_retention({});
      if (done && done->events != 0) ++removing_runs_, removed_ += done->events;
      std::this_thread::sleep_for(200ms);
    }
  }
  void write(int writer, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    while (!over_) {
      auto& tally = tallies_[static_cast<std::size_t>(writer * tallies_a_writer) + random() % tallies_a_writer];
      const std::lock_guard lock(tally.mutex);
      const auto what = random() % 40;
      if (what == 0 && tally.version() != 0 && !tally.events.back().payload.empty())
        remove(tally, random);
      else if (what < 6 && tally.version() > tally.snapshot && tally.version() > tally.removed_below())
        put_snapshot(tally, random);
      else
        append(tally, random);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 8));
    }
  }
  /// 0: of the last version, with what brings it.
  static Snapshot snapshot_of(const Tally& tally, std::uint64_t version) {
    Snapshot snapshot;
    snapshot.aggregate = tally.id;
    snapshot.version = SeqNr{version};
    snapshot.payload = std::to_string(tally.state_at(version == 0 ? tally.version() : version));
    snapshot.format = PayloadFormat::text;
    return snapshot;
  }
  void append(Tally& tally, std::mt19937_64& random) {
    Append append;
    append.request_id = EventId::random();
    append.expect(tally.id, Version::exactly(SeqNr{tally.version()}));
    const auto first = tally.version();
    for (auto left = 1 + random() % 3; left != 0; --left) {
      const auto payload = tally.id.text() + " " + std::to_string(tally.version() + 1) + " " + std::to_string(random());
      append.event(tally.id.text(), tally.id.type == "count" ? "Counted" : "Tallied", payload);
      tally.events.push_back({payload, with_event(tally.state_at(tally.version()), payload)});
    }
    const bool with_snapshot = random() % 4 == 0;
    if (with_snapshot) append.snapshot(snapshot_of(tally, 0));
    surely(random, tally.id.text(), [&](Remote& client) -> std::optional<Error> {
      const auto done = client.append(append);
      if (!done) return done.error();
      for (auto version = first; version != tally.version(); ++version)
        tally.events[version].position = done->first_position + (version - first);
      return std::nullopt;
    });
    if (with_snapshot) tally.snapshot = tally.version(), ++snapshots_;
  }
  void put_snapshot(Tally& tally, std::mt19937_64& random) {
    const auto version =
        tally.version() - random() % std::min<std::uint64_t>(3, tally.version() - tally.removed_below());
    if (version <= tally.snapshot) return;
    surely(random, "a snapshot of " + tally.id.text(), [&](Remote& client) -> std::optional<Error> {
      const auto done = client.put_snapshot(snapshot_of(tally, version));
      return done ? std::nullopt : std::optional(done.error());
    });
    tally.snapshot = version, ++snapshots_;
  }
  void remove(Tally& tally, std::mt19937_64& random) {
    tally.events.emplace_back();  // it may be there from now on
    tally.snapshot = 0;
    surely(random, "the removal of " + tally.id.text(), [&](Remote& client) -> std::optional<Error> {
      const auto done = client.retention().remove_aggregate(tally.id, {});
      // Not found: it was done by an earlier try.
      return done || done.error().code == ErrorCode::not_found ? std::nullopt : std::optional(done.error());
    });
    ++wholes_;
  }

  const ClusterProcesses& cluster_;
  std::vector<Tally> tallies_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> removing_runs_{0}, removed_{0}, wholes_{0}, snapshots_{0};
  std::mutex mutex_;
  std::set<std::uint32_t> asked_;
  std::vector<std::thread> threads_;
};

/// The shards that a node keeps, as a replica that counts.
std::set<std::uint32_t> kept_by(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked) {
  std::set<std::uint32_t> kept;
  const auto status = cluster.connect(asked).cluster_status();
  EXPECT_TRUE(status) << status.error().what;
  for (std::uint32_t s = 0; status && s != status->shards.size(); ++s)
    if (std::ranges::count(status->shards[s].replicas, node) != 0) kept.insert(s);
  return kept;
}

class ReplicaHistoryRounds : public ::testing::Test {
 protected:
  static constexpr auto coordinator = ClusterProcesses::coordinator;

  ReplicaHistoryRounds() : cluster_(folder_.path(), replicated(4, 3, 8)) {}

  /// A node that keeps nothing of the shard is to keep it, in the place of one that does.
  ShardAssignment any_move(std::uint32_t asked) {
    const auto status = cluster_.connect(asked).cluster_status();
    EXPECT_TRUE(status) << status.error().what;
    const auto shard = random_() % cluster_.shards();
    ShardAssignment move{.shards = {ShardId{static_cast<std::uint16_t>(shard)}}, .sets = ShardAssignment::Sets::move};
    if (!status) return move;
    const auto& replicas = status->shards[shard].replicas;
    for (move.node = 1; std::ranges::count(replicas, move.node) != 0;) ++move.node;
    move.from = replicas[random_() % replicas.size()];
    return move;
  }
  /// Asked for until nothing is left.
  void move(const ShardAssignment& wanted, std::uint32_t asked) {
    std::string last;
    for (const auto until = std::chrono::steady_clock::now() + tally_patience;; std::this_thread::sleep_for(50ms)) {
      start_again_who_learned(cluster_);
      const auto done = cluster_.connect(asked).cluster_assign(wanted);
      if (done && done->left == 0) return;
      if (!done) last = done.error().what;
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "shard " << wanted.shards.front().value << " to node "
                                                         << wanted.node << ": " << last << status_text(cluster_, asked);
    }
  }
  void all_are_replicas() {
    for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n) {
      const auto other = n % cluster_.nodes() + 1;
      ASSERT_TRUE(is_caught_up(cluster_, n, other, [&] { start_again_who_learned(cluster_); }))
          << "node " << n << "\n"
          << status_text(cluster_, other) << cluster_.log(n);
    }
  }
  void kill_coordinator() {
    cluster_.kill(coordinator);
    cluster_.launch(coordinator);
    cluster_.start(coordinator);
  }
  [[nodiscard]] fs::path killed() const { return folder_.path() / "killed"; }
  /// A node's disk alone, while nobody writes.
  void look_at(const fs::path& disk, const std::set<std::uint32_t>& kept, bool whole) {
    for (const auto& fault : tallies_->faults_on(disk, kept, whole)) ADD_FAILURE() << disk.filename() << ": " << fault;
  }
  /// The disk of the node that was killed; then replicas are compared by each node, and each is read.
  void judge(const std::set<std::uint32_t>& kept) {
    const auto held = tallies_->held();
    if (fs::exists(killed())) look_at(killed(), kept, false);
    fs::remove_all(killed());
    for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n) {
      // What cannot be compared now can be soon: nobody writes, and what one alone had ends equal.
      std::vector<std::string> found;
      EXPECT_TRUE(in_time([&] {
        const auto report = cluster_.connect(n, tally_patience).verify();
        found = report ? report->findings : std::vector{report.error().what};
        EXPECT_TRUE(!report || report->errors == 0) << "node " << n << ": " << ::testing::PrintToString(found);
        return found.empty();
      })) << "node "
          << n << ": " << ::testing::PrintToString(found) << "\n"
          << status_text(cluster_, n);
      ASSERT_NO_FATAL_FAILURE(tallies_->check_at(n));
    }
  }

  const std::uint64_t seed_ = seed_of_run();
  std::mt19937_64 random_{seed_};
  const TemporaryFolder folder_;
  ClusterProcesses cluster_;
  std::optional<Tallies> tallies_;
};

TEST_F(ReplicaHistoryRounds, WhatWasAcknowledgedIsThereOrASnapshotStandsForIt) {
  if (std::getenv("EVERSHARD_ROUNDS") == nullptr)
    GTEST_SKIP() << "two rounds take a minute and more: scripts/soak has them, by EVERSHARD_ROUNDS";
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed_));
  tallies_.emplace(cluster_, seed_);
  ASSERT_TRUE(tallies_->policies_remove([] {}));
  const auto learners_go_on = [&] { start_again_who_learned(cluster_); };
  const auto rounds = rounds_or(2);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const auto node = static_cast<std::uint32_t>(1 + random_() % cluster_.nodes());
    const auto asked = node % cluster_.nodes() + 1;
    const auto wanted = any_move(asked);
    const auto what = random_() % 3;
    SCOPED_TRACE("node " + std::to_string(node) +
                 (what == 0   ? " is frozen"
                  : what == 1 ? " loses its disk"
                              : " is killed") +
                 ", shard " + std::to_string(wanted.shards.front().value) + " moves from node " +
                 std::to_string(wanted.from) + " to node " + std::to_string(wanted.node));
    // Whoever is killed while the shard moves is a replica again before the next one may go.
    (void)cluster_.connect(asked).cluster_assign(wanted);
    std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 600));
    const auto victim = static_cast<std::uint32_t>(1 + random_() % cluster_.nodes());
    cluster_.kill(victim);
    cluster_.launch(victim);
    if (random_() % 2 == 0) kill_coordinator();
    cluster_.start(victim);
    ASSERT_NO_FATAL_FAILURE(all_are_replicas());
    ASSERT_NO_FATAL_FAILURE(move(wanted, asked));
    ASSERT_NO_FATAL_FAILURE(all_are_replicas());
    EXPECT_TRUE(tallies_->policies_remove(learners_go_on)) << status_text(cluster_, asked);

    // One is away for as long as something is removed.
    const auto kept = kept_by(cluster_, node, asked);
    tallies_->ask(node, false);
    if (what == 0) {
      cluster_.signal(node, SIGSTOP);
    } else {
      cluster_.kill(node);
      fs::copy(cluster_.data(node), killed(), fs::copy_options::recursive);
      if (what == 1) fs::remove_all(cluster_.data(node));
    }
    if (random_() % 4 == 0) kill_coordinator();
    EXPECT_TRUE(tallies_->policies_remove([] {})) << "node " << node << " is away\n" << status_text(cluster_, asked);
    if (what == 0)
      cluster_.signal(node, SIGCONT);
    else
      cluster_.start(node);
    tallies_->ask(node, true);
    ASSERT_NO_FATAL_FAILURE(all_are_replicas());
    ASSERT_NO_FATAL_FAILURE(judge(kept));
  }
  tallies_->stop();
  if (HasFailure()) return;
  judge({});
  std::vector<std::set<std::uint32_t>> kept;
  for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n) kept.push_back(kept_by(cluster_, n, n));
  cluster_.stop_all();
  for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n) look_at(cluster_.data(n), kept[n - 1], true);
  std::printf("%s\n", tallies_->told().c_str());
}

}  // namespace
}  // namespace evershard::testing
