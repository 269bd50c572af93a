// Documents of a store: strict reads behind every append, lists, removal, changes of the definition, restarts; against
// folding the journal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "evershard/local/local_events.hpp"
#include "evershard/services/documents/store_documents.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* order_spec = R"({"events":{
  "Placed":[{"merge":true},{"set":"status","value":"open"}],
  "Added":[{"increment":"total","from":"price"},{"append":"items","from":"name"}],
  "Closed":[{"set":"status","value":"closed"},{"remove":"items"}],
  "Seen":"ignore"}})";

/// Takes reserved names, as what documents stand on does.
struct OwnParts {
  std::shared_ptr<Node> node;
  LocalEvents events{node};
};
struct OwnStore final : private OwnParts, public testing::ForwardingStore {
  explicit OwnStore(std::shared_ptr<Node> opened) : OwnParts{std::move(opened)}, ForwardingStore(OwnParts::events) {}
  ~OwnStore() override { node->close(); }
  using OwnParts::node;
};

OwnStore memory_store() { return OwnStore(Node::open({.store = {.data_dir = {}, .shards = 4}}).value()); }

std::unique_ptr<StoreDocuments> documents_of(EventStore& store, StoreDocumentsOptions options = {}) {
  auto documents = StoreDocuments::open(store, std::move(options));
  EXPECT_TRUE(documents) << documents.error().what;
  return *std::move(documents);
}

GlobalPosition append(EventStore& store, std::string_view aggregate, std::string type, std::string payload = "{}") {
  const auto done = store.append(Append{}.event(aggregate, std::move(type), std::move(payload)));
  EXPECT_TRUE(done) << done.error().what;
  return done ? done->last_position : GlobalPosition{};
}

/// Folded from the journal, with no rows, no engine and no paging.
std::map<std::string, std::string> naive(EventStore& store, const std::string& type, const char* spec) {
  const auto fold = actors::DocumentFold::of(spec).value();
  std::map<std::string, actors::FoldedDocument> documents;
  auto stream = store.read(Query::all());
  for (const auto& event : stream) {
    if (event.aggregate && event.aggregate->type == type)
      fold.apply(documents[event.aggregate->value], event, event.payload);
    if (event.type == actors::document_hidden) {
      const auto of = AggregateId::parse(event.aggregate->value).value();
      if (of.type == type) documents[of.value].hidden = actors::read_document_hidden(event.payload).value();
    }
  }
  EXPECT_FALSE(stream.error());
  std::map<std::string, std::string> shown;
  for (const auto& [value, document] : documents) {
    if (document.is_shown()) shown[value] = document.json();
  }
  return shown;
}

std::map<std::string, std::string> listed(StoreDocuments& documents, DocumentListing listing) {
  std::map<std::string, std::string> all;
  std::string last;
  for (;;) {
    const auto page = documents.list(listing);
    EXPECT_TRUE(page) << page.error().what;
    if (!page) return all;
    for (const auto& document : page->documents) {
      EXPECT_TRUE(all.empty() || last < document.aggregate.value) << "order";
      last = document.aggregate.value;
      all[last] = document.json;
    }
    if (!page->next) return all;
    listing.after = page->next;
  }
}

