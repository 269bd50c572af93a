// Random events, random projections, restarts, and a crash between any two writes: the rows are what a recomputation
// from the journal gives.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "evershard/local/local.hpp"
#include "evershard/services/engine/projection_engine.hpp"
#include "evershard/services/indexes/index_projection.hpp"
#include "evershard/services/indexes/value_index.hpp"
#include "evershard/services/rows/memory_projection_store.hpp"
#include "evershard/services/rows/rocks_projection_store.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/services/engine/counting_kind.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

/// Writes nothing any more after so many writes, as after a crash.
class CrashingStore final : public storage::ProjectionStore {
 public:
  explicit CrashingStore(std::shared_ptr<storage::ProjectionStore> under) : under_(std::move(under)) {}
  std::atomic<std::int64_t> writes_left{INT64_MAX};

  Result<void> create_family(const std::string& name, const storage::ProjectionCheckpoint& begin) override {
    return crashed() ? gone() : under_->create_family(name, begin);
  }
  Result<void> drop_family(const std::string& name) override { return crashed() ? gone() : under_->drop_family(name); }
  [[nodiscard]] std::vector<std::string> families() const override { return under_->families(); }
  Result<void> write(const storage::ProjectionBatch& batch) override {
    if (--writes_left < 0) return gone();
    return under_->write(batch);
  }
  [[nodiscard]] Result<storage::ProjectionCheckpoint> checkpoint(const std::string& family) const override {
    return under_->checkpoint(family);
  }
  [[nodiscard]] Result<std::shared_ptr<const storage::ProjectionView>> view(const std::string& family) const override {
    return under_->view(family);
  }
  [[nodiscard]] std::uint64_t disk_bytes() const override { return 0; }
  Result<void> vacuum(const storage::Progress&, unsigned) override { return {}; }
  void close() override {}

 private:
  [[nodiscard]] bool crashed() const { return writes_left < 0; }
  static Result<void> gone() { return refuse(ErrorCode::io, "crashed"); }
  const std::shared_ptr<storage::ProjectionStore> under_;
};

struct Drawn {
  actors::Definition definition;
  Query query;
};

class Round {
 public:
  Round(std::uint64_t seed, bool on_disk)
      : random_(seed),
        on_disk_(on_disk),
        store_(Local::open({.shards = 3, .projections = {.enabled = false}}).value()) {
    kinds_ = {{"count", std::make_shared<CountingKind>()},
              {"users", std::make_shared<CountingKind>(true)},
              {"index", std::make_shared<actors::IndexKind>()},
              {"value", std::make_shared<actors::ValueIndexKind>([] { return actors::PayloadAsJson(); })}};
    open_rows();
  }

  void play() {
    for (int life = 0; life < 6; ++life) {
      auto crashing = std::make_shared<CrashingStore>(rows_);
      if (draw(3) != 0) crashing->writes_left = static_cast<std::int64_t>(draw(25));
      {
        ProjectionEngine engine(store_, crashing, kinds_,
                                EngineOptions{.page_events_max = 1 + draw(20),
                                              .building_at_once = 1 + draw(2),
                                              .turn = std::chrono::milliseconds(draw(3)),
                                              .gathered_bytes_max = draw(3) == 0 ? 0 : std::size_t{1} << draw(20)});
        for (const auto& [name, drawn] : defined_) engine.apply(drawn.definition);
        engine.drop_others();
        for (int step = 0; step < 25; ++step) {
          append();
          if (draw(5) == 0) define(engine);
          if (draw(4) == 0) std::this_thread::sleep_for(1ms);
        }
        if (crashing->writes_left > 1'000'000) check(engine, "live");
      }
      crashing.reset();
      if (on_disk_ && draw(2) == 0) open_rows();
    }
    ProjectionEngine engine(store_, rows_, kinds_);
    for (const auto& [name, drawn] : defined_) engine.apply(drawn.definition);
    engine.drop_others();
    check(engine, "at the end");
    std::size_t families = 0;
    for (const auto& [name, drawn] : defined_) families += drawn.definition.dropped ? 0 : 1;
    // What was built beside what was read takes its place when it has caught up.
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         rows_->families().size() != families && std::chrono::steady_clock::now() < until;)
      std::this_thread::sleep_for(1ms);
    EXPECT_EQ(rows_->families().size(), families);
    check(engine, "at last");
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  std::string a_type() { return std::string(1, "ABCD"[draw(4)]); }

  void open_rows() {
    if (!on_disk_) {
      if (!rows_) rows_ = storage::memory_projection_store();
      return;
    }
    rows_.reset();
    rows_ = storage::open_projection_store({.folder = folder_.path(),
                                            .of = {{EventId::derived({}, 1), EventId::derived({}, 2)}, *store_.head()},
                                            .memtables_bytes = 128u << 10,
                                            .files_from_rows = 1 + draw(20)})
                .value();
  }

