// Erasure in one process: what is sealed, who reads it, and what is left of it when its key is destroyed.

#include <filesystem>
#include <fstream>
#include <optional>

#include "evershard/local/maintenance.hpp"
#include "evershard/local/node.hpp"
#include "evershard/services/erasure/key_folder.hpp"
#include "tests/local/small_store.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const AggregateId order{"order", "1"};
constexpr std::string_view secret_text = "Ada Lovelace, 12 St James's Square";

Event event_of(const std::string& aggregate, const std::string& type, std::string payload, std::string subject) {
  Event event;
  event.aggregate = AggregateId::parse(aggregate).value();
  event.type = type;
  event.payload = std::move(payload);
  event.format = PayloadFormat::json;
  event.tags = {"order:1"};
  event.subject = std::move(subject);
  return event;
}

class Erasure : public ::testing::Test {
 protected:
  Erasure() { open(); }
  void open(bool with_keys = true) {
    store_.reset();
    LocalOptions options;
    options.data_dir = scratch_->path() / "data";
    options.shards = 4;
    options.tail_events = 500;
    if (with_keys) options.keys_dir = scratch_->path() / "keys";
    store_ = std::make_unique<Local>(open_store(std::move(options)));
  }
  Local& store() { return *store_; }
  std::vector<RecordedEvent> all(Query query = Query::all()) {
    std::vector<RecordedEvent> events;
    auto stream = store().read(std::move(query));
    for (const auto& event : stream) events.push_back(event);
    EXPECT_FALSE(stream.error()) << stream.error()->what;
    return events;
  }
  /// Whether any file below the data directory has these bytes.
  [[nodiscard]] bool on_disk(std::string_view bytes) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch_->path() / "data")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string content((std::istreambuf_iterator<char>(file)), {});
      if (content.find(bytes) != std::string::npos) return true;
    }
    return false;
  }

  std::optional<ScratchDir> scratch_{std::in_place};
  std::unique_ptr<Local> store_;
};

TEST_F(Erasure, WhatHasASubjectIsStoredSealedAndReadAsItWas) {
  ASSERT_TRUE(store().append(Append{}
                                 .event(event_of("order-1", "OrderPlaced", std::string(secret_text), "ada"))
                                 .event(event_of("order-1", "OrderPaid", "{}", ""))));

  for (int rounds = 0; rounds < 2; ++rounds) {
    const auto events = all();
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].payload, secret_text);
    EXPECT_EQ(events[0].format, PayloadFormat::json);
    EXPECT_EQ(events[0].subject, "ada");
    EXPECT_EQ(events[0].state, EventState::live);
    EXPECT_EQ(events[1].payload, "{}");
    EXPECT_EQ(events[1].subject, "");
    EXPECT_EQ(store().event_at(GlobalPosition{1})->payload, secret_text);
    auto stream = store().read(order);
    EXPECT_EQ(stream.next().value()->payload, secret_text);
    auto feed = store().follow(Query{}.tags({"order:1"}));
    EXPECT_EQ(feed.next(std::chrono::seconds(30))->events.front().payload, secret_text);
    ASSERT_TRUE(store().flush());
    open();
  }
  EXPECT_FALSE(on_disk(secret_text));
}

TEST_F(Erasure, WithoutItsKeysAStoreGivesWhatIsSealedAsItLies) {
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", std::string(secret_text), "ada"))));
  open(false);

  const auto events = all();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].format, PayloadFormat::encrypted);
  EXPECT_EQ(events[0].state, EventState::live);
  EXPECT_EQ(events[0].payload.find(secret_text), std::string::npos);

  auto refused = store().append(Append{}.event(event_of("order-1", "OrderPlaced", "x", "ada")));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(all().size(), 1u);
  Snapshot snapshot{order, SeqNr{1}, "state", PayloadFormat::text, 1, {}, {}, "ada"};
  EXPECT_EQ(store().put_snapshot(snapshot).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(store().retention().erase_subject("ada", {}).error().code, ErrorCode::invalid_argument);
}