TEST(Documents, AreWhatTheEventsMakeOfThem) {
  auto store = memory_store();
  append(store, "order-1", "Placed", R"({"who":"ann"})");
  auto documents = documents_of(store);
  const auto defined = documents->define("order", order_spec);
  ASSERT_TRUE(defined) << defined.error().what;
  append(store, "order-1", "Added", R"({"price":7,"name":"tea"})");
  append(store, "order-1", "Unknown");

  const auto document = documents->get({"order", "1"});

  ASSERT_TRUE(document) << document.error().what;
  EXPECT_EQ(document->json, R"({"items":["tea"],"status":"open","total":7,"who":"ann"})");
  EXPECT_EQ(document->version, SeqNr{2});
  EXPECT_EQ(document->problems, 0u);
  EXPECT_EQ(documents->get({"order", "2"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(documents->get({"invoice", "1"}).error().code, ErrorCode::not_found);
  EXPECT_THAT(documents->get({"invoice", "1"}).error().what, HasSubstr("none are defined"));
}

TEST(Documents, AreListedInOrderOfValuePagedAndFiltered) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  GlobalPosition last;
  for (int i = 0; i < 50; ++i)
    last = append(store, "order-" + std::to_string(i), "Placed", "{\"n\":" + std::to_string(i) + "}");
  append(store, "account-1", "Placed");
  const auto ask = [&](std::optional<std::string> filter, std::size_t limit) {
    return DocumentListing{.type = "order", .limit = limit, .filter = std::move(filter), .at_least = last};
  };

  EXPECT_EQ(listed(*documents, ask({}, 7)), naive(store, "order", order_spec));
  EXPECT_EQ(listed(*documents, ask("n >= 45", 3)).size(), 5u);
  EXPECT_EQ(listed(*documents, ask("status = \"closed\"", 3)).size(), 0u);
  EXPECT_EQ(documents->list(ask("n >", 3)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(documents->list(ask({}, 0)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(documents->list({.type = "nothing"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(documents->list({.type = "order", .at_least = GlobalPosition{1'000'000}, .timeout = 10ms}).error().code,
            ErrorCode::timeout);
  const auto first = documents->list(ask({}, 2));
  EXPECT_EQ(first->next, "1");
  EXPECT_GE(first->position, last);
}

TEST(Documents, RemovedAreHiddenUntilTheirNextEventAndTheEventsStay) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  append(store, "order-1", "Placed", R"({"who":"ann"})");

  ASSERT_TRUE(documents->remove({"order", "1"}));
  const auto hidden = documents->get({"order", "1"});
  const auto again = documents->remove({"order", "1"});
  append(store, "order-1", "Unknown");  // not an event of the document
  const auto still = documents->get({"order", "1"});
  const auto last = store.head().value();
  const auto none = listed(*documents, {.type = "order", .at_least = last});
  const auto shown_at = append(store, "order-1", "Added", R"({"price":3,"name":"cup"})");
  const auto back = documents->get({"order", "1"});

  EXPECT_EQ(hidden.error().code, ErrorCode::not_found);
  EXPECT_EQ(again.error().code, ErrorCode::not_found);
  EXPECT_EQ(still.error().code, ErrorCode::not_found);
  EXPECT_TRUE(none.empty());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->json, R"({"items":["cup"],"status":"open","total":3,"who":"ann"})");
  EXPECT_EQ(listed(*documents, {.type = "order", .at_least = shown_at}).size(), 1u);
  EXPECT_EQ(store.aggregate({"order", "1"})->version, SeqNr{3});
}

TEST(Documents, AChangedDefinitionMakesThemAgainAndTwoChangersDoNotBothWin) {
  auto store = memory_store();
  auto documents = documents_of(store);
  const auto first = documents->define("order", order_spec, SeqNr{0});
  ASSERT_TRUE(first);
  const auto last = append(store, "order-1", "Placed", R"({"who":"ann"})");
  ASSERT_EQ(listed(*documents, {.type = "order", .at_least = last}).size(), 1u);

  const auto changed = documents->define("order", R"({"events":{"Placed":{"set":"by","from":"who"}}})", first->version);
  const auto late = documents->define("order", order_spec, first->version);

  ASSERT_TRUE(changed);
  EXPECT_EQ(late.error().code, ErrorCode::version_conflict);
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"by":"ann"})");
  EXPECT_EQ(documents->define("order", "{}").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(documents->define("or-der", order_spec).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(documents->definitions()->size(), 1u);
  ASSERT_TRUE(documents->drop("order"));
  EXPECT_EQ(documents->get({"order", "1"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(documents->drop("order").error().code, ErrorCode::not_found);
  EXPECT_THAT(documents->drop("order").error().what, ::testing::HasSubstr("of type \"order\": none are defined"))
      << "not that of one document";
  EXPECT_TRUE(documents->definitions()->empty());
  ASSERT_TRUE(documents->define("order", order_spec));
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"status":"open","who":"ann"})");
}

TEST(Documents, AnotherDoorsDefinitionIsHeardOf) {
  auto store = memory_store();
  auto here = documents_of(store), there = documents_of(store);
  ASSERT_TRUE(here->define("order", order_spec));
  const auto last = append(store, "order-1", "Placed");

  const auto until = std::chrono::steady_clock::now() + 60s;
  Result<DocumentPage> page = there->list({.type = "order", .at_least = last});
  while (!page && std::chrono::steady_clock::now() < until) page = there->list({.type = "order", .at_least = last});

  ASSERT_TRUE(page) << page.error().what;
  EXPECT_EQ(page->documents.size(), 1u);
}

TEST(Documents, AStrictReadAfterAnAppendAlwaysSeesItAlsoUnderLoad) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  std::atomic<bool> stop{false};
  std::thread load([&] {
    std::mt19937_64 random(3);
    while (!stop) append(store, "order-busy" + std::to_string(random() % 50), "Added", R"({"price":1,"name":"x"})");
  });
  std::vector<std::thread> readers;
  std::atomic<int> wrong{0};
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&, r] {
      const std::string mine = "mine" + std::to_string(r);
      for (int i = 1; i <= 150; ++i) {
        append(store, "order-" + mine, "Added", R"({"price":2,"name":"y"})");
        const auto document = documents->get({"order", mine});
        if (!document || document->json.find("\"total\":" + std::to_string(2 * i) + "}") == std::string::npos) ++wrong;
        if (i % 50 == 0 && !documents->remove({"order", mine})) ++wrong;
        if (i % 50 == 0 && documents->get({"order", mine})) ++wrong;
      }
    });
  }
  for (auto& reader : readers) reader.join();
  stop = true;
  load.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(listed(*documents, {.type = "order", .limit = 9, .at_least = store.head().value()}),
            naive(store, "order", order_spec));
}

TEST(Documents, BrokenPayloadsAreCountedAndHarmNoOther) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  append(store, "order-1", "Placed", "\xff\xfe");
  append(store, "order-1", "Added", R"({"price":"seven","name":"tea"})");
  const auto last = append(store, "order-2", "Placed", R"({"a":1})");

  const auto document = documents->get({"order", "1"});

  ASSERT_TRUE(document);
  EXPECT_EQ(document->problems, 2u);
  EXPECT_THAT(document->last_problem, HasSubstr("position 3, Added: increment of \"total\""));
  EXPECT_EQ(document->json, R"({"items":["tea"],"status":"open"})");
  EXPECT_EQ(listed(*documents, {.type = "order", .at_least = last}), naive(store, "order", order_spec));
}

TEST(Documents, AnAggregateThatWasRemovedHasNone) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  append(store, "order-1", "Placed");
  ASSERT_TRUE(documents->get({"order", "1"}));

  ASSERT_TRUE(store.node->retention().remove({"order", "1"}, {}, {}));

  EXPECT_EQ(documents->get({"order", "1"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(listed(*documents, {.type = "order", .at_least = store.head().value()}).size(), 0u);
  EXPECT_EQ(documents->get({"order", "1"}).error().code, ErrorCode::not_found);
}

/// It is there, and what was made of its events is known: strict reads say the same as lists.
TEST(Documents, AnAggregateWhoseEventsAreTruncatedKeepsItsOwn) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  append(store, "order-1", "Placed", R"({"who":"ann"})");
  const auto added = append(store, "order-1", "Added", R"({"price":7,"name":"tea"})");
  const std::string whole = R"({"items":["tea"],"status":"open","total":7,"who":"ann"})";
  ASSERT_EQ(listed(*documents, {.type = "order", .at_least = added}).at("1"), whole);
  TruncateOptions all_of_them;
  all_of_them.uncovered = true;

  ASSERT_TRUE(store.node->retention().truncate({"order", "1"}, SeqNr{3}, all_of_them, {}));

  const auto strict = documents->get({"order", "1"});
  ASSERT_TRUE(strict) << strict.error().what;
  EXPECT_EQ(strict->json, whole);
  EXPECT_EQ(documents->get({"order", "1"}, DocumentRead::eventual)->json, whole);
  append(store, "order-1", "Closed");
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"status":"closed","total":7,"who":"ann"})");
  // To have what is left and no more: the same definition once more, and made again.
  ASSERT_TRUE(documents->define("order", order_spec));
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"status":"closed","total":7,"who":"ann"})");
  ASSERT_TRUE(documents->define("order", order_spec, {}, true));
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"status":"closed"})");
}

