// Reading is one operation: the same contract over one process, a node that keeps all shards, three nodes that share
// them, and each of these with keys.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/page_forms.hpp"
#include "evershard/local/local_events.hpp"
#include "evershard/protocol/codec.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "evershard/services/erasure/sealed_events.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;

constexpr std::uint32_t reading_shards = 4;
constexpr std::size_t page_of = 50;  // events, of SmallCluster's nodes

/// Keys that lie with somebody else until they are asked for: nothing is at hand.
class KeysElsewhere final : public SubjectKeys {
 public:
  explicit KeysElsewhere(std::unique_ptr<SubjectKeys> keys) : keys_(std::move(keys)) {}
  Result<HeldKey> key_for(std::string_view subject) override { return keys_->key_for(subject); }
  Result<std::optional<HeldKey>> find(const KeyId& id) override {
    ++found;
    return keys_->find(id);
  }
  Result<std::optional<KeyId>> current(std::string_view subject) override { return keys_->current(subject); }
  Result<void> destroy(const KeyId& id) override { return keys_->destroy(id); }
  void fetch(KeysWanted wanted) override { fetched += wanted.ids.size(); }
  std::optional<Result<std::optional<HeldKey>>> found_at_hand(const KeyId& id) override {
    if (!at_hand) return std::nullopt;
    return keys_->find(id);
  }

  std::atomic<bool> at_hand{true};
  std::atomic<std::size_t> found{0};
  std::atomic<std::size_t> fetched{0};

 private:
  const std::unique_ptr<SubjectKeys> keys_;
};

struct Kind {
  std::uint32_t nodes;  ///< 0: a store in one process
  bool with_keys;
};

class Reading : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    std::shared_ptr<KeysElsewhere> keys;
    if (GetParam().with_keys)
      keys = std::make_shared<KeysElsewhere>(KeyFolder::open(folder_.path() / "keys", {}).value());
    keys_ = keys.get();
    if (GetParam().nodes == 0) {
      NodeOptions options;
      options.store.data_dir = folder_.path() / "store";
      options.store.shards = reading_shards;
      options.limits.page_events_max = page_of;
      options.keys = keys;
      local_ = Node::open(options).value();
      plain_ = std::make_unique<LocalEvents>(local_);
    } else {
      cluster_ = std::make_unique<SmallCluster>(SmallCluster::Options{.nodes = GetParam().nodes,
                                                                      .shards = reading_shards,
                                                                      .data_dir = folder_.path() / "nodes",
                                                                      .takes_sealed = GetParam().with_keys});
      ASSERT_TRUE(cluster_->wait_until_open());
    }
    if (keys == nullptr) return;
    sealed_ = std::make_unique<SealedEvents>(stored(), std::make_shared<const Sealing>(keys));
  }
  EventStore& stored() { return cluster_ ? static_cast<EventStore&>(cluster_->node(1)) : *plain_; }
  EventStore& store() { return sealed_ ? static_cast<EventStore&>(*sealed_) : stored(); }
  [[nodiscard]] bool is_node_with_all() const { return GetParam().nodes == 1; }

  /// Appends an event; every third one without an aggregate.
  void append(std::string payload, std::string subject = {}) {
    Event event;
    const auto n = head_.value;
    if (n % 3 != 2) event.aggregate = AggregateId{"order", std::to_string(n % 7)};
    event.type = n % 2 == 0 ? "Even" : "Odd";
    event.tags = {"n:" + std::to_string(n % 10), "all"};
    if (n % 4 == 0) event.also = {AggregateId{"customer", "1"}};
    if (n % 5 == 0) event.metadata = n % 2 == 0 ? "{}" : "";
    event.payload = std::move(payload);
    event.format = PayloadFormat::text;
    event.subject = std::move(subject);
    append(Append{}.event(std::move(event)));
  }
  void append(Append append) {
    const auto done = store().append(std::move(append));
    ASSERT_TRUE(done) << done.error().what;
    head_ = done->last_position;
    ASSERT_TRUE(stored().wait_for(head_, std::chrono::seconds(60)));
  }
  void append_many(std::size_t events) {
    for (std::size_t i = 0; i != events; ++i) append("event " + std::to_string(i));
  }
  /// The record of that event is none any more.
  void damage(std::uint64_t position) {
    const auto event = stored().event_at(GlobalPosition{position}).value();
    storage::RowWrites rows;
    rows.rewrites.push_back({event.shard, event.offset, "no record"});
    if (local_) {
      ASSERT_TRUE(local_->committer().write_rows(std::move(rows)));
    } else {
      auto& owner = cluster_->node(cluster_->node(1).committer().owner(event.shard));
      ASSERT_TRUE(owner.write_rows_here(std::move(rows), {}, {}));
    }
  }
  static std::vector<RecordedEvent> values(EventStream stream) {
    std::vector<RecordedEvent> events;
    for (const auto& event : stream) events.push_back(event);
    EXPECT_FALSE(stream.error()) << stream.error()->what;
    return events;
  }
  /// Of the pages that are visited to the end, or to an error.
  struct Seen {
    std::vector<RecordedEvent> events{};
    std::vector<std::size_t> pages{};  ///< events of each that has some
    std::optional<Error> error{};
    [[nodiscard]] std::vector<std::uint64_t> positions() const {
      std::vector<std::uint64_t> positions;
      for (const auto& event : events) positions.push_back(event.position.value);
      return positions;
    }
    [[nodiscard]] std::vector<std::string> payloads() const {
      std::vector<std::string> payloads;
      for (const auto& event : events) payloads.push_back(event.payload);
      return payloads;
    }
  };
  static Seen visited(EventStream stream) {
    Seen seen;
    for (bool complete = false; !complete;) {
      const auto before = seen.events.size();
      const auto page = stream.visit([&](const RecordedView& event) { seen.events.push_back(event.event()); });
      if (!page) {
        EXPECT_EQ(seen.events.size(), before) << "nothing is shown with an error";
        seen.error = page.error();
        return seen;
      }
      EXPECT_EQ(page->events, seen.events.size() - before);
      if (page->events != 0) seen.pages.push_back(page->events);
      complete = page->complete;
    }
    return seen;
  }
  /// Values, what is visited, and what goes over the wire are the same.
  void expect_one_answer(const std::function<EventStream()>& open) {
    const auto expected = values(open());
    EXPECT_EQ(visited(open()).events, expected);
    std::vector<RecordedEvent> decoded;
    auto stream = open();
    for (bool complete = false; !complete;) {
      const auto page = encoded_page(stream);
      ASSERT_TRUE(page) << page.error().what;
      auto read = codec::decode<Page>(page->bytes);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->watermark, page->watermark);
      EXPECT_EQ(read->complete, page->complete);
      EXPECT_EQ(codec::encode(*read), page->bytes);
      std::move(read->events.begin(), read->events.end(), std::back_inserter(decoded));
      complete = page->complete;
    }
    EXPECT_EQ(decoded, expected);
  }

  TemporaryFolder folder_;
  std::shared_ptr<Node> local_;
  std::unique_ptr<LocalEvents> plain_;
  std::unique_ptr<SmallCluster> cluster_;
  KeysElsewhere* keys_ = nullptr;
  std::unique_ptr<SealedEvents> sealed_;
  GlobalPosition head_{0};
};