TEST_F(Erasure, TheSameRequestAgainIsTheSame) {
  auto event = event_of("order-1", "OrderPlaced", std::string(secret_text), "ada");
  event.id = EventId::random();
  const auto by_id = Append{}.event(event);
  const auto by_request =
      Append{}.event(event_of("order-2", "OrderPlaced", std::string(secret_text), "ada")).request(EventId::random());
  auto other_event = event_of("order-3", "OrderPaid", "{}", "");
  other_event.id = EventId::random();
  const auto by_another_event =
      Append{}.event(event_of("order-3", "OrderPlaced", std::string(secret_text), "ada")).event(other_event);
  for (const auto& append : {by_id, by_request, by_another_event}) {
    auto first = store().append(append);
    ASSERT_TRUE(first) << first.error().what;
    auto again = store().append(append);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_TRUE(again->duplicate);
    EXPECT_EQ(again->first_position, first->first_position);
    auto other = append;
    other.events[0].payload += "!";
    EXPECT_EQ(code_of(store().append(other)), "duplicate_event");
  }
}

TEST_F(Erasure, WhatOnlyLooksSealedIsRefused) {
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", std::string(secret_text), "ada"))));
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", "to be erased", "bob"))));
  open(false);
  auto sealed = store().event_at(GlobalPosition{1}).value();
  auto erased = store().event_at(GlobalPosition{2}).value();
  const auto append_of = [](std::string payload, const std::string& type = "OrderPlaced",
                            const std::string& aggregate = "order-1") {
    auto event = event_of(aggregate, type, std::move(payload), "");
    event.format = PayloadFormat::encrypted;
    return Append{}.event(event);
  };
  const auto garbage = "ESK1" + std::string(200, 'x');
  auto damaged = sealed.payload;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const Snapshot snapshot{order, SeqNr{1}, garbage, PayloadFormat::encrypted, 1, {}, {}, {}};

  // Without keys nobody can tell what opens; what is encrypted otherwise is a user's own affair.
  EXPECT_EQ(code_of(store().append(append_of(garbage))), "invalid_argument");
  EXPECT_EQ(code_of(store().append(append_of(sealed.payload))), "invalid_argument");
  EXPECT_EQ(code_of(store().put_snapshot(snapshot)), "invalid_argument");
  EXPECT_EQ(code_of(store().append(append_of("my own cipher"))), "ok");

  open();
  ASSERT_TRUE(store().retention().erase_subject("bob", {}));
  for (const auto& payload : {garbage, damaged})
    EXPECT_EQ(code_of(store().append(append_of(payload))), "invalid_argument");
  EXPECT_EQ(code_of(store().append(append_of(sealed.payload, "OrderPaid"))), "invalid_argument")
      << "sealed for another type";
  EXPECT_EQ(code_of(store().append(append_of(sealed.payload, "OrderPlaced", "order-2"))), "invalid_argument")
      << "sealed for another aggregate";
  EXPECT_EQ(code_of(store().put_snapshot(snapshot)), "invalid_argument");
  EXPECT_EQ(code_of(store().append(append_of(sealed.payload))), "ok") << "as a copy made without keys has it";
  EXPECT_EQ(code_of(store().append(append_of(erased.payload))), "ok") << "its key was destroyed here";
  const auto events = all(Query{}.types({"OrderPlaced"}));
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[3].payload, secret_text);
  EXPECT_EQ(events[4].state, EventState::erased);
}

