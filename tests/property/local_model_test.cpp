// Local against LocalModel: random operations of every kind, one after another, with the same answers.
//
// A failure names its seed: EVERSHARD_SEED=<seed> repeats that one round, EVERSHARD_ROUNDS=<n> runs more of them.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <random>
#include <thread>

#include "evershard/local/local.hpp"
#include "tests/property/local_model.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Round {
  const char* name;
  bool durable;
  std::uint32_t shards;
};

std::ostream& operator<<(std::ostream& out, const Round& round) { return out << round.name; }

/// Tails of 64 events are full at once: sealing is meant to lag behind, and whoever appends to wait for it.
template <class Operation>
auto patiently(Operation operation) {
  auto answer = operation();
  for (int tries = 0; tries < 10'000 && !answer && answer.error().code == ErrorCode::overloaded; ++tries) {
    std::this_thread::sleep_for(2ms);
    answer = operation();
  }
  return answer;
}

/// Values small enough to meet again and again.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[below(values.size())];
  }

  AggregateId aggregate() { return {any(types_), any(values_)}; }
  EventId id() {
    EventId id;
    for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
    return id;
  }
  std::string event_type() { return any(event_types_); }
  Tag tag() { return any(tags_); }
  std::string bytes(std::size_t most) {
    std::string made(below(most + 1), '\0');
    for (auto& byte : made) byte = static_cast<char>(random_());
    return made;
  }

  Event event() {
    Event event;
    if (!one_in(6)) event.aggregate = aggregate();
    event.type = event_type();
    for (auto n = below(4); n > 0; --n) event.tags.push_back(tag());
    if (one_in(5)) event.also = {aggregate(), aggregate()};
    event.payload = bytes(one_in(20) ? 5'000 : 40);
    event.format = any(formats_);
    if (one_in(4)) event.metadata = bytes(30);
    if (one_in(2)) event.occurred_at = Timestamp{static_cast<std::int64_t>(below(1'000'000'000'000))};
    return event;
  }

  Query query() {
    if (one_in(5)) return Query::all();
    std::vector<QueryItem> items(1 + below(3));
    for (auto& item : items) {
      if (one_in(2)) item.types = {event_type(), event_type()};
      for (auto n = below(3); n > 0; --n) item.tags.push_back(tag());
      if (one_in(5) || (item.types.empty() && item.tags.empty())) item.concerning.push_back(aggregate());
    }
    return Query::of(std::move(items));
  }

  Snapshot snapshot(AggregateId of, SeqNr version) {
    Snapshot snapshot;
    snapshot.aggregate = std::move(of);
    snapshot.version = version;
    snapshot.payload = bytes(60);
    snapshot.schema_revision = static_cast<std::uint32_t>(below(3));
    if (!one_in(3)) snapshot.keep = static_cast<std::uint32_t>(below(4));
    return snapshot;
  }

 private:
  std::mt19937_64 random_;
  const std::vector<std::string> types_{"order", "Order", "x", "küche"};
  const std::vector<std::string> values_{"1", "2", "10", "-", "a/b", std::string(300, 'v')};
  const std::vector<std::string> event_types_{"Placed", "Shipped", "placed", "Paid", "P"};
  const std::vector<Tag> tags_{"a", "b", "customer:1", "customer:12", "a,b", "{", "a\x01"};
  const std::vector<PayloadFormat> formats_{PayloadFormat::unspecified, PayloadFormat::json, PayloadFormat{4'711}};
};

class LocalAgainstModel : public ::testing::TestWithParam<Round> {
 protected:
  void TearDown() override {
    streams_.clear();
    feeds_.clear();
    store_.reset();
    if (!options_.data_dir.empty()) std::filesystem::remove_all(options_.data_dir);
  }

  void start(std::uint64_t seed) {
    TearDown();
    dice_ = std::make_unique<Dice>(seed);
    model_ = std::make_unique<model::LocalModel>(GetParam().shards);
    accepted_.clear();
    last_offsets_.clear();
    options_ = {};
    options_.shards = GetParam().shards;
    options_.tail_events = 64;
    options_.block_cache_bytes = 1 << 20;
    options_.memtable_bytes = 1 << 20;
    options_.limits.page_events_max = 1 + dice_->below(9);
    if (GetParam().durable) {
      options_.data_dir =
          std::filesystem::temp_directory_path() / ("evershard-model-" + std::to_string(seed) + "-" + GetParam().name);
      std::filesystem::remove_all(options_.data_dir);
    }
    open();
  }

  void open() {
    auto store = Local::open(options_);
    ASSERT_TRUE(store) << store.error().what;
    store_ = std::make_unique<Local>(*std::move(store));
  }

  void act() {
    const auto choice = dice_->below(100);
    if (choice < 45)
      append(some_append());
    else if (choice < 49)
      append_again();
    else if (choice < 51)
      append_in_disguise();
    else if (choice < 52)
      append_from_elsewhere();
    else if (choice < 60)
      read_query();
    else if (choice < 67)
      read_stream();
    else if (choice < 72)
      look_up();
    else if (choice < 77)
      put_snapshot();
    else if (choice < 83)
      read_snapshots();
    else if (choice < 88)
      go_on_reading();
    else if (choice < 94)
      follow();
    else if (choice < 96)
      remove();
    else if (choice < 98)
      flush();
    else
      reopen();
  }

  Append some_append() {
    Append append;
    for (auto n = 1 + dice_->below(dice_->one_in(10) ? 30 : 4); n > 0; --n) append.events.push_back(dice_->event());
    if (dice_->one_in(2)) {
      if (dice_->one_in(2))
        append.request_id = dice_->id();
      else
        for (auto& event : append.events) event.id = dice_->id();
    }
    while (dice_->one_in(2)) expect(append);
    for (auto n = dice_->one_in(3) ? 1 + dice_->below(2) : 0; n > 0; --n) {
      append.fail_if(dice_->query(), GlobalPosition{std::min(somewhere(), model_->head().value)});
    }
    if (dice_->one_in(5) && append.events[0].aggregate)
      append.snapshots.push_back(dice_->snapshot(*append.events[0].aggregate, SeqNr{0}));
    return append;
  }

  void expect(Append& append) {
    const auto aggregate =
        dice_->one_in(3) || !append.events[0].aggregate ? dice_->aggregate() : *append.events[0].aggregate;
    for (const auto& expectation : append.expectations)
      if (expectation.aggregate == aggregate) return;
    const auto version = model_->aggregate(aggregate, model_->head()).version;
    const auto wrong = SeqNr{dice_->below(version.value + 3)};
    const std::vector<ExpectedVersion> choices{Version::exactly(version),
                                               Version::exactly(version),
                                               Version::exactly(version),
                                               Version::exactly(wrong),
                                               Version::any(),
                                               Version::none(),
                                               Version::exists()};
    append.expect(aggregate, dice_->any(choices));
  }

  /// Mostly near the head, where conditions hold.
  std::uint64_t somewhere() {
    const auto head = model_->head().value;
    if (dice_->one_in(3)) return dice_->below(head + 5);
    return head - std::min(head, dice_->below(10));
  }

  void append(const Append& append) {
    const auto expected = model_->append(append);
    const auto answer = patiently([&] { return store_->append(append); });
    if (expected.accepted) {
      ASSERT_TRUE(answer) << answer.error().what;
      ASSERT_EQ(answer->duplicate, expected.accepted->duplicate);
      ASSERT_TRUE(*answer == *expected.accepted)
          << answer->first_position.value << " instead of " << expected.accepted->first_position.value;
      if (append.request_id || append.events[0].id.given()) accepted_.push_back(append);
      if (!answer->duplicate) learn(*answer);
      return;
    }
    ASSERT_FALSE(answer) << "appended at " << answer->first_position.value;
    const auto& error = answer.error();
    ASSERT_TRUE(error.details) << error.what;
    const auto is_this = [&](const Error& refusal) {
      return refusal.code == error.code && *refusal.details == *error.details;
    };
    ASSERT_TRUE(std::any_of(expected.refusals.begin(), expected.refusals.end(), is_this))
        << name_of(error.code) << ": " << error.what << "; expected " << name_of(expected.refusals[0].code);
  }

  void learn(const Appended& done) {
    for (auto position = done.first_position; position <= done.last_position; ++position) {
      const auto event = store_->event_at(position);
      ASSERT_TRUE(event) << event.error().what;
      ASSERT_EQ(model_->learn(*event), "") << "at " << position.value;
      auto& last = last_offsets_[event->shard];
      ASSERT_GT(event->offset, last);
      last = event->offset;
    }
  }

  /// Its condition looks from a position that this store does not have: nothing of it is stored.
  void append_from_elsewhere() {
    Append append;
    append.events.push_back(dice_->event());
    append.fail_if(dice_->query(), model_->head() + 1 + dice_->below(5));
    const auto answer = store_->append(append);
    ASSERT_FALSE(answer) << "appended at " << answer->first_position.value;
    ASSERT_EQ(answer.error().code, ErrorCode::invalid_argument) << answer.error().what;
  }

  void append_again() {
    if (!accepted_.empty()) append(dice_->any(accepted_));
  }

  /// The same ids, but not the same request.
  void append_in_disguise() {
    if (accepted_.empty()) return;
    auto other = dice_->any(accepted_);
    switch (dice_->below(6)) {
      case 0:
        other.events.back().payload += '!';
        break;
      case 1:
        other.events.push_back(dice_->event());
        break;
      case 2:
        std::reverse(other.events.begin(), other.events.end());
        break;
      case 3:
        other.events.back().aggregate = dice_->aggregate();
        break;
      case 4:  // as a handler makes it that is called again
        if (!other.request_id) return;
        for (auto& event : other.events) event.id = dice_->id();
        break;
      default:
        other.events.erase(other.events.begin());
        break;
    }
    if (other.events.empty()) return;
    other.snapshots.clear();
    append(other);
  }

  void read_query() {
    const auto query = dice_->query();
    ReadOptions options;
    if (dice_->one_in(2)) options.after = GlobalPosition{somewhere()};
    if (dice_->one_in(3)) options.before = GlobalPosition{somewhere()};
    if (dice_->one_in(3)) options.up_to = GlobalPosition{somewhere()};
    if (dice_->one_in(3)) options.limit = dice_->below(30);
    if (dice_->one_in(3)) options.at_least = GlobalPosition{dice_->below(model_->head().value + 1)};
    if (dice_->one_in(2)) options.direction = Direction::backwards;
    if (dice_->one_in(3)) options.per_aggregate = dice_->below(4);
    if (options.per_aggregate && dice_->one_in(2)) {
      if (options.direction == Direction::forwards)
        options.per_aggregate_from = GlobalPosition{dice_->below(std::max<std::uint64_t>(options.after.value, 1))};
      else if (options.before && options.before->value < 1u << 30)
        options.per_aggregate_from = *options.before + dice_->below(5);
    }
    read(store_->read(query, options), model_->read(query, options));
  }

  void read_stream() {
    const auto aggregate = dice_->aggregate();
    StreamOptions options;
    if (dice_->one_in(2)) options.from = SeqNr{dice_->below(30)};
    if (dice_->one_in(3)) options.up_to = GlobalPosition{somewhere()};
    if (dice_->one_in(3)) options.limit = dice_->below(10);
    if (dice_->one_in(2)) options.direction = Direction::backwards;
    read(store_->read(aggregate, options), model_->read(aggregate, options));
  }

  void read(EventStream stream, std::vector<RecordedEvent> expected) {
    if (dice_->one_in(4)) {
      streams_.push_back({std::move(stream), std::move(expected), 0, false});
      ASSERT_NO_FATAL_FAILURE(advance(streams_.back(), 1));  // now it is bounded
      return;
    }
    OpenStream open{std::move(stream), std::move(expected), 0, false};
    advance(open, ~std::size_t{0});
  }

  struct OpenStream {
    EventStream stream;
    std::vector<RecordedEvent> expected;
    std::size_t next;
    bool ended;
  };

  void advance(OpenStream& open, std::size_t events) {
    for (; events > 0 && !open.ended; --events) {
      const auto event = open.stream.next();
      ASSERT_TRUE(event) << event.error().what;
      open.ended = !event->has_value();
      ASSERT_EQ(open.ended, open.next == open.expected.size()) << open.next << " of " << open.expected.size();
      if (open.ended) return;
      ASSERT_EQ(model::difference(**event, open.expected[open.next]), "")
          << (*event)->position.value << " for " << open.expected[open.next].position.value;
      ++open.next;
    }
  }

  /// Streams that stay open see what was there when they began, whatever was appended and sealed since.
  void go_on_reading() {
    for (auto& open : streams_) ASSERT_NO_FATAL_FAILURE(advance(open, dice_->below(20)));
    std::erase_if(streams_, [](const OpenStream& open) { return open.ended; });
  }

  void look_up() {
    const auto position = GlobalPosition{somewhere()};
    const auto event = store_->event_at(position);
    ASSERT_EQ(event.has_value(), position.value >= 1 && position <= model_->head());
    if (event) {
      ASSERT_EQ(model::difference(*event, model_->events()[position.value - 1]), "");
    } else {
      ASSERT_EQ(event.error().code, ErrorCode::not_found);
    }

    const auto id = dice_->aggregate();
    const auto up_to = dice_->one_in(2) ? std::optional(GlobalPosition{somewhere()}) : std::nullopt;
    const auto expected = model_->aggregate(id, up_to.value_or(model_->head()));
    const auto found = store_->aggregate(id, up_to);
    ASSERT_EQ(found.has_value(), expected.version.value > 0 && !model_->hidden(id, up_to.value_or(model_->head())));
    if (found) {
      ASSERT_TRUE(*found == expected) << found->version.value << " instead of " << expected.version.value;
    } else {
      ASSERT_EQ(found.error().code, ErrorCode::not_found);
    }

    const auto type = dice_->one_in(2) ? std::optional(id.type) : std::nullopt;
    const auto after = dice_->one_in(2) ? std::optional(dice_->aggregate()) : std::nullopt;
    const auto limit = dice_->below(20);
    const auto listed = store_->aggregates(type, after, limit);
    ASSERT_TRUE(listed) << listed.error().what;
    ASSERT_TRUE(*listed == model_->aggregates(type, after, limit));

    const auto head = store_->head();
    ASSERT_TRUE(head) << head.error().what;
    ASSERT_EQ(*head, model_->head());
  }

  void put_snapshot() {
    const auto id = dice_->aggregate();
    const auto version = model_->aggregate(id, model_->head()).version;
    const auto snapshot = dice_->snapshot(id, SeqNr{1 + dice_->below(version.value + 1)});
    const bool expected = model_->put_snapshot(snapshot);
    const auto answer = patiently([&] { return store_->put_snapshot(snapshot); });
    ASSERT_EQ(answer.has_value(), expected) << (answer ? "stored" : answer.error().what);
    if (!answer) {
      ASSERT_EQ(answer.error().code, ErrorCode::not_found);
    }
  }

  /// Truncation or removal; sometimes broken off, and finished by whatever comes next.
  void remove() {
    const auto id = dice_->aggregate();
    const auto version = model_->aggregate(id, model_->head()).version;
    const bool whole = dice_->one_in(2), hidden = model_->hidden(id, model_->head());
    const auto before = SeqNr{dice_->below(version.value + 3)};
    const bool stop = dice_->one_in(3);
    const Progress progress = [stop](std::uint64_t, std::uint64_t) { return !stop; };
    TruncateOptions options;
    options.uncovered = dice_->one_in(2);
    // What an earlier one left is done first: its last entry in the log.
    ASSERT_TRUE(store_->vacuum());
    ASSERT_NO_FATAL_FAILURE(learn_what_it_wrote());
    const auto done = whole ? store_->retention().remove_aggregate(id, options, progress)
                            : store_->retention().truncate_aggregate(id, before, options, progress);
    const auto latest = model_->latest(id);
    const bool covered = latest && latest->version + 1 >= before;
    const bool gone = whole ? hidden : hidden || before <= model_->gone_before(id);
    if (version == SeqNr{0}) {
      ASSERT_FALSE(done);
      ASSERT_EQ(done.error().code, ErrorCode::not_found);
    } else if (!whole && (before < SeqNr{2} || before > version + 1 || (!gone && !covered && !options.uncovered))) {
      ASSERT_FALSE(done);
      ASSERT_EQ(done.error().code, ErrorCode::invalid_argument) << done.error().what;
    } else if (gone) {
      ASSERT_TRUE(done) << done.error().what;
      ASSERT_EQ(done->events, 0u);
      ASSERT_EQ(done->operation, "");
    } else {
      ASSERT_TRUE(done || done.error().code == ErrorCode::cancelled) << done.error().what;
      // It may have been stopped while it waited for its turn: then nothing was ordered.
      const auto head = store_->head();
      ASSERT_TRUE(head);
      if (!done && *head == model_->head()) return;
      model_->remove(id, whole ? version + 1 : before, whole);
      // Streams and feeds that are open may have either; those that begin now have not.
      streams_.clear();
      for (auto& open : feeds_)
        open.feed = store_->follow(open.query, {.after = open.checkpoint, .page_events_max = 7});
    }
    ASSERT_NO_FATAL_FAILURE(learn_what_it_wrote());
  }

  void learn_what_it_wrote() {
    const auto head = store_->head();
    ASSERT_TRUE(head);
    for (auto position = model_->head() + 1; position <= *head; ++position) {
      auto event = store_->event_at(position);
      ASSERT_TRUE(event) << event.error().what;
      ASSERT_TRUE(event->type.starts_with('$')) << event->type;
      last_offsets_[event->shard] = event->offset;
      model_->wrote(*std::move(event));
    }
  }

  void read_snapshots() {
    const auto id = dice_->aggregate();
    check(store_->snapshot(id), model_->latest(id));
    const auto version = SeqNr{dice_->below(30)};
    check(store_->snapshot(id, version), model_->snapshot_at(id, version));
    const auto up_to = GlobalPosition{somewhere()};
    check(store_->snapshot_as_of(id, up_to), model_->snapshot_as_of(id, up_to));

    const auto all = store_->snapshots(id);
    const auto expected = model_->snapshots(id);
    ASSERT_TRUE(all) << all.error().what;
    ASSERT_EQ(all->size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(check((*all)[i], expected[i]));
      ASSERT_EQ((*all)[i].latest, i == 0);
    }
  }

  void check(const Result<std::optional<RecordedSnapshot>>& found, const std::optional<Snapshot>& expected) {
    ASSERT_TRUE(found) << found.error().what;
    ASSERT_EQ(found->has_value(), expected.has_value());
    if (expected) check(**found, *expected);
  }

  void check(const RecordedSnapshot& found, const Snapshot& expected) {
    ASSERT_EQ(found.aggregate, expected.aggregate);
    ASSERT_EQ(found.version, expected.version);
    ASSERT_EQ(found.payload, expected.payload);
    ASSERT_EQ(found.schema_revision, expected.schema_revision);
    const auto stream = model_->read(expected.aggregate, StreamOptions{.from = expected.version, .limit = 1});
    ASSERT_EQ(found.position, stream.at(0).position);
  }

  struct OpenFeed {
    Query query;
    EventFeed feed;
    GlobalPosition checkpoint;
  };

  /// A feed goes on where it was; a lost one is replaced by one that starts at its checkpoint.
  void follow() {
    if (feeds_.size() < 3) {
      auto query = dice_->query();
      const auto after = GlobalPosition{dice_->one_in(2) ? 0 : somewhere()};
      auto feed = store_->follow(query, {.after = after, .page_events_max = 1 + dice_->below(20)});
      if (after > model_->head()) {  // a position of another store
        ASSERT_EQ(feed.next(0ms).error().code, ErrorCode::invalid_argument);
        return;
      }
      feeds_.push_back({std::move(query), std::move(feed), after});
    }
    auto& open = feeds_[dice_->below(feeds_.size())];
    const auto expected = model_->read(open.query, {.after = open.checkpoint});
    const auto end = model_->head();
    ASSERT_LE(open.checkpoint, end);
    std::size_t next = 0;
    while (open.checkpoint < end || next < expected.size()) {
      const auto item = open.feed.next(0ms);
      ASSERT_TRUE(item) << item.error().what;
      ASSERT_GE(item->watermark, open.checkpoint);
      ASSERT_LE(item->watermark, end);
      open.checkpoint = item->watermark;
      for (const auto& event : item->events) {
        ASSERT_LT(next, expected.size());
        ASSERT_EQ(model::difference(event, expected[next]), "") << event.position.value;
        ASSERT_LE(event.position, item->watermark);
        ++next;
      }
      ASSERT_TRUE(next == expected.size() || expected[next].position > item->watermark)
          << "skipped " << expected[next].position.value;
    }
    const auto behind = open.feed.next(0ms);
    ASSERT_TRUE(behind) << behind.error().what;
    ASSERT_TRUE(behind->events.empty());
    if (dice_->one_in(5)) feeds_.erase(feeds_.begin() + static_cast<std::ptrdiff_t>(dice_->below(feeds_.size())));
  }

  void flush() {
    const auto flushed = store_->flush();
    ASSERT_TRUE(flushed) << flushed.error().what;
  }

  void reopen() {
    if (!GetParam().durable) return;
    store_->close();
    for (auto& open : streams_) {
      if (open.stream.next_page()) continue;
      ASSERT_EQ(open.stream.error()->code, ErrorCode::unavailable);
    }
    streams_.clear();
    for (auto& open : feeds_) ASSERT_EQ(open.feed.next(0ms).error().code, ErrorCode::unavailable);
    store_.reset();
    open();
    ASSERT_FALSE(HasFatalFailure());
    for (auto& open : feeds_) open.feed = store_->follow(open.query, {.after = open.checkpoint, .page_events_max = 7});
  }

  /// At the end, and after one more opening: everything, both ways; and nothing is wrong with it.
  void compare_all() {
    const auto report = store_->verify();
    ASSERT_TRUE(report) << report.error().what;
    ASSERT_EQ(report->errors, 0u) << report->findings.front();
    read(store_->read(Query::all()), model_->events());
    ASSERT_NO_FATAL_FAILURE(go_on_reading());
    read(store_->read(Query::all(), {.direction = Direction::backwards}),
         model_->read(Query::all(), {.direction = Direction::backwards}));
  }

  std::unique_ptr<Dice> dice_;
  std::unique_ptr<model::LocalModel> model_;
  LocalOptions options_;
  std::unique_ptr<Local> store_;
  std::vector<Append> accepted_;
  std::map<ShardId, ShardOffset> last_offsets_;
  std::vector<OpenStream> streams_;
  std::vector<OpenFeed> feeds_;
};

TEST_P(LocalAgainstModel, GivesTheSameAnswers) {
  const auto given = env("EVERSHARD_SEED");
  const auto usual = GetParam().durable ? 2 : 8;  // every seal and every opening costs syncs
  const auto rounds = !given.empty()                     ? 1
                      : !env("EVERSHARD_ROUNDS").empty() ? std::stoi(env("EVERSHARD_ROUNDS"))
                                                         : usual;
  for (int round = 0; round < rounds; ++round) {
    const auto seed = given.empty() ? std::random_device{}() : std::stoull(given);
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));

    ASSERT_NO_FATAL_FAILURE(start(seed));
    for (int operation = 0; operation < 400; ++operation) {
      SCOPED_TRACE("operation " + std::to_string(operation));
      ASSERT_NO_FATAL_FAILURE(act());
    }
    ASSERT_NO_FATAL_FAILURE(reopen());

    ASSERT_NO_FATAL_FAILURE(compare_all());
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, LocalAgainstModel,
                         ::testing::Values(Round{"memory_1_shard", false, 1}, Round{"memory_16_shards", false, 16},
                                           Round{"durable_1_shard", true, 1}, Round{"durable_5_shards", true, 5}),
                         [](const auto& round) { return std::string(round.param.name); });

}  // namespace
}  // namespace evershard