std::string named(const ::testing::TestParamInfo<Kind>& kind) {
  return std::string(kind.param.nodes == 0   ? "OneProcess"
                     : kind.param.nodes == 1 ? "ANodeWithAllShards"
                                             : "ThreeNodes") +
         (kind.param.with_keys ? "WithKeys" : "");
}
INSTANTIATE_TEST_SUITE_P(, Reading,
                         ::testing::Values(Kind{0, false}, Kind{0, true}, Kind{1, false}, Kind{1, true}, Kind{3, false},
                                           Kind{3, true}),
                         named);

TEST_P(Reading, ShowsWhatItGivesAsValues) {
  append_many(120);
  const Query queries[] = {Query::all(), Query{}.tags({"all"}), Query{}.types({"Odd"}).tags({"n:3"}),
                           Query{}.tags({"nobody's"})};
  for (const auto direction : {Direction::forwards, Direction::backwards}) {
    for (const auto& query : queries) {
      expect_one_answer([&] { return store().read(query, {.direction = direction}); });
      expect_one_answer([&] {
        return store().read(query, {.after = GlobalPosition{7}, .up_to = GlobalPosition{99}, .direction = direction});
      });
      expect_one_answer([&] { return store().read(query, {.direction = direction, .per_aggregate = 3}); });
    }
    for (const auto* aggregate : {"order-1", "order-6", "order-9"})
      expect_one_answer([&] { return store().read(aggregate, {.direction = direction}); });
  }
  EXPECT_EQ(visited(store().read(Query::all())).events.size(), 120u);
}