TEST_F(Erasure, NoKeyIsMadeForWhatIsRefused) {
  auto no_format = event_of("order-1", "OrderPlaced", "x", "ada");
  no_format.format = static_cast<PayloadFormat>(77);
  EXPECT_EQ(code_of(store().append(Append{}.event(no_format))), "invalid_argument");
  EXPECT_EQ(
      code_of(store().append(Append{}.event(event_of("order-1", "OrderPlaced", std::string(9u << 20, 'x'), "ada")))),
      "too_large");
  EXPECT_EQ(code_of(store().put_snapshot(
                {order, SeqNr{1}, std::string(9u << 20, 'x'), PayloadFormat::text, 1, {}, {}, "ada"})),
            "too_large");
  for (const auto& entry : std::filesystem::directory_iterator(scratch_->path() / "keys"))
    EXPECT_NE(entry.path().extension(), ".key");
}

TEST_F(Erasure, ErasedIsErasedForEveryReaderAndTheRestStaysAsItWas) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(store().append(
        Append{}
            .event(event_of("order-" + std::to_string(i), "OrderPlaced", std::string(secret_text) + std::to_string(i),
                            i % 3 == 0 ? "person-ada" : "bob"))
            .event(event_of("order-" + std::to_string(i), "OrderPaid", "{}", ""))));
  }
  const auto before = all();
  auto would = store().retention().erase_subject("person-ada", {.dry_run = true});
  ASSERT_TRUE(would) << would.error().what;
  EXPECT_EQ(would->events, 100u);
  EXPECT_EQ(all(), before);

  auto erased = store().retention().erase_subject("person-ada", {.by = "dpo", .reason = "article 17"});

  ASSERT_TRUE(erased) << erased.error().what;
  EXPECT_EQ(erased->events, 100u);
  EXPECT_EQ(erased->records, would->records);
  for (int rounds = 0; rounds < 3; ++rounds) {
    const auto after = all(Query{}.types({"OrderPlaced", "OrderPaid"}));
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      auto expected = before[i];
      if (expected.subject == "person-ada") {
        expected.payload.clear();
        expected.subject.clear();
        expected.state = EventState::erased;
        expected.format = PayloadFormat::encrypted;
      }
      ASSERT_EQ(after[i], expected) << i;
    }
    EXPECT_EQ(all(Query{}.tags({"order:1"})).size(), before.size());
    auto report = store().verify();
    ASSERT_TRUE(report);
    EXPECT_EQ(report->errors, 0u);
    open();
    ASSERT_TRUE(rounds != 1 || store().flush());
  }
  auto log = store().retention().retention_log(SeqNr{0}, 10);
  ASSERT_TRUE(log);
  ASSERT_EQ(log->size(), 2u);
  EXPECT_EQ((*log)[0].what, "$ErasureOrdered");
  EXPECT_THAT((*log)[0].json, HasSubstr("article 17"));
  EXPECT_EQ((*log)[0].json.find("person"),
            std::string::npos);  // the log names the key, not whose it was; no hex digits spell it
  EXPECT_EQ((*log)[1].what, "$ErasureDone");

  EXPECT_EQ(code_of(store().retention().erase_subject("person-ada", {})), "not_found");
  EXPECT_EQ(code_of(store().retention().erase_subject("nobody", {})), "not_found");
  EXPECT_EQ(code_of(store().retention().erase_subject("", {})), "invalid_argument");
}

TEST_F(Erasure, ABackupOfBeforeIsErasedToo) {
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", std::string(secret_text), "ada"))));
  ASSERT_TRUE(store().backup(scratch_->path() / "backup"));
  ASSERT_TRUE(store().retention().erase_subject("ada", {}));
  LocalOptions options;
  options.data_dir = scratch_->path() / "backup";
  options.keys_dir = scratch_->path() / "keys";

  auto restored = open_store(std::move(options));

  auto event = restored.event_at(GlobalPosition{1});
  ASSERT_TRUE(event) << event.error().what;
  EXPECT_EQ(event->state, EventState::erased);
  EXPECT_EQ(event->payload, "");
  EXPECT_EQ(event->format, PayloadFormat::encrypted);
}

