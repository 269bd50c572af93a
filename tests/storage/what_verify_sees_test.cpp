// The table "What verify looks at" of docs/operations.md, walked: each kind of row changed with its checksum right,
// deleted, exchanged with another of its kind.

#include <fstream>
#include <map>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/journal/waiting_row.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/leadership_row.hpp"
#include "evershard/storage/order/refused_rows.hpp"
#include "evershard/storage/repair/backup.hpp"
#include "evershard/storage/repair/cluster_spread.hpp"
#include "evershard/storage/repair/recover.hpp"
#include "tests/storage/maintained_store.hpp"
#include "tests/storage/record_examples.hpp"

namespace evershard::storage {
namespace {

using Row = std::pair<std::string, std::string>;

/// As a cell of the page says it.
enum class Seen { found, unseen, refused };
std::string name_of(Seen seen) {
  return seen == Seen::found ? "found" : seen == Seen::unseen ? "not seen" : "does not open";
}

const AggregateId with_snapshot{"order", "1"}, with_another{"order", "2"};

struct Kind {
  Family family;
  std::function<bool(const std::string& key)> is_meant;
  /// With its checksum right. Absent: it has none, and a byte is changed.
  std::function<std::string(const Row& row)> changed{};
};

using Kinds = std::map<std::string, Kind>;

std::string row_log_of_value(const std::string& key, RowLogAt at);
std::string intent_of(const std::string& what);

class WhatVerifySees : public MaintainedStore {
 protected:
  /// 200 commits of one event under ids of their own, sealed; snapshots, and rows of removals.
  void make_store(const std::string& payload) {
    open();
    for (std::uint64_t i = 0; i < 200; ++i) {
      auto append = one("order-" + std::to_string(i % 7), "placed", payload + std::to_string(i % 5),
                        {"t:" + std::to_string(i % 3)});
      append.events.front().id = EventId::derived(EventId{}, static_cast<std::uint32_t>(i + 1));
      append.events.front().occurred_at = Timestamp{1};
      ASSERT_TRUE(writer_->commit({std::move(append)}));
    }
    auto large = snapshot_of("$group-a", 0, 16), larger = snapshot_of("$group-b", 0, 24);
    large.snapshot.payload.resize(20'000, 'a');
    larger.snapshot.payload.resize(30'000, 'b');
    write({snapshot_of("order-1", 3, 16), snapshot_of("order-2", 4, 24), large, larger});
    ASSERT_TRUE(store().seal());
    close();
    raw([&](RocksFamilies& families) {
      put(families, Family::state, removed_key(with_snapshot), encode_removal(removal_, with_snapshot));
      put(families, Family::state, removed_key(with_another), encode_removal(removal_, with_another));
      put(families, Family::state, removing_key(with_snapshot), encode_removal(removal_, with_snapshot));
      put(families, Family::state, removing_key(with_another), encode_removal(removal_, with_another));
      put(families, Family::state, keys::checkpoint("mail"), "somebody's");
      put(families, Family::state, keys::checkpoint("post"), "somebody else's");
    });
  }

  /// Node 1 of that store's cluster, which keeps all shards, with rows of everything that nodes write: two of each.
  void make_node() {
    make_store("this");
    const auto cluster = folder_.path() / "cluster";
    const auto spread =
        spread_store(data_dir(), cluster, {.nodes = 1, .replicas = 1},
                     [](const std::filesystem::path&, const SpreadStore&) { return Result<void>(); }, {});
    ASSERT_TRUE(spread) << spread.error().what;
    std::filesystem::remove_all(data_dir());
    std::filesystem::rename(cluster / spread_node_name(1), data_dir());
    raw([&](RocksFamilies& families) {
      const auto row = [&](const std::string& key, const std::string& value) {
        put(families, Family::state, key, value);
      };
      row(leadership_key(), leadership_row({Epoch{1}, EventId::derived(EventId{}, 1)}));
      for (const std::uint16_t n : {1, 2}) {
        const ShardId shard{n};
        const auto aggregate = n == 1 ? with_snapshot : with_another;
        const auto covered = keys::covered(shard);
        std::string value;
        ASSERT_TRUE(families.db().Get({}, families.handle(Family::state), covered, &value).ok());
        const auto end = decode_covered(value)->end;
        auto append = Append{};
        for (int i = 0; i != n; ++i) {
          append.event("order-" + std::to_string(n), "placed", "waits");
          append.events.back().id = EventId::derived(EventId{}, static_cast<std::uint32_t>(1'000 + 10 * n + i));
        }
        put(families, Family::journal, keys::journal(shard, end), record_of(encode_example(append), shard, end));
        WaitingRow waiting;
        waiting.events = n;
        waiting.tentative = true;
        row(keys::waiting(shard, end), encode(waiting));
        sharding::Cut refuses;
        refuses.number = CutNumber{1'000u + n};
        refuses.coordinator = Epoch{1};
        refuses.first_position = GlobalPosition{201};
        refuses.segments = {{shard, Epoch{1}, end, end + 1, {end}}};
        row(refused_key(refuses.number), refused_row(refuses));
        const RowLogEntry entry{.at = {Epoch{1}, n}, .snapshots = {aggregate}};
        row(row_log_key(shard, entry.at), encode_row_log(shard, entry));
        row(row_log_of_key(aggregate), row_log_of_value(row_log_of_key(aggregate), entry.at));
        const auto whole = row_log_whole(shard, Epoch{n});
        row(whole.key, *whole.value);
        row(keys::checkpoint(std::string(intent_prefix) + std::to_string(n)), intent_of(std::to_string(n)));
      }
    });
  }

  /// Walks these kinds of rows of the store that lies there.
  void expect_seen(const Kinds& kinds);

  Seen seen() {
    const auto report = verify_directory(data_dir());
    if (!report) return Seen::refused;
    return report->report.errors == 0 ? Seen::unseen : Seen::found;
  }

  std::vector<Row> rows(Family family, const std::function<bool(const std::string&)>& is_meant) {
    std::vector<Row> some;
    raw([&](RocksFamilies& families) {
      for (auto& row : rows_of(families, family))
        if (is_meant(row.first)) some.push_back(std::move(row));
    });
    return some;
  }

  const RemovalRow removal_{.before = SeqNr{2}, .from = SeqNr{1}, .last = GlobalPosition{2}, .operation = "op"};
};

bool is_of(const std::string& key, keys::StateKey::Kind kind, std::string_view name = {}) {
  const auto decoded = keys::decode_state(key);
  return decoded && decoded->kind == kind && decoded->name.starts_with(name);
}

std::string row_log_of_value(const std::string& key, RowLogAt at) {
  std::string row;
  append_fixed(row, at.epoch.value);
  append_fixed(row, at.number);
  append_fixed(row, checksum(key + row));
  return row;
}

std::string intent_of(const std::string& what) {
  auto row = what;
  append_fixed(row, checksum(row));
  return row;
}

/// The rows of the page's table, by what their first cell says.
Kinds kinds_of_a_store(const std::map<std::string, std::string>& twins_journal) {
  using Of = keys::StateKey::Kind;
  const auto any = [](const std::string&) { return true; };
  const auto snapshot = [](const Row& row) {
    Snapshot other;
    other.aggregate = keys::decode_state(row.first)->aggregate;
    other.version = SeqNr{2};
    other.payload = "another state";
    return encode_snapshot(other, GlobalPosition{9}, Timestamp{1});
  };
  return {
      {"record of the journal", {Family::journal, any, [&](const Row& row) { return twins_journal.at(row.first); }}},
      {"cut of the order",
       {Family::order, any,
        [](const Row& row) {
          auto cut = *sharding::decode_cut(row.second);
          cut.segments.front().first = cut.segments.front().first + 1;
          cut.segments.front().end = cut.segments.front().end + 1;
          return sharding::encode(cut);
        }}},
      {"identity",
       {Family::state, [](const auto& key) { return is_of(key, Of::identity); },
        [](const Row& row) {
          auto identity = *decode_identity(row.second);
          identity.term_key += 1;
          return encode(identity);
        }}},
      {"applied",
       {Family::state, [](const auto& key) { return is_of(key, Of::applied); },
        [](const Row& row) {
          auto applied = *decode_applied(row.second);
          applied.watermark = applied.watermark - 1;
          return encode(applied);
        }}},
      {"snapshot", {Family::state, [](const auto& key) { return is_of(key, Of::snapshot); }, snapshot}},
      {"base of a snapshot in two rows",
       {Family::state, [](const auto& key) { return is_of(key, Of::checkpoint, snapshot_base_prefix); },
        [](const Row& row) {
          const auto name = keys::decode_state(row.first)->name.substr(snapshot_base_prefix.size());
          Snapshot other;
          other.aggregate = *AggregateId::parse(name);
          other.payload = decode_snapshot_base(row.second, other.aggregate)->payload + "x";
          return encode_snapshot(other, GlobalPosition{16}, Timestamp{1});
        }}},
      {"what is removed",
       {Family::state, [](const auto& key) { return is_of(key, Of::checkpoint, removed_prefix); },
        [](const Row& row) {
          const auto name = keys::decode_state(row.first)->name.substr(removed_prefix.size());
          const auto aggregate = *AggregateId::parse(name);
          auto removal = *decode_removal(row.second, aggregate);
          removal.before = SeqNr{3};
          return encode_removal(removal, aggregate);
        }}},
      {"what is being removed",
       {Family::state, [](const auto& key) { return is_of(key, Of::checkpoint, removing_prefix); },
        [](const Row& row) {
          const auto name = keys::decode_state(row.first)->name.substr(removing_prefix.size());
          const auto aggregate = *AggregateId::parse(name);
          auto removal = *decode_removal(row.second, aggregate);
          removal.before = SeqNr{3};
          return encode_removal(removal, aggregate);
        }}},
      {"checkpoint, definition",
       {Family::state,
        [](const auto& key) {
          return is_of(key, Of::checkpoint) && !is_of(key, Of::checkpoint, removed_prefix) &&
                 !is_of(key, Of::checkpoint, removing_prefix) && !is_of(key, Of::checkpoint, snapshot_base_prefix);
        }}},
      {"index: streams", {Family::streams, any}},
      {"index: postings", {Family::postings, any}},
      {"index: ids", {Family::ids, any}},
      {"index: directory", {Family::directory, any}},
      {"index: runs", {Family::runs, any}},
  };
}

/// Those that only a node of a cluster has.
Kinds kinds_of_a_node() {
  using Of = keys::StateKey::Kind;
  const auto named = [](std::string_view prefix) {
    return [prefix](const std::string& key) { return is_of(key, Of::checkpoint, prefix); };
  };
  return {
      {"of a node: covered",
       {Family::state, [](const auto& key) { return is_of(key, Of::covered); },
        [](const Row& row) {
          auto covered = *decode_covered(row.second);
          covered.end = covered.end - 1;
          return encode_covered(covered);
        }}},
      {"of a node: waiting append",
       {Family::state, [](const auto& key) { return is_of(key, Of::waiting); },
        [](const Row& row) {
          auto waiting = *decode_waiting(row.second);
          waiting.appended_at = Timestamp{7};
          return encode(waiting);
        }}},
      {"of a node: refused cut",
       {Family::state, [](const auto& key) { return key.starts_with(refused_prefix()); },
        [](const Row& row) {
          auto cut = *decode_refused(row.first, row.second);
          cut.coordinator = Epoch{9};
          return refused_row(cut);
        }}},
      {"of a node: leadership",
       {Family::state, [](const auto& key) { return key == leadership_key(); },
        [](const Row& row) {
          auto leadership = *decode_leadership(row.second);
          leadership.identity = EventId::derived(leadership.identity, 9);
          return leadership_row(leadership);
        }}},
      {"of a node: entry of a row log",
       {Family::state,
        [](const auto& key) {
          return is_of(key, Of::checkpoint, row_log_prefix) && !is_of(key, Of::checkpoint, row_log_of_prefix) &&
                 !is_of(key, Of::checkpoint, row_log_whole_prefix);
        },
        [](const Row& row) {
          const ShardId shard = *shard_of_row_log(keys::decode_state(row.first)->name);
          auto entry = *decode_row_log(shard, row.second);
          entry.snapshots = {with_another};
          return encode_row_log(shard, entry);
        }}},
      {"of a node: which entry has a snapshot",
       {Family::state, named(row_log_of_prefix),
        [](const Row& row) {
          return row_log_of_value(row.first, RowLogAt{Epoch{1}, 77});
        }}},
      {"of a node: a row log is whole",
       {Family::state, named(row_log_whole_prefix),
        [](const Row& row) {
          const auto shard = *decode_row_log_whole(keys::decode_state(row.first)->name, row.second);
          return *row_log_whole(shard, Epoch{9}).value;
        }}},
      {"of a node: removal that was begun",
       {Family::state, named(intent_prefix), [](const Row&) { return intent_of("a third"); }}},
  };
}

/// First cell to the cells behind it, of the table under that heading.
std::map<std::string, std::vector<std::string>> table_of_the_page() {
  std::ifstream page(EVERSHARD_OPERATIONS_PAGE);
  std::map<std::string, std::vector<std::string>> table;
  bool here = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) here = line == "### What verify looks at";
    if (!here || !line.starts_with("| ")) continue;
    std::vector<std::string> cells;
    for (std::size_t at = 2; at < line.size();) {
      const auto end = line.find(" |", at);
      if (end == std::string::npos) break;
      cells.push_back(line.substr(at, end - at));
      at = end + 3;
    }
    if (cells.size() == 4) table.emplace(cells[0], std::vector(cells.begin() + 1, cells.end()));
  }
  return table;
}

void WhatVerifySees::expect_seen(const Kinds& kinds) {
  ASSERT_EQ(seen(), Seen::unseen) << "nothing is wrong yet";
  const auto whole = folder_.path() / "whole";
  std::filesystem::rename(data_dir(), whole);
  const auto again = [&] {
    std::filesystem::remove_all(data_dir());
    std::filesystem::copy(whole, data_dir(), std::filesystem::copy_options::recursive);
  };
  auto page = table_of_the_page();
  for (const auto& [name, kind] : kinds) {
    SCOPED_TRACE(name);
    const auto cells = page[name];
    ASSERT_EQ(cells.size(), 3u) << "docs/operations.md has a row for it";
    again();
    const auto some = rows(kind.family, kind.is_meant);
    ASSERT_FALSE(some.empty());
    const auto& row = some[some.size() / 2];
    raw([&](RocksFamilies& families) {
      auto value = row.second;
      if (kind.changed)
        value = kind.changed(row);
      else
        value.back() ^= 1;
      put(families, kind.family, row.first, value);
    });
    EXPECT_EQ(name_of(seen()), cells[0]) << "changed";
    again();
    raw([&](RocksFamilies& families) { erase(families, kind.family, row.first); });
    EXPECT_EQ(name_of(seen()), cells[1]) << "deleted";
    if (some.size() < 2) {
      EXPECT_EQ(cells[2], "there is one");
      continue;
    }
    again();
    const auto& other = some[some.size() / 2 - 1];
    raw([&](RocksFamilies& families) {
      put(families, kind.family, row.first, other.second);
      put(families, kind.family, other.first, row.second);
    });
    EXPECT_EQ(name_of(seen()), cells[2]) << "exchanged";
  }
}

TEST_F(WhatVerifySees, IsWhatThePageSays) {
  std::map<std::string, std::string> twins;
  {
    make_store("other");
    for (auto& [key, value] : rows(Family::journal, [](const auto&) { return true; })) twins.emplace(key, value);
    std::filesystem::remove_all(data_dir());
  }
  make_store("this");
  expect_seen(kinds_of_a_store(twins));
}

TEST_F(WhatVerifySees, OfTheMarkOfTheIndexesIsWhatThePageSays) {
  make_store("this");
  const auto whole = folder_.path() / "whole";
  std::filesystem::copy(data_dir(), whole, std::filesystem::copy_options::recursive);
  const auto cells = table_of_the_page()["mark of the indexes"];
  ASSERT_EQ(cells.size(), 3u);
  for (const std::uint64_t mark : {199, 120, 100}) {  // the last one is where another seal ended
    raw([&](RocksFamilies& families) {
      ASSERT_TRUE(families.db().Put({}, families.mark(), mark_key, encode_mark(GlobalPosition{mark})).ok());
    });
    EXPECT_EQ(name_of(seen()), cells[0]) << "changed to " << mark;
  }
  std::filesystem::remove_all(data_dir());
  std::filesystem::rename(whole, data_dir());
  raw([&](RocksFamilies& families) { ASSERT_TRUE(families.db().Delete({}, families.mark(), mark_key).ok()); });
  EXPECT_EQ(name_of(seen()), cells[1]) << "deleted";
  open();
  EXPECT_EQ(verified().errors, 0u) << "who opens it makes the indexes anew";
  close();
  EXPECT_EQ(name_of(seen()), "not seen");
}

TEST_F(WhatVerifySees, OfANodeIsWhatThePageSays) {
  make_node();
  expect_seen(kinds_of_a_node());
}

// `recover --yes` said that it had mended a store, and the next verify found the same row.
TEST_F(WhatVerifySees, DamagedSnapshotsAreLeftOutByRecover) {
  make_store("this");
  raw([&](RocksFamilies& families) {
    put(families, Family::state, keys::snapshot(with_snapshot, std::nullopt), "damaged");
    Snapshot beyond;
    beyond.aggregate = with_another;
    beyond.version = SeqNr{9'999};
    put(families, Family::state, keys::snapshot(with_another, std::nullopt),
        encode_snapshot(beyond, GlobalPosition{30}, Timestamp{1}));
  });
  ASSERT_EQ(seen(), Seen::found);
  const auto plan = recover(options());
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->lost, 0u);
  EXPECT_THAT(plan->steps, ::testing::IsSupersetOf({::testing::HasSubstr("leaves out the snapshot of \"order-1\""),
                                                    ::testing::HasSubstr("leaves out the snapshot of \"order-2\"")}));
  EXPECT_THAT(plan->unmended, ::testing::IsEmpty());
  EXPECT_EQ(seen(), Seen::unseen);
}

TEST_F(WhatVerifySees, TheNewestWholeCopyOfASnapshotTakesThePlaceOfTheLatest) {
  make_store("this");
  raw([&](RocksFamilies& families) {
    for (const std::uint64_t version : {1, 2}) {
      Snapshot copy;
      copy.aggregate = with_snapshot;
      copy.version = SeqNr{version};
      copy.payload = "copy " + std::to_string(version);
      put(families, Family::state, keys::snapshot(with_snapshot, SeqNr{version}),
          encode_snapshot(copy, GlobalPosition{2 + 7 * (version - 1)}, Timestamp{1}));
    }
    put(families, Family::state, keys::snapshot(with_snapshot, std::nullopt), "damaged");
  });
  const auto plan = recover(options());
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->steps, ::testing::Contains(::testing::HasSubstr("its copy of version 2 takes its place")));
  EXPECT_EQ(seen(), Seen::unseen);
  const auto latest =
      rows(Family::state, [](const auto& key) { return key == keys::snapshot(with_snapshot, std::nullopt); });
  ASSERT_EQ(latest.size(), 1u);
  const auto there = decode_snapshot(latest.front().second, with_snapshot);
  ASSERT_TRUE(there) << there.error().what;
  EXPECT_EQ(there->payload, "copy 2");
}

// A damaged snapshot, which is derived, made every backup of the truth impossible.
TEST_F(WhatVerifySees, DamagedSnapshotsAreLeftOutOfBackupsOfTheTruth) {
  make_store("this");
  raw([&](RocksFamilies& families) {
    put(families, Family::state, keys::snapshot(with_snapshot, std::nullopt), "damaged");
  });
  open();
  for (const bool truth_only : {true, false}) {
    std::vector<std::string> left_out;
    BackupOptions how;
    how.truth_only = truth_only;
    how.up_to = truth_only ? std::nullopt : std::optional(GlobalPosition{150});
    how.left_out = [&](const std::string& what) { left_out.push_back(what); };
    const auto target = folder_.path() / (truth_only ? "truth" : "earlier");
    const auto made = backup(store(), target, how);
    ASSERT_TRUE(made) << made.error().what;
    EXPECT_THAT(left_out, ::testing::ElementsAre(::testing::HasSubstr("\"order-1\"")));
    const auto report = verify_directory(target);
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->report.errors, 0u);
  }
}

// What recover does not mend it says.
TEST_F(WhatVerifySees, ADamagedIntentIsNotMendedAndSaidToBeSo) {
  make_store("this");
  raw([&](RocksFamilies& families) {
    put(families, Family::state, keys::checkpoint(std::string(intent_prefix) + "x"), "damaged");
  });
  ASSERT_EQ(seen(), Seen::found);
  const auto plan = recover(options());
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_EQ(plan->unmended.size(), 1u);
  EXPECT_EQ(seen(), Seen::found);
}

TEST_F(WhatVerifySees, DamagedRowsOfRemovalsAreLeftOutByRecover) {
  make_store("this");
  raw([&](RocksFamilies& families) { put(families, Family::state, removed_key(with_snapshot), "damaged"); });
  ASSERT_EQ(seen(), Seen::found);
  const auto plan = recover(options());
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(plan->unmended, ::testing::IsEmpty());
  EXPECT_EQ(seen(), Seen::unseen);
}

}  // namespace
}  // namespace evershard::storage