TEST_P(Reading, ALimitEndsAPageWhereverItFalls) {
  append_many(120);
  for (const std::uint64_t limit : {1u, 49u, 50u, 51u, 100u, 101u, 119u, 120u, 121u}) {
    for (const auto direction : {Direction::forwards, Direction::backwards}) {
      const auto seen = visited(store().read(Query::all(), {.limit = limit, .direction = direction}));
      ASSERT_FALSE(seen.error);
      EXPECT_EQ(seen.events.size(), std::min<std::uint64_t>(limit, 120));
      for (const auto events : seen.pages) EXPECT_THAT(events, Le(page_of));
    }
    auto stream = store().read(Query::all(), {.limit = limit});
    const auto page = stream.visit([](const RecordedView&) {});
    ASSERT_TRUE(page);
    if (limit <= page_of && GetParam().nodes != 3) {
      EXPECT_TRUE(page->complete) << "the last event that is asked for is the read's last";
      EXPECT_EQ(page->events, limit);
    }
  }
  const auto nothing = visited(store().read(Query::all(), {.limit = 0}));
  EXPECT_FALSE(nothing.error);
  EXPECT_THAT(nothing.events, IsEmpty());
}

TEST_P(Reading, APageHoldsAboutAMegabyte) {
  for (int i = 0; i != 5; ++i) append(std::string(600'000, 'x'));
  const auto seen = visited(store().read(Query::all()));
  ASSERT_FALSE(seen.error);
  EXPECT_THAT(seen.positions(), ElementsAre(1, 2, 3, 4, 5));
  if (GetParam().nodes != 3) {
    EXPECT_THAT(seen.pages, ElementsAre(2, 2, 1)) << "no more is in hand than a page";
  }
}

TEST_P(Reading, ARemovedEventHasItsPlace) {
  append_many(3);
  Event gone;
  gone.id = EventId::random();
  gone.aggregate = AggregateId{"order", "8"};
  gone.state = EventState::removed;
  Append append;
  append.events.push_back(gone);
  append.from_export = true;
  this->append(std::move(append));
  append_many(3);
  const auto seen = visited(store().read(Query::all()));
  ASSERT_FALSE(seen.error);
  ASSERT_THAT(seen.positions(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(seen.events[3].state, EventState::removed);
  EXPECT_EQ(seen.events[3].id, gone.id);
  EXPECT_EQ(seen.events[4].state, EventState::live);
  expect_one_answer([&] { return store().read(Query::all()); });
}

TEST_P(Reading, WhatStandsBeforeADamagedRecordIsGiven) {
  append_many(60);
  damage(56);
  for (const auto& query : {Query::all(), Query{}.tags({"all"})}) {
    auto seen = visited(store().read(query));
    ASSERT_TRUE(seen.error);
    EXPECT_EQ(seen.error->code, ErrorCode::corruption) << seen.error->what;
    ASSERT_TRUE(seen.error->details);
    EXPECT_EQ(seen.error->details->position, GlobalPosition{56});
    std::vector<std::uint64_t> expected;
    // Of several nodes each gives a page of its own: what another one has before the damage may be missing.
    const auto given = GetParam().nodes == 3 ? seen.events.size() : 55u;
    for (std::uint64_t position = 1; position <= given; ++position) expected.push_back(position);
    EXPECT_EQ(seen.positions(), expected);
    EXPECT_THAT(seen.events.size(), Le(55u));
  }
  EXPECT_EQ(visited(store().read(Query::all(), {.after = GlobalPosition{56}})).positions(),
            std::vector<std::uint64_t>({57, 58, 59, 60}));
}

TEST_P(Reading, ACancelledReadSaysSo) {
  append_many(120);
  auto stream = store().read(Query::all());
  ASSERT_TRUE(stream.visit([](const RecordedView&) {}));
  stream.cancel();
  const auto page = stream.visit([](const RecordedView&) { ADD_FAILURE(); });
  ASSERT_FALSE(page);
  EXPECT_EQ(page.error().code, ErrorCode::cancelled);
}

TEST_P(Reading, GivesAtOnceWhatIsAtHandAndGoesOnBehindIt) {
  append_many(9);
  for (const bool of_aggregate : {false, true}) {
    const auto open = [&] { return of_aggregate ? store().read("order-1") : store().read(Query::all()); };
    const auto expected = values(open());
    std::vector<RecordedEvent> events;
    const auto see = [&](const RecordedView& event) { events.push_back(event.event()); };
    auto stream = open();
    const auto first = stream.visit(see, {.at_hand_max = 1});
    ASSERT_TRUE(first);
    if (GetParam().with_keys) {
      EXPECT_TRUE(first->says_nothing()) << "what is sealed would be kept, uncounted, until the keys are asked for";
    } else if (GetParam().nodes != 3) {
      EXPECT_EQ(first->events, 1u) << "a node that keeps the shards need not ask anybody";
    } else if (!of_aggregate) {
      EXPECT_TRUE(first->says_nothing()) << "other nodes are asked, and waited for";
    }
    append("behind what the read is bounded by");
    for (bool complete = first->complete; !complete;) {
      const auto page = stream.visit(see);
      ASSERT_TRUE(page) << page.error().what;
      complete = page->complete;
    }
    if (first->says_nothing()) continue;  // bounded by what was there when it was read
    EXPECT_EQ(events, expected);
  }
}

using ReadingSealed = Reading;
INSTANTIATE_TEST_SUITE_P(, ReadingSealed, ::testing::Values(Kind{0, true}, Kind{1, true}, Kind{3, true}), named);

TEST_P(ReadingSealed, WhatIsNotSealedKeepsItsPlaceBehindWhatIs) {
  append("open 1");
  append("sealed 2", "ada");
  append("open 3");
  append("sealed 4", "bob");
  append("sealed 5", "ada");
  append("open 6");
  for (const bool at_hand : {true, false}) {
    keys_->at_hand = at_hand;
    keys_->found = 0;
    keys_->fetched = 0;
    const auto seen = visited(store().read(Query::all()));
    ASSERT_FALSE(seen.error) << seen.error->what;
    ASSERT_THAT(seen.payloads(), ElementsAre("open 1", "sealed 2", "open 3", "sealed 4", "sealed 5", "open 6"));
    EXPECT_EQ(seen.events[0].subject, "");
    EXPECT_EQ(seen.events[1].subject, "ada");
    EXPECT_EQ(seen.events[1].format, PayloadFormat::text);
    EXPECT_EQ(seen.events[2].subject, "");
    EXPECT_EQ(seen.events[3].subject, "bob");
    EXPECT_EQ(keys_->found, at_hand ? 0u : 3u);
    if (GetParam().nodes != 3) {
      EXPECT_EQ(keys_->fetched, at_hand ? 0u : 3u) << "all keys of a page are asked for at once";
    }
    expect_one_answer([&] { return store().read(Query::all()); });
    expect_one_answer([&] { return store().read(Query::all(), {.direction = Direction::backwards}); });
  }
}

TEST_P(ReadingSealed, AnErasedEventHasItsPlace) {
  append("open 1");
  append("sealed 2", "ada");
  append("open 3");
  ASSERT_TRUE(keys_->destroy(keys_->current("ada").value().value()));
  for (const bool at_hand : {true, false}) {
    keys_->at_hand = at_hand;
    const auto seen = visited(store().read(Query::all()));
    ASSERT_FALSE(seen.error) << seen.error->what;
    ASSERT_THAT(seen.payloads(), ElementsAre("open 1", "", "open 3"));
    EXPECT_EQ(seen.events[1].state, EventState::erased);
    EXPECT_EQ(seen.events[2].state, EventState::live);
    expect_one_answer([&] { return store().read(Query::all()); });
  }
}

TEST_P(ReadingSealed, WhatStandsBeforeAKeyThatIsLostIsGiven) {
  append("open 1");
  append("sealed 2", "bob");
  append("open 3");
  append("sealed 4", "ada");
  append("open 5");
  const auto lost = keys_->current("ada").value().value();
  ASSERT_TRUE(std::filesystem::remove(folder_.path() / "keys" / (lost.text() + ".key")));
  auto sealed = std::move(sealed_);  // one that remembers no key
  auto keys = std::make_shared<KeysElsewhere>(KeyFolder::open(folder_.path() / "keys", {}).value());
  sealed_ = std::make_unique<SealedEvents>(stored(), std::make_shared<const Sealing>(keys));
  for (const bool at_hand : {true, false}) {
    keys->at_hand = at_hand;
    const auto seen = visited(store().read(Query::all()));
    EXPECT_THAT(seen.payloads(), ElementsAre("open 1", "sealed 2", "open 3"));
    ASSERT_TRUE(seen.error);
    EXPECT_EQ(seen.error->code, ErrorCode::corruption);
    EXPECT_EQ(seen.error->details->position, GlobalPosition{4});
  }
}

TEST_P(ReadingSealed, NothingIsOpenedOrKeptForThoseWhoDoNotWait) {
  append("open 1");
  append("sealed 2", "ada");
  append("open 3");
  keys_->found = 0;
  std::vector<std::string> payloads;
  const auto see = [&](const RecordedView& event) { payloads.emplace_back(event.payload); };
  auto stream = store().read(Query::all());
  const auto first = stream.visit(see, {.at_hand_max = 64});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->says_nothing());
  EXPECT_TRUE(payloads.empty());
  EXPECT_EQ(keys_->found, 0u);
  for (bool complete = false; !complete;) {
    const auto page = stream.visit(see);
    ASSERT_TRUE(page) << page.error().what;
    complete = page->complete;
  }
  EXPECT_THAT(payloads, ElementsAre("open 1", "sealed 2", "open 3"));
}

}  // namespace
}  // namespace evershard::cluster