  void append() {
    Append append;
    for (std::uint64_t n = 1 + draw(4); n != 0; --n) {
      const auto value = draw(4) == 0   ? "null"
                         : draw(4) == 0 ? "\"x\""
                                        : std::to_string(static_cast<std::int64_t>(draw(9)) - 4);
      append.event("a-" + std::to_string(draw(5)), a_type(), R"({"n":)" + value + "}",
                   {"t:" + std::to_string(draw(3))});
    }
    ASSERT_TRUE(store_.append(std::move(append)));
  }

  /// A new one, or something happens to one that is there.
  void define(ProjectionEngine& engine) {
    const auto name = "p" + std::to_string(draw(4));
    auto& drawn = defined_[name];
    auto& definition = drawn.definition;
    const auto seq = ++definition.last;
    if (definition.versions.empty() || definition.dropped) {
      const std::vector<std::string> kinds{"count", "users", "index", "value"};
      definition = {.name = name, .kind = kinds[draw(4)], .last = seq};
      drawn.query = definition.kind == "value" || draw(2) == 0 ? Query{}.types({a_type(), a_type()})
                    : draw(2) == 0                             ? Query{}.tags({"t:1"})
                                                               : Query::all();
      auto spec = actors::query_spec(drawn.query);
      if (definition.kind == "index") spec = actors::IndexKind::spec_of(drawn.query);
      if (definition.kind == "value")
        spec = actors::value_index_spec({drawn.query.items().front().types, false, "$.n", actors::ValueType::integer});
      definition.versions.push_back({seq, spec, seq, false, {}});
    } else {
      auto& newest = definition.versions.back();
      switch (draw(5)) {
        case 0:
          definition.dropped = true;
          break;
        case 1:
          newest.rows = seq, newest.beside = false;
          break;
        case 2:
          newest.rows = seq, newest.beside = true;
          break;
        case 3:
          definition.paused = !definition.paused;
          break;
        default:
          definition.noted["Resumed"] = seq, definition.paused = false;
          break;
      }
    }
    engine.apply(definition);
  }

  void check(ProjectionEngine& engine, const std::string& when) {
    const auto head = *store_.head();
    for (auto& [name, drawn] : defined_) {
      auto& definition = drawn.definition;
      if (definition.dropped || definition.versions.empty()) continue;
      if (definition.paused) {
        ++definition.last;
        definition.paused = false;
        engine.apply(definition);
      }
      const auto opened = engine.open(name, {head, 60s, {}});
      ASSERT_TRUE(opened) << when << ": " << opened.error().what;
      compare(drawn, *opened->rows, when + ", " + name + " of kind " + definition.kind);
    }
  }

  void compare(const Drawn& drawn, const storage::ProjectionView& rows, const std::string& what) {
    std::map<std::string, std::uint64_t> counts;
    std::vector<actors::NumberedPosition> numbered;
    std::vector<std::pair<std::int64_t, std::uint64_t>> valued;
    auto events = store_.read(Query::all());
    for (const auto& event : events) {
      if (!drawn.query.matches(event)) continue;
      ++counts[event.type];
      numbered.push_back({numbered.size() + 1, event.position});
      const auto value = event.payload.substr(5, event.payload.size() - 6);
      if (value != "null" && value != "\"x\"") valued.emplace_back(std::stoll(value), event.position.value);
    }
    std::ranges::sort(valued);
    if (drawn.definition.kind == "index") {
      EXPECT_EQ(actors::read_numbers(rows, {}, 100'000, Direction::forwards)->found, numbered) << what;
    } else if (drawn.definition.kind == "value") {
      std::vector<std::pair<std::int64_t, std::uint64_t>> found;
      const auto page = actors::read_values(rows, actors::ValueType::integer, {}, 100'000).value();
      for (const auto& entry : page.found) found.emplace_back(std::stoll(entry.value), entry.position.value);
      EXPECT_EQ(found, valued) << what;
    } else {
      EXPECT_EQ(counted(rows), counts) << what;
    }
  }

  std::mt19937_64 random_;
  const bool on_disk_;
  TemporaryFolder folder_;
  Local store_;
  ProcessorKinds kinds_;
  std::shared_ptr<storage::ProjectionStore> rows_;
  std::map<std::string, Drawn> defined_;
};

std::uint64_t rounds(std::uint64_t usual) {
  const char* wanted = std::getenv("EVERSHARD_ROUNDS");
  return wanted == nullptr ? usual : std::stoull(wanted);
}

TEST(ProjectionsProperty, RowsEqualARecomputationWhateverHappens) {
  for (std::uint64_t seed = 1; seed <= rounds(20) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Round(seed, false).play();
  }
}

TEST(ProjectionsProperty, RowsEqualARecomputationOnDisk) {
  for (std::uint64_t seed = 1; seed <= rounds(4) && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Round(seed + 1'000, true).play();
  }
}

}  // namespace
}  // namespace evershard::cluster
