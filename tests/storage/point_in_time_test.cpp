// Copies of a store up to a position: each is the store into which only that prefix was appended.

#include <span>
#include <thread>

#include "evershard/storage/repair/backup.hpp"
#include "tests/storage/fault_env.hpp"
#include "tests/storage/maintained_store.hpp"

namespace evershard::storage {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

EventId numbered(std::uint64_t n) {
  EventId id;
  for (int i = 0; i < 8; ++i) id.bytes[15 - i] = static_cast<std::uint8_t>(n >> 8 * i);
  id.bytes[0] = 1;
  return id;
}

/// Appends of many sizes, over all shards, of several aggregates or none, with snapshots and commands; several a
/// commit.
class History {
 public:
  using Commit = std::vector<Append>;

  History() {
    for (int commit = 0; commit < 14; ++commit) {
      auto& appends = commits_.emplace_back();
      for (int i = 0; i < 1 + commit % 3; ++i) appends.push_back(made(1 + (commit * 5 + i * 3) % 7));
    }
  }
  [[nodiscard]] const std::vector<Commit>& commits() const { return commits_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }
  [[nodiscard]] std::vector<Commit> until(std::uint64_t position) const {
    std::vector<Commit> kept;
    for (const auto& commit : commits_) {
      kept.emplace_back();
      for (const auto& append : commit) {
        if (append.events.size() > position) return kept;
        position -= append.events.size();
        kept.back().push_back(append);
      }
    }
    return kept;
  }
  [[nodiscard]] bool ends_inside_of_a_commit(std::uint64_t position) const {
    auto kept = until(position);
    return !kept.back().empty() && kept.back().size() < commits_[kept.size() - 1].size();
  }
  /// The append a position is in, as [first, last].
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> append_at(std::uint64_t position) const {
    std::uint64_t first = 1;
    for (const auto& commit : commits_)
      for (const auto& append : commit) {
        if (position < first + append.events.size()) return {first, first + append.events.size() - 1};
        first += append.events.size();
      }
    return {0, 0};
  }

 private:
  Append made(int events) {
    Append append;
    append.request_id = numbered(1'000'000 + events_);
    for (int i = 0; i < events; ++i) {
      Event event;
      event.id = numbered(++events_);
      auto name = "order-" + std::to_string(events_ * 7 % 5);
      if (events_ % 6 != 0) event.aggregate = AggregateId::parse(name).value();
      event.type = events_ % 2 ? "placed" : "paid";
      event.tags = {"t:" + std::to_string(events_ % 3), "all"};
      if (events_ % 4 == 0) event.also = {AggregateId::parse("order-9").value()};
      event.payload = std::to_string(events_) + std::string(events_ % 5 * 60, 'x');
      event.occurred_at = Timestamp{static_cast<std::int64_t>(events_)};
      append.event(std::move(event));
    }
    const auto& last = append.events.back();
    if (last.aggregate && events_ % 3 != 0) {
      Snapshot snapshot;
      snapshot.aggregate = *last.aggregate;
      snapshot.payload = "after " + std::to_string(events_);
      snapshot.schema_revision = 3;
      snapshot.keep = 100;
      snapshot.ttl = std::chrono::hours(1'000);
      append.snapshot(snapshot);
    }
    if (last.aggregate && events_ % 2 == 0)
      append.command = CommandRecord{*last.aggregate, "c" + std::to_string(events_), "reply"};
    return append;
  }

  std::vector<Commit> commits_;
  std::uint64_t events_ = 0;
};

class PointInTime : public MaintainedStore {
 protected:
  PointInTime() { env_.skip_syncs(); }