TEST_F(Erasure, ASubjectThatComesBackHasANewKey) {
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", "old", "ada"))));
  ASSERT_TRUE(store().retention().erase_subject("ada", {}));
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", "new", "ada"))));

  const auto events = all(Query{}.types({"OrderPlaced"}));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].state, EventState::erased);
  EXPECT_EQ(events[1].payload, "new");
  ASSERT_TRUE(store().retention().erase_subject("ada", {}));
  EXPECT_EQ(all(Query{}.types({"OrderPlaced"}))[1].state, EventState::erased);
}

TEST_F(Erasure, SnapshotsAreSealedAndGoWithTheKey) {
  ASSERT_TRUE(store().append(
      Append{}.event(event_of("order-1", "OrderPlaced", "x", "ada")).event(event_of("order-1", "OrderPaid", "x", ""))));
  ASSERT_TRUE(store().put_snapshot({order, SeqNr{1}, std::string(secret_text), PayloadFormat::text, 1, 5u, {}, "ada"}));
  ASSERT_TRUE(store().put_snapshot({order, SeqNr{2}, "nobody's", PayloadFormat::text, 1, 5u, {}, {}}));
  auto sealed = store().snapshot(order, SeqNr{1});
  ASSERT_TRUE(sealed && *sealed);
  EXPECT_EQ((*sealed)->payload, secret_text);
  EXPECT_EQ((*sealed)->subject, "ada");
  EXPECT_FALSE(on_disk(secret_text));

  ASSERT_TRUE(store().retention().erase_subject("ada", {}));

  EXPECT_EQ(store().snapshot(order, SeqNr{1}).value(), std::nullopt);
  auto left = store().snapshots(order);
  ASSERT_TRUE(left);
  for (const auto& snapshot : *left) EXPECT_EQ(snapshot.payload, "nobody's");
  EXPECT_EQ(store().snapshot(order).value()->payload, "nobody's");
}

TEST_F(Erasure, WhereTheNewestSnapshotIsErasedAnOlderOneIsFound) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPaid", "x", ""))));
  ASSERT_TRUE(store().put_snapshot({order, SeqNr{1}, "nobody's", PayloadFormat::text, 1, 5u, {}, {}}));
  ASSERT_TRUE(store().put_snapshot({order, SeqNr{2}, std::string(secret_text), PayloadFormat::text, 1, 5u, {}, "ada"}));
  ASSERT_TRUE(store().put_snapshot({order, SeqNr{3}, std::string(secret_text), PayloadFormat::text, 1, 5u, {}, "ada"}));

  ASSERT_TRUE(store().retention().erase_subject("ada", {}));

  for (const auto& found : {store().snapshot(order), store().snapshot(order, SeqNr{3}),
                            store().snapshot(order, SeqNr{1}), store().snapshot_as_of(order, GlobalPosition{3})}) {
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->payload, "nobody's");
    EXPECT_EQ((*found)->version, SeqNr{1});
  }
}