/// Where rows of a new definition cannot get on while `held`: whoever follows from the beginning is given nothing.
class HeldStore final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  EventFeed follow(Query query, FollowOptions options = {}) override {
    const bool from_the_beginning = options.after.value == 0;
    auto feed = to_.follow(std::move(query), options);
    if (!held || !from_the_beginning) return feed;
    std::this_thread::sleep_for(1ms);
    feed.cancel();
    return feed;
  }
  std::atomic<bool> held{false};
};

TEST(Documents, ANewDefinitionIsReadOnceItsDocumentsAreThereAndAListIsOfOne) {
  auto local = memory_store();
  HeldStore store(local);
  auto documents = documents_of(store);
  for (int i = 0; i < 4; ++i) append(store, "order-" + std::to_string(i), "Placed", R"({"who":"ann"})");
  const auto first = documents->define("order", order_spec);
  ASSERT_TRUE(first);
  const auto before =
      documents->list({.type = "order", .limit = 2, .at_least = store.head().value(), .definition = SeqNr{0}});
  ASSERT_TRUE(before) << before.error().what;
  EXPECT_EQ(before->definition, first->version);

  store.held = true;
  const auto second = documents->define("order", R"({"events":{"Placed":{"set":"by","from":"who"}}})");
  ASSERT_TRUE(second);
  const auto meanwhile = documents->list({.type = "order", .at_least = second->since});
  ASSERT_TRUE(meanwhile) << meanwhile.error().what;
  EXPECT_EQ(meanwhile->definition, first->version);
  EXPECT_EQ(meanwhile->documents.size(), 4u);
  EXPECT_EQ(meanwhile->documents[0].json, R"({"status":"open","who":"ann"})");
  EXPECT_EQ(documents->get({"order", "1"}, DocumentRead::eventual)->definition, first->version);
  EXPECT_EQ(documents->get({"order", "1"})->definition, second->version) << "strict: of all events, by the newest";
  EXPECT_EQ(documents->get({"order", "1"})->json, R"({"by":"ann"})");
  EXPECT_EQ(documents->list({.type = "order", .timeout = 20ms, .definition = second->version}).error().code,
            ErrorCode::timeout);
  const auto described = documents->describe("order");
  ASSERT_TRUE(described) << described.error().what;
  ASSERT_EQ(described->versions.size(), 2u);
  EXPECT_TRUE(described->versions[0].serving && described->versions[0].complete);
  EXPECT_EQ(described->versions[0].lag, 0u);
  EXPECT_EQ(described->versions[1].state, "building");
  EXPECT_FALSE(described->versions[1].serving);

  store.held = false;
  const auto after = documents->list({.type = "order", .definition = SeqNr{0}});
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(after->definition, second->version);
  EXPECT_EQ(after->documents.at(3).json, R"({"by":"ann"})");
  EXPECT_EQ(documents->list({.type = "order"})->definition, second->version);
  auto rest = documents->list({.type = "order", .after = before->next, .definition = before->definition});
  for (; rest; rest = documents->list({.type = "order", .after = before->next, .definition = before->definition}))
    ASSERT_EQ(rest->definition, first->version) << "as long as it is there";
  EXPECT_EQ(rest.error().code, ErrorCode::not_found);
  EXPECT_THAT(rest.error().what, HasSubstr("list them from the beginning"));
  EXPECT_EQ(documents->describe("invoice").error().code, ErrorCode::not_found);
}