  [[nodiscard]] std::filesystem::path target() const { return folder_.path() / "copy"; }
  [[nodiscard]] StoreOptions quick_options(const std::filesystem::path& folder) const {
    auto options = options_for(folder);
    options.tail_events = 20;
    options.record_bytes = 500;
    options.env = env_.env();
    return options;
  }
  std::unique_ptr<Store> opened(const std::filesystem::path& folder) const {
    auto store = open_store(quick_options(folder));
    if (!store) throw std::logic_error(store.error().what);
    return std::move(*store);
  }
  static void append(StoreWriter& writer, std::span<const History::Commit> commits) {
    for (const auto& commit : commits) {
      if (commit.empty()) continue;
      ASSERT_TRUE(writer.commit(commit));
    }
  }
  /// With sealed parts and one that is not.
  std::unique_ptr<Store> whole() const {
    auto store = opened(data_dir());
    StoreWriter writer(*store);
    auto all = std::span(history_.commits());
    append(writer, all.first(9));
    EXPECT_TRUE(store->seal());
    append(writer, all.subspan(9));
    return store;
  }
  std::unique_ptr<Store> prefix(std::uint64_t position) const {
    auto options = quick_options({});
    options.env = nullptr;
    auto store = std::move(*open_store(options));
    StoreWriter writer(*store);
    append(writer, history_.until(position));
    return store;
  }

  static std::vector<std::pair<std::string, std::string>> rows(const Store& store, Family family) {
    std::vector<std::pair<std::string, std::string>> found;
    auto cursor = store.rows().cursor(family, {});
    for (cursor->seek({}); cursor->valid(); cursor->next()) found.emplace_back(cursor->key(), cursor->value());
    return found;
  }
  /// Without when they were taken, which is when the test ran.
  static std::vector<RecordedSnapshot> snapshots(const Store& store, const AggregateId& aggregate) {
    auto found = Reader(store).snapshots(aggregate, Timestamp::now());
    if (!found) throw std::logic_error(found.error().what);
    for (auto& snapshot : *found) {
      snapshot.taken_at = {};
      if (snapshot.expires_at) snapshot.expires_at = Timestamp{};
    }
    return std::move(*found);
  }

  /// Byte for byte in the truth; and whatever can be asked.
  void expect_same(const Store& copy, const Store& expected, std::uint64_t position) const {
    SCOPED_TRACE("up to position " + std::to_string(position));
    ASSERT_EQ(copy.view().watermark, GlobalPosition{position});
    EXPECT_EQ(rows(copy, Family::journal), rows(expected, Family::journal));
    EXPECT_EQ(rows(copy, Family::order), rows(expected, Family::order));
    EXPECT_EQ(everything(copy), everything(expected));
    for (auto tag : {"t:0", "t:1", "t:2", "all"})
      EXPECT_EQ(matching(copy, Query{}.tags({tag})), matching(expected, Query{}.tags({tag}))) << tag;
    EXPECT_EQ(matching(copy, Query{}.types({"paid"})), matching(expected, Query{}.types({"paid"})));
    EXPECT_EQ(matching(copy, Query{}.concerning({AggregateId{"order", "9"}})),
              matching(expected, Query{}.concerning({AggregateId{"order", "9"}})));
    Reader of_copy(copy), of_expected(expected);
    auto names = of_copy.aggregates(copy.view(), std::nullopt, std::nullopt, 100),
         expected_names = of_expected.aggregates(expected.view(), std::nullopt, std::nullopt, 100);
    ASSERT_TRUE(names && expected_names);
    ASSERT_EQ(names->size(), expected_names->size());
    for (std::size_t i = 0; i < names->size(); ++i) {
      EXPECT_EQ((*names)[i].aggregate, (*expected_names)[i].aggregate);
      EXPECT_EQ((*names)[i].version, (*expected_names)[i].version);
      EXPECT_EQ((*names)[i].last_position, (*expected_names)[i].last_position);
    }
    for (int i = 0; i < 5; ++i) {
      auto aggregate = AggregateId{"order", std::to_string(i)};
      EXPECT_EQ(stream_of(copy, aggregate.text()), stream_of(expected, aggregate.text()));
      EXPECT_EQ(snapshots(copy, aggregate), snapshots(expected, aggregate)) << aggregate.text();
      for (std::uint64_t n = 2; n <= history_.events(); n += 2) {
        auto id = "c" + std::to_string(n);
        EXPECT_EQ((*of_copy.find_command(copy.view(), aggregate, id)).has_value(),
                  (*of_expected.find_command(expected.view(), aggregate, id)).has_value())
            << id;
      }
    }
    for (std::uint64_t n = 1; n <= history_.events(); ++n) {
      bool found = false;
      for (std::uint16_t shard = 0; shard < 4; ++shard)
        found |= (*of_copy.find_id(copy.view(), numbered(n), ShardId{shard})).has_value();
      EXPECT_EQ(found, n <= position) << "event id " << n;
    }
    auto report = verify(copy);
    ASSERT_TRUE(report);
    EXPECT_THAT(report->findings, IsEmpty());
    EXPECT_EQ(report->events, position);
  }