/// Events are not destroyed on behalf of a snapshot that nobody can read.
TEST_F(Erasure, ASnapshotThatCannotBeOpenedStandsForNoEvent) {
  const auto old = [](std::string type) {
    auto event = event_of("order-1", std::move(type), "{}", "");
    event.occurred_at = Timestamp{Timestamp::now().micros - 7'200'000'000};
    return event;
  };
  for (const bool erased : {true, false}) {  // or opened without its keys
    SCOPED_TRACE(erased);
    store_.reset();
    scratch_.emplace();
    open();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(store().append(Append{}.event(old("OrderPaid"))));
    ASSERT_TRUE(
        store().put_snapshot({order, SeqNr{4}, std::string(secret_text), PayloadFormat::text, 1, {}, {}, "ada"}));
    RetentionPolicy policy{
        .name = "orders", .kind = RetentionPolicy::Kind::truncate, .type = "order", .keep = std::chrono::hours(1)};
    ASSERT_TRUE(store().retention().set_retention_policy(policy, {}));
    policy = {
        .name = "paid", .kind = RetentionPolicy::Kind::events, .type = "OrderPaid", .keep = std::chrono::hours(1)};
    ASSERT_TRUE(store().retention().set_retention_policy(policy, {}));
    EXPECT_EQ(store().retention().truncate_aggregate(order, SeqNr{5}, {{.dry_run = true}})->covered_by, SeqNr{4});
    if (erased) {
      ASSERT_TRUE(store().retention().erase_subject("ada", {}));
    }
    open(erased);

    const auto truncated = store().retention().truncate_aggregate(order, SeqNr{5}, {});
    const auto applied = store().retention().apply_retention({});

    ASSERT_FALSE(truncated);
    EXPECT_EQ(truncated.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(truncated.error().what, HasSubstr("version 4, which cannot be opened"));
    ASSERT_TRUE(applied) << applied.error().what;
    EXPECT_EQ(applied->events, 0u);
    const auto paid = all(Query{}.types({"OrderPaid"}));
    ASSERT_EQ(paid.size(), 4u);
    for (const auto& event : paid) EXPECT_EQ(event.state, EventState::live);
  }
}

TEST_F(Erasure, ALostKeyIsAnErrorAndNotAnErasure) {
  ASSERT_TRUE(store().append(Append{}.event(event_of("order-1", "OrderPlaced", "x", "ada"))));
  store_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(scratch_->path() / "keys"))
    if (entry.path().extension() == ".key") std::filesystem::remove(entry.path());
  open();

  EXPECT_EQ(code_of(store().read(Query::all())), "corruption");
  EXPECT_EQ(code_of(store().event_at(GlobalPosition{1})), "corruption");
}

TEST_F(Erasure, BrokenOffAnywhereItIsDoneByTheNextCall) {
  using Steps = cluster::StoreRetention::Steps;
  for (const char* at : {Steps::ordered, Steps::rewritten}) {
    SCOPED_TRACE(at);
    ScratchDir scratch;
    auto keys = cluster::KeyFolder::open(scratch.path() / "keys", {});
    ASSERT_TRUE(keys);
    cluster::NodeOptions parts;
    parts.keys = *std::move(keys);
    parts.store.data_dir = scratch.path() / "data";
    parts.store.shards = 4;
    const auto image = scratch.path() / "image";
    parts.store.at_step = [&, taken = false](const char* step) mutable {
      if (taken || std::string_view(step) != at) return;
      taken = true;
      std::filesystem::copy(scratch.path() / "data", image, std::filesystem::copy_options::recursive);
    };
    {
      auto node = cluster::Node::open(parts);
      ASSERT_TRUE(node) << node.error().what;
      for (int i = 0; i < 40; ++i) {
        auto append =
            Append{}.event(event_of("order-" + std::to_string(i), "OrderPlaced", std::string(secret_text), "ada"));
        ASSERT_TRUE((*node)->sealing()->seal(append));
        ASSERT_TRUE((*node)->committer().append(std::move(append)));
      }
      ASSERT_TRUE((*node)->retention().erase("ada", {}, {}));
    }
    LocalOptions options;
    options.data_dir = image;
    options.keys_dir = scratch.path() / "keys";
    auto store = open_store(std::move(options));

    ASSERT_TRUE(store.vacuum());

    auto log = store.retention().retention_log(SeqNr{0}, 10);
    ASSERT_TRUE(log);
    ASSERT_EQ(log->size(), 2u);
    EXPECT_EQ(log->back().what, "$ErasureDone");
    auto stream = store.read(Query{}.types({"OrderPlaced"}));
    std::size_t erased = 0;
    for (const auto& event : stream) erased += event.state == EventState::erased && event.payload.empty() ? 1 : 0;
    EXPECT_EQ(erased, 40u);
    EXPECT_TRUE(store.vacuum());
    EXPECT_EQ(store.retention().retention_log(SeqNr{0}, 10)->size(), 2u);
  }
}

}  // namespace
}  // namespace evershard