TEST(Documents, TheSameDefinitionAgainIsNoNewOneUnlessTheyAreToBeMadeAgain) {
  auto store = memory_store();
  auto documents = documents_of(store);
  const auto first = documents->define("order", order_spec);
  ASSERT_TRUE(first);
  const auto other_words = documents->define("order", "  " + std::string(order_spec));
  ASSERT_TRUE(other_words);
  EXPECT_EQ(*other_words, *first);
  EXPECT_EQ(documents->define("order", order_spec, SeqNr{7}).error().code, ErrorCode::version_conflict);
  const auto again = documents->define("order", order_spec, first->version, true);
  ASSERT_TRUE(again);
  EXPECT_GT(again->version, first->version);
}

TEST(Documents, AReadMayNameWhatItMustShow) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  const auto last = append(store, "order-1", "Placed");
  for (const auto how : {DocumentRead::strict, DocumentRead::eventual}) {
    const auto shown = documents->get({"order", "1"}, how, last);
    ASSERT_TRUE(shown) << shown.error().what;
    EXPECT_EQ(shown->position, last);
    EXPECT_EQ(documents->get({"order", "1"}, how, GlobalPosition{1'000'000}, 10ms).error().code, ErrorCode::timeout);
  }
}

/// Of which rows are never told anything: strict reads fold it all.
class UnfollowedStore final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  EventFeed follow(Query, FollowOptions options = {}) override {
    return to_.follow(Query{}.types({"nobody's"}), options);
  }
};