  const History history_;
  FaultEnv env_;
};

TEST_F(PointInTime, EveryPositionIsAPrefixOrInsideOfAnAppend) {
  auto store = whole();
  int inside_of_cuts = 0;
  for (std::uint64_t position = 0; position <= history_.events(); ++position) {
    auto [first, last] = position == 0 ? std::pair<std::uint64_t, std::uint64_t>{0, 0} : history_.append_at(position);

    auto made = backup(*store, target(), {.up_to = GlobalPosition{position}, .env = env_.env()});

    if (position != last) {
      ASSERT_FALSE(made) << position;
      EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(made.error().what, HasSubstr("positions " + std::to_string(first) + " to " + std::to_string(last)));
      EXPECT_FALSE(std::filesystem::exists(target()));
      continue;
    }
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_EQ(*made, GlobalPosition{position});
    auto copy = opened(target());
    expect_same(*copy, *prefix(position), position);
    EXPECT_EQ(copy->identity().store, store->identity().store);
    EXPECT_NE(copy->identity().fork, store->identity().fork);
    if (HasFailure()) return;
    inside_of_cuts += history_.ends_inside_of_a_commit(position);
    copy->close();
    std::filesystem::remove_all(target());
  }
  EXPECT_GE(inside_of_cuts, 10);
}

TEST_F(PointInTime, RestoresToAnyPositionFromABackupOfEitherKind) {
  auto whole_copy = folder_.path() / "whole", truth = folder_.path() / "truth";
  {
    auto store = whole();
    ASSERT_TRUE(backup(*store, whole_copy));
    ASSERT_TRUE(backup(*store, truth, {.truth_only = true, .env = env_.env()}));
  }
  for (const auto& source : {whole_copy, truth, data_dir()}) {
    SCOPED_TRACE(source.filename());
    for (auto at :
         {std::uint64_t{0}, history_.append_at(20).second, history_.append_at(50).second, history_.events()}) {
      auto restored = restore(source, target(), {.up_to = GlobalPosition{at}, .env = env_.env()});

      ASSERT_TRUE(restored) << restored.error().what;
      auto copy = opened(target());
      expect_same(*copy, *prefix(at), at);
      copy->close();
      std::filesystem::remove_all(target());
    }
    auto inside = restore(source, target(), {.up_to = GlobalPosition{2}, .env = env_.env()});
    auto behind = restore(source, target(), {.up_to = GlobalPosition{history_.events() + 1}, .env = env_.env()});

    ASSERT_FALSE(inside);
    EXPECT_THAT(inside.error().what, HasSubstr("inside of the append at positions 2 to 7"));
    EXPECT_EQ(inside.error().code, ErrorCode::invalid_argument);
    ASSERT_FALSE(behind);
    EXPECT_THAT(behind.error().what, HasSubstr("it ends with position " + std::to_string(history_.events())));
    EXPECT_EQ(behind.error().code, ErrorCode::invalid_argument);
    EXPECT_FALSE(std::filesystem::exists(target()));
  }
}

TEST_F(PointInTime, GoesOnWithWhatWasCutOff) {
  auto store = whole();
  auto end = history_.append_at(40).second;
  ASSERT_TRUE(backup(*store, target(), {.up_to = GlobalPosition{end}, .env = env_.env()}));
  auto copy = opened(target());
  std::vector<Append> rest;
  std::uint64_t first = 1;
  for (const auto& commit : history_.commits())
    for (const auto& append : commit) {
      if (first > end) rest.push_back(append);
      first += append.events.size();
    }

  ASSERT_TRUE(StoreWriter(*copy).commit(rest));

  EXPECT_EQ(everything(*copy), everything(*store));
  EXPECT_THAT(verify(*copy)->findings, IsEmpty());
}

TEST_F(PointInTime, IsAPrefixOfAStoreThatGoesOn) {
  auto store = opened(data_dir());
  StoreWriter writer(*store);
  append(writer, history_.commits());
  auto end = GlobalPosition{history_.append_at(30).second};
  std::atomic<bool> stop{false};
  std::atomic<int> going{0};
  std::thread committing([&] {
    for (; !stop; ++going)
      EXPECT_TRUE(writer.commit({one("order-" + std::to_string(going % 5), "placed", std::to_string(going), {"t:1"})}));
  });
  while (going < 100) std::this_thread::yield();
  auto acknowledged = store->view().watermark;

  auto cut = backup(*store, folder_.path() / "cut", {.up_to = end, .env = env_.env()});
  bool sealed = false;
  auto truth = backup(*store, folder_.path() / "truth", {.truth_only = true, .env = env_.env()},
                      [&](std::uint64_t, std::uint64_t) {
                        if (std::exchange(sealed, true)) return true;
                        EXPECT_TRUE(store->seal()) << "sealing goes on beside a copy";
                        return true;
                      });
  auto after = store->view().watermark;
  stop = true;
  committing.join();

  ASSERT_TRUE(cut) << cut.error().what;
  ASSERT_TRUE(truth) << truth.error().what;
  EXPECT_GE(*truth, acknowledged);
  EXPECT_LT(*truth, after);
  ASSERT_TRUE(restore(folder_.path() / "truth", target(), {.env = env_.env()}));
  auto copy = opened(folder_.path() / "cut"), back = opened(target());
  expect_same(*copy, *prefix(end.value), end.value);
  auto all = everything(*store), restored = everything(*back);
  ASSERT_EQ(restored.size(), truth->value);
  EXPECT_TRUE(std::equal(restored.begin(), restored.end(), all.begin()));
  EXPECT_THAT(verify(*back)->findings, IsEmpty());
}

TEST_F(PointInTime, ForgetsSnapshotsOfLaterVersionsAndFindsTheLatestAgain) {
  auto store = opened(data_dir());
  StoreWriter writer(*store);
  auto order = [](int number, int version) {
    Snapshot snapshot;
    snapshot.aggregate = {"order", std::to_string(number)};
    snapshot.payload = std::to_string(number) + " at " + std::to_string(version);
    if (number == 1) snapshot.keep = 2;
    return one(snapshot.aggregate.text(), "placed", "x").snapshot(snapshot);
  };
  for (int number = 1; number <= 2; ++number)
    for (int version = 1; version <= 3; ++version) ASSERT_TRUE(writer.commit({order(number, version)}));

  ASSERT_TRUE(backup(*store, target(), {.up_to = GlobalPosition{5}, .env = env_.env()}));
  ASSERT_TRUE(backup(*store, folder_.path() / "early", {.up_to = GlobalPosition{2}, .env = env_.env()}));

  auto copy = opened(target()), early = opened(folder_.path() / "early");
  auto latest = [](const Store& of, const char* name) { return *Reader(of).latest_snapshot({"order", name}); };
  EXPECT_EQ(latest(*copy, "1")->payload, "1 at 3");
  EXPECT_FALSE(latest(*copy, "2").has_value())
      << "only the latest was kept, and that is a later one: the stream is replayed";
  ASSERT_TRUE(latest(*early, "1"));
  EXPECT_EQ(latest(*early, "1")->payload, "1 at 2");
  EXPECT_EQ(latest(*early, "1")->position, GlobalPosition{2});
  EXPECT_EQ(snapshots(*early, {"order", "1"}).size(), 2u)
      << "the latest, and the retained copy of the same version; that of version 1 went when version 3 was kept";
}

}  // namespace
}  // namespace evershard::storage