TEST(Documents, AStrictReadSaysWhatWasTruncatedBeforeItWasRead) {
  auto local = memory_store();
  UnfollowedStore store(local);
  append(store, "order-1", "Placed", R"({"who":"ann"})");
  append(store, "order-1", "Added", R"({"price":7,"name":"tea"})");
  append(store, "order-1", "Added", R"({"price":5,"name":"cup"})");
  TruncateOptions options;
  options.uncovered = true;
  ASSERT_TRUE(local.node->retention().truncate({"order", "1"}, SeqNr{3}, options, {}));
  auto documents = documents_of(store, {.removals = true});
  ASSERT_TRUE(documents->define("order", order_spec));

  const auto document = documents->get({"order", "1"});

  ASSERT_TRUE(document) << document.error().what;
  EXPECT_EQ(document->json, R"({"items":["cup"],"total":5})");
  EXPECT_EQ(document->problems, 1u);
  EXPECT_EQ(document->last_problem, "2 events up to number 2 of the aggregate: removed before they were read here");
}

TEST(Documents, OfAnAggregateThatWasRemovedBeginAnewBehindIt) {
  auto store = memory_store();
  auto documents = documents_of(store);
  ASSERT_TRUE(documents->define("order", order_spec));
  append(store, "order-1", "Placed", R"({"who":"ann"})");
  append(store, "order-2", "Placed");
  const auto removed = append(store, "order-1", "$AggregateRemoved");
  EXPECT_EQ(documents->get({"order", "1"}).error().code, ErrorCode::not_found);
  EXPECT_EQ(listed(*documents, {.type = "order", .at_least = removed}).size(), 1u);
  EXPECT_EQ(documents->get({"order", "1"}, DocumentRead::eventual).error().code, ErrorCode::not_found);
  const auto last = append(store, "order-1", "Added", R"({"price":3,"name":"tea"})");
  const std::string anew = R"({"items":["tea"],"total":3})";
  EXPECT_EQ(documents->get({"order", "1"})->json, anew);
  EXPECT_EQ(listed(*documents, {.type = "order", .at_least = last}).at("1"), anew);
  documents.reset();
  documents = documents_of(store);  // in memory: made of the events again
  EXPECT_EQ(documents->get({"order", "1"})->json, anew);
}

TEST(DocumentsProperty, RandomHistoriesRemovalsRestartsAndChangesGiveWhatTheJournalGives) {
  const char* set = std::getenv("EVERSHARD_ROUNDS");
  const std::uint64_t rounds = set != nullptr ? std::stoull(set) : 6;
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::string name = (std::filesystem::temp_directory_path() / "evershard-documents-XXXXXX").string();
    const std::filesystem::path folder = mkdtemp(name.data());
    auto store = memory_store();
    const auto& identity = store.node->store().identity();
    const auto open = [&] {
      return documents_of(store, {.folder = folder,
                                  .owner = {identity.store, identity.fork},
                                  .engine = {.page_events_max = 1 + random() % 20}});
    };
    const char* spec = order_spec;
    auto documents = open();
    for (int step = 0; step < 120; ++step) {
      const AggregateId aggregate{random() % 4 == 0 ? "account" : "order", std::to_string(random() % 12)};
      switch (random() % 12) {
        case 0:
          documents.reset(), documents = open();
          break;
        case 1:
          (void)documents->remove(aggregate);
          break;
        case 2:
          spec =
              random() % 2 ? order_spec : R"({"events":{"Added":{"append":"all","from":"price"},"Placed":"ignore"}})";
          ASSERT_TRUE(documents->define("order", spec));
          break;
        default: {
          const char* types[] = {"Placed", "Added", "Added", "Closed", "Seen", "Unknown"};
          append(store, aggregate.text(), types[random() % 6],
                 "{\"price\":" + std::to_string(random() % 10) + ",\"name\":\"n" + std::to_string(step) + "\"}");
        }
      }
      if (random() % 8 != 0) continue;
      if (!documents->definitions()->empty()) {
        const auto model = naive(store, "order", documents->definitions()->front().spec.c_str());
        const AggregateId asked{"order", std::to_string(random() % 12)};
        const auto document = documents->get(asked);
        ASSERT_EQ(document.has_value(), model.contains(asked.value)) << asked.text();
        if (!document) continue;
        ASSERT_EQ(document->json, model.at(asked.value));
      }
    }
    ASSERT_TRUE(documents->define("order", spec));
    // The rows of the newest definition, once they are there.
    const auto until = std::chrono::steady_clock::now() + 60s;
    std::map<std::string, std::string> rows;
    const auto model = naive(store, "order", spec);
    do rows = listed(*documents, {.type = "order", .limit = 5, .at_least = store.head().value()});
    while (rows != model && std::chrono::steady_clock::now() < until);
    EXPECT_EQ(rows, model);
    documents.reset();
    std::filesystem::remove_all(folder);
    if (HasFailure()) return;
  }
}

/// A node that shows what it appended when it is waited for, and not before.
class LateNode final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  EventStream read(AggregateId aggregate, StreamOptions options = {}) override {
    options.up_to = shown_;
    return to_.read(std::move(aggregate), options);
  }
  Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout) override {
    shown_ = position;
    return to_.wait_for(position, timeout);
  }

 private:
  GlobalPosition shown_{0};
};

TEST(DefinitionsOfANodeThatIsLate, AreReadWhenTheyAreShown) {
  auto store = memory_store();
  LateNode late(store);
  Catalogue catalogue(late, "document");
  const auto created = catalogue.create("order", "document", "{}");
  ASSERT_TRUE(created) << created.error().what;
  const auto changed = catalogue.change("order", "[]");
  ASSERT_TRUE(changed) << changed.error().what;
  EXPECT_EQ(changed->newest().spec, "[]");
}

/// Whose definitions of documents cannot be followed while it says so.
class StoreWithoutDefinitions final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  EventFeed follow(Query query, FollowOptions options = {}) override {
    const auto types = query.items().empty() ? std::vector<std::string>() : query.items().front().types;
    const bool of_definitions = !types.empty() && types.front().starts_with("$Document");
    if (!of_definitions || !fails) return to_.follow(std::move(query), options);
    return EventFeed(std::make_unique<Failing>());
  }
  std::atomic<bool> fails{true};

 private:
  struct Failing final : FeedSource {
    Result<FeedItem> next(std::chrono::milliseconds) override { return refuse(ErrorCode::unavailable, "no quorum"); }
    void cancel() override {}
  };
};

// The follower tried again every 50 ms without a word, and what others defined was never hosted.
TEST(Documents, WhoCannotFollowDefinitionsSaysSoOnce) {
  auto store = memory_store();
  StoreWithoutDefinitions unfollowed(store);
  std::mutex mutex;
  std::vector<std::string> warned;
  StoreDocumentsOptions options;
  options.engine.warn = [&](const Error& error) {
    const std::lock_guard lock(mutex);
    warned.push_back(error.what);
  };
  auto documents = documents_of(unfollowed, options);
  const auto said = [&] {
    const std::lock_guard lock(mutex);
    return !warned.empty();
  };
  for (int tries = 0; tries != 3'000 && !said(); ++tries) std::this_thread::sleep_for(20ms);
  std::this_thread::sleep_for(300ms);  // for what would say it once more
  {
    const std::lock_guard lock(mutex);
    EXPECT_THAT(warned, ElementsAre(::testing::AllOf(HasSubstr("cannot be followed"), HasSubstr("no quorum"))));
  }
  unfollowed.fails = false;
  ASSERT_TRUE(documents_of(store)->define("order", order_spec));
  append(store, "order-1", "Placed", R"({"who":"ann"})");
  const auto hosted = [&] { return documents->get({"order", "1"}).has_value(); };
  for (int tries = 0; tries != 3'000 && !hosted(); ++tries) std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(hosted()) << "it goes on where it was";
}

}  // namespace
}  // namespace evershard::cluster
