#include "tests/actors/core/append_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace evershard::actors {
namespace {

const std::vector<std::string> types{"Placed", "Paid", "Sent"};
const std::vector<std::string> tags{"a", "b", "c"};
const std::vector<std::string> aggregates{"order-1", "order-2", "cart-1", "cart-2"};

AggregateId id_of(const std::string& text) { return AggregateId::parse(text).value(); }

}  // namespace

AppendWalk::AppendWalk(World world) : world_(world), random_(world.seed * 0x9E3779B97F4A7C15ull + 1) {
  open(std::make_unique<SteeredStore>(3, world_.term_mask));
}

void AppendWalk::open(std::unique_ptr<SteeredStore> store) {
  preparer_.reset();
  group_.reset();
  store_ = std::move(store);
  GroupCommit::Options options;
  options.state.recent_entries_max = world_.recent_entries_max;
  options.state.ordering.window_events_max = world_.window_events_max;
  options.batch_events_max = 6;
  options.tries_max = 64;
  preparer_ = std::make_unique<Preparer>(*store_, Limits{});
  group_ = std::make_unique<GroupCommit>(store_->recovered(), options);
  failed_.reset();
}

void AppendWalk::run() {
  for (int step = 0; step < world_.steps && !::testing::Test::HasFailure(); ++step) {
    const auto dice = roll(100);
    if (dice < 22)
      send();
    else if (dice < 45)
      take();
    else if (dice < 58)
      look_up_again();
    else if (dice < 74)
      close_and_stage();
    else if (dice < 88)
      commit();
    else if (dice < 98)
      answer_one();
    else if (world_.faults && chance(40))
      crash();
  }
  drain();
  judge_order();
}

// -- clients

Query AppendWalk::any_query() {
  if (chance(8)) return Query::all();
  QueryItem item;
  if (chance(50)) item.types.push_back(types[roll(types.size())]);
  if (item.types.empty() || chance(50)) item.tags.push_back(tags[roll(tags.size())]);
  std::vector<QueryItem> items{item};
  if (chance(20)) items.push_back({{}, {}, {id_of(aggregates[roll(aggregates.size())])}});
  return Query::of(std::move(items));
}

Append AppendWalk::any_append() {
  Append append;
  const std::size_t events = 1 + roll(3);
  for (std::size_t i = 0; i < events; ++i) {
    Event event;
    if (!chance(20)) event.aggregate = id_of(aggregates[roll(aggregates.size())]);
    event.type = types[roll(types.size())];
    if (chance(60)) event.tags.push_back(tags[roll(tags.size())]);
    event.payload = std::to_string(wanted_.size());
    append.event(std::move(event));
  }
  const std::size_t head = store_->view().watermark.value;
  if (chance(40)) {
    const auto aggregate = id_of(aggregates[roll(aggregates.size())]);
    std::uint64_t version = storage::Reader(*store_).head(store_->view(), aggregate).value().version.value;
    if (chance(40)) version += roll(3);
    append.expect(aggregate, chance(10) ? Version::exists() : Version::exactly(version));
  }
  while (chance(35) && append.conditions.size() < 3) {
    const std::size_t back = chance(70) ? roll(4) : roll(head + 1);
    append.fail_if(any_query(), GlobalPosition{chance(5) ? head + roll(4) : head - std::min(head, back)});
  }
  if (chance(15) && append.events.front().aggregate) {
    Snapshot snapshot;
    snapshot.aggregate = *append.events.front().aggregate;
    append.snapshot(std::move(snapshot));
  }
  return append;
}

void AppendWalk::send() {
  // Again: what is under way, acknowledged, or of unknown outcome; never what was refused for good.
  if (!wanted_.empty() && chance(45)) {
    const std::size_t wanted = wanted_.size() - 1 - roll(std::min<std::size_t>(wanted_.size(), 12));
    const auto& w = wanted_[wanted];
    if (w.named && !w.refused && w.sent < 4) send(wanted);
    return;
  }
  Wanted wanted;
  wanted.append = any_append();
  wanted.not_before = store_->view().watermark;
  if (chance(8) && !wanted_.empty()) {
    // Another request with ids of an earlier one: other content, or only some of them.
    const std::size_t other = roll(wanted_.size());
    if (wanted_[other].named && !wanted_[other].same_ids_as && !wanted_[other].imitated) {
      wanted_[other].imitated = true;
      wanted.same_ids_as = other;
      wanted.append = wanted_[other].append;
      wanted.append.request_id.reset();
      if (wanted.append.events.size() > 1 && chance(50))
        wanted.append.events.pop_back();
      else
        wanted.append.events.front().payload = "other";
      wanted.append.snapshots.clear();
    }
  }
  if (wanted.same_ids_as) {
    wanted.named = true;
  } else if (chance(70)) {
    wanted.named = true;
    const auto request = EventId::random();
    if (chance(50)) wanted.append.request(request);
    for (std::size_t i = 0; i < wanted.append.events.size(); ++i) {
      wanted.append.events[i].id = EventId::derived(request, static_cast<std::uint32_t>(i));
    }
  }
  wanted_.push_back(std::move(wanted));
  send(wanted_.size() - 1);
}

void AppendWalk::send(std::size_t wanted) {
  if (failed_) return;
  auto& attempt = *attempts_.emplace_back(std::make_unique<Attempt>());
  attempt.wanted = wanted;
  auto& w = wanted_[wanted];
  ++w.sent;
  ++w.open;
  Append append = w.append;
  if (w.named && append.request_id) {
    for (auto& event : append.events) event.id = EventId{};  // the store derives the same ones
  }
  auto stored = preparer_->prepare(std::move(append), attempt.prepared);
  if (!stored) return answered(attempt, refuse(stored.error()));
  if (*stored) return answered(attempt, **stored);
  ready_.push_back(&attempt);
}

// -- the committer's steps

void AppendWalk::take() {
  if (ready_.empty() || group_->full()) return;
  const std::size_t next = roll(ready_.size());
  Attempt& attempt = *ready_[next];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(next));
  Actions actions;
  group_->take(attempt, actions);
  preparer_->window_begins(group_->window_from());
  act(actions);
}

void AppendWalk::look_up_again() {
  if (again_.empty()) return;
  const std::size_t next = roll(again_.size());
  Attempt& attempt = *again_[next];
  again_.erase(again_.begin() + static_cast<std::ptrdiff_t>(next));
  seen[attempt.confirm ? "confirmed" : "looked up again"]++;
  auto stored = preparer_->look_up(attempt.prepared, attempt.confirm);
  if (!stored) return answered(attempt, refuse(stored.error()));
  if (*stored) return answered(attempt, **stored);
  ready_.push_back(&attempt);
}

void AppendWalk::close_and_stage() {
  if (!group_->any() || staged_.size() >= 2 || failed_) return;
  InFlight next;
  next.batch = group_->close();
  next.staged = store_->stage(next.batch.commit);
  staged_.push_back(std::move(next));
}

void AppendWalk::commit() {
  if (staged_.empty() || failed_) return;
  InFlight next = std::move(staged_.front());
  staged_.pop_front();
  const bool fails = world_.faults && chance(3);
  if (fails) store_->fail_commit();
  auto committed = store_->commit(*next.staged);
  if (committed) {
    committed_.push_back(std::move(next.batch));
    return;
  }
  seen["failed commits"]++;
  failed_ = committed.error();
  Actions actions;
  group_->fail(*failed_, actions);
  act(actions);
  std::deque<storage::EncodedAppend> copies;
  auto last = next.batch.commit;
  for (auto& placed : last.appends) placed.append = &copies.emplace_back(*placed.append);
  for (Ticket* ticket : next.batch.tickets)
    answered(static_cast<Attempt&>(*ticket), refuse(GroupCommit::outcome_unknown(*failed_)));
  while (!staged_.empty()) {
    for (Ticket* ticket : staged_.front().batch.tickets) {
      answered(static_cast<Attempt&>(*ticket), refuse(GroupCommit::not_written(*failed_)));
    }
    staged_.pop_front();
  }
  while (!committed_.empty()) answer_one();
  while (!ready_.empty() || !again_.empty()) {
    take();
    look_up_again();
  }
  // What a failed sync left behind may be found when the store is opened again, or not.
  const bool found = chance(50);
  next.staged.reset();  // not beyond its store
  open(store_->reopened(found ? &last : nullptr));
}

void AppendWalk::answer_one() {
  if (committed_.empty()) return;
  Batch batch = std::move(committed_.front());
  committed_.pop_front();
  Actions actions;
  if (!failed_) group_->show(batch.ends, actions);
  act(actions);
  for (std::size_t i = 0; i < batch.appends.size(); ++i)
    answered(static_cast<Attempt&>(*batch.appends[i]), batch.answer(i));
}

// Whoever waits hears nothing: what was sent is of unknown outcome, and may be sent again.
void AppendWalk::crash() {
  seen["crashes"]++;
  for (auto& attempt : attempts_) {
    if (attempt->answered) continue;
    attempt->answered = true;
    --wanted_[attempt->wanted].open;
  }
  ready_.clear();
  again_.clear();
  staged_.clear();
  committed_.clear();
  open(store_->reopened());
}

void AppendWalk::act(Actions& actions) {
  for (auto& [ticket, error] : actions.refused) answered(static_cast<Attempt&>(*ticket), refuse(std::move(error)));
  for (Ticket* ticket : actions.again) again_.push_back(static_cast<Attempt*>(ticket));
  actions.clear();
}

// I-Live: what waits is answered, if only everybody goes on.
void AppendWalk::drain() {
  const auto busy = [&] {
    return !ready_.empty() || !again_.empty() || !group_->idle() || !staged_.empty() || !committed_.empty();
  };
  for (int round = 0; busy() && round < 10'000 && !::testing::Test::HasFailure(); ++round) {
    take();
    look_up_again();
    close_and_stage();
    commit();
    answer_one();
  }
  if (::testing::Test::HasFailure()) return;
  EXPECT_FALSE(busy()) << "I-Live: something waits for ever";
  for (const auto& attempt : attempts_)
    EXPECT_TRUE(attempt->answered) << "I-Live: " << name(*attempt) << " was never answered";
}

// -- the model

std::string AppendWalk::name(const Attempt& attempt) const {
  return "seed " + std::to_string(world_.seed) + ", request " + std::to_string(attempt.wanted);
}

std::vector<RecordedEvent> AppendWalk::everything() const {
  std::vector<RecordedEvent> events;
  auto cursor = storage::Reader(*store_).open(store_->view(), Query::all(), {});
  for (std::size_t before = 1; before != events.size();) {
    before = events.size();
    EXPECT_TRUE(cursor->next(1'000, 1u << 20, events));
  }
  return events;
}

/// Whether the request stands in what is written or decided, as far as the model can see: by its first event's id.
bool AppendWalk::decided(const Wanted& wanted) const {
  const auto has = [&](const Batch& batch) {
    return std::any_of(batch.appends.begin(), batch.appends.end(),
                       [&](Ticket* t) { return &wanted_[static_cast<Attempt*>(t)->wanted] == &wanted; });
  };
  for (const auto& in_flight : staged_) {
    if (has(in_flight.batch)) return true;
  }
  for (const auto& batch : committed_) {
    if (has(batch)) return true;
  }
  if (!wanted.named) return false;
  const auto events = everything();
  return std::any_of(events.begin(), events.end(), [&](const auto& e) {
    return e.id == wanted.append.events.front().id && e.payload == wanted.append.events.front().payload;
  });
}

void AppendWalk::answered(Attempt& attempt, Result<Appended> result) {
  auto& wanted = wanted_[attempt.wanted];
  EXPECT_FALSE(attempt.answered) << name(attempt) << " was answered twice";
  attempt.answered = true;
  --wanted.open;
  if (result) {
    seen[result->duplicate ? "duplicate" : "appended"]++;
    judge(attempt, wanted, *result);
  } else {
    seen[std::string(name_of(result.error().code))]++;
    judge(attempt, wanted, result.error());
  }
}

void AppendWalk::judge(const Attempt& attempt, Wanted& wanted, const Appended& appended) {
  const auto events = everything();
  const auto& append = wanted.append;
  EXPECT_FALSE(wanted.refused) << "I-Once: " << name(attempt) << " was refused for good and is acknowledged";
  ASSERT_LE(appended.last_position.value, events.size())
      << "I-Durable: " << name(attempt) << " is acknowledged before it can be read";
  ASSERT_EQ(appended.last_position - appended.first_position + 1, append.events.size()) << name(attempt);
  EXPECT_GT(appended.first_position, wanted.not_before) << "I-RealTime: " << name(attempt);
  std::map<AggregateId, SeqNr> versions;
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto& stored = events[appended.first_position.value - 1 + i];
    EXPECT_EQ(stored.type, append.events[i].type) << "I-Together: " << name(attempt);
    EXPECT_EQ(stored.payload, append.events[i].payload) << name(attempt);
    EXPECT_EQ(stored.aggregate, append.events[i].aggregate) << name(attempt);
    EXPECT_TRUE(!wanted.named || stored.id == append.events[i].id) << name(attempt);
    if (stored.aggregate) versions[*stored.aggregate] = stored.seq_nr;
  }
  EXPECT_EQ(appended.versions.size(), versions.size()) << name(attempt);
  for (const auto& version : appended.versions)
    EXPECT_EQ(version.version, versions[version.aggregate]) << name(attempt);
  Appended told = appended;
  told.duplicate = false;
  EXPECT_EQ(wanted.told.value_or(told), told) << "I-Once: two answers to " << name(attempt);
  wanted.told = told;
}

void AppendWalk::judge(const Attempt& attempt, Wanted& wanted, const Error& error) {
  if (error.code == ErrorCode::timeout) return;  // may be there, may be not
  if (error.code == ErrorCode::io) return;
  EXPECT_FALSE(error.what.empty());
  const auto events = everything();
  if (error.code == ErrorCode::duplicate_event) {
    EXPECT_TRUE(wanted.same_ids_as || wanted.imitated) << name(attempt) << ": nobody else has its ids";
    ASSERT_TRUE(error.details && error.details->position && error.details->position->value <= events.size())
        << name(attempt);
    const auto& earlier = events[error.details->position->value - 1];
    EXPECT_TRUE(std::any_of(wanted.append.events.begin(), wanted.append.events.end(),
                            [&](const auto& e) { return e.id == earlier.id; }))
        << "I-Honest: " << name(attempt) << " is told of a position that has none of its ids";
    if (wanted.open == 0) wanted.refused = true;
    return;
  }
  EXPECT_FALSE(decided(wanted)) << "I-Once: " << name(attempt)
                                << " is stored or decided, its retry is refused: " << error.what;
  EXPECT_FALSE(wanted.told) << "I-Once: " << name(attempt) << " was acknowledged, its retry is refused: " << error.what;
  if (wanted.open == 0) wanted.refused = true;

  if (error.code == ErrorCode::overloaded) return;  // counted
  ASSERT_TRUE(error.details) << error.what;
  if (error.code == ErrorCode::version_conflict) {
    const auto actual = *error.details->actual;
    EXPECT_FALSE(error.details->expected->holds_for(actual)) << name(attempt);
    const auto readable = std::any_of(events.begin(), events.end(), [&](const auto& e) {
      return e.aggregate == error.details->aggregate && e.seq_nr == actual;
    });
    EXPECT_TRUE(readable || actual.value == 0)
        << "I-Honest: " << name(attempt) << " rests on what nobody can read: " << error.what;
  } else if (error.code == ErrorCode::condition_failed) {
    const auto& condition = wanted.append.conditions.at(*error.details->condition);
    ASSERT_LE(error.details->position->value, events.size())
        << "I-Honest: " << name(attempt) << " rests on what nobody can read";
    EXPECT_GT(*error.details->position, condition.after) << name(attempt);
    EXPECT_TRUE(condition.query.matches(events[error.details->position->value - 1]))
        << "I-Honest: " << name(attempt) << ": " << error.what;
  } else {
    ADD_FAILURE() << name(attempt) << " was answered " << error.what;
  }
}

// Everything that is stored, from the first event on.
void AppendWalk::judge_order() {
  const auto events = everything();
  std::map<AggregateId, std::uint64_t> versions;
  std::map<EventId, std::size_t> ids;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].position.value, i + 1) << "I-Dense";
    EXPECT_TRUE(ids.emplace(events[i].id, i).second) << "I-Once: an event is stored twice, seed " << world_.seed;
    const std::uint64_t version = events[i].aggregate ? ++versions[*events[i].aggregate] : 0;
    EXPECT_EQ(events[i].seq_nr.value, version) << "I-Version, seed " << world_.seed;
  }
  for (std::size_t r = 0; r < wanted_.size(); ++r) {
    const auto& wanted = wanted_[r];
    const auto& append = wanted.append;
    std::size_t first = events.size();
    if (wanted.named) {
      const auto at = ids.find(append.events.front().id);
      if (at != ids.end() && events[at->second].payload == append.events.front().payload) first = at->second;
    } else if (wanted.told) {
      first = wanted.told->first_position.value - 1;
    }
    if (first == events.size()) {
      EXPECT_FALSE(wanted.told) << "I-Durable: request " << r << " was acknowledged and is gone, seed " << world_.seed;
      continue;
    }
    if (wanted.same_ids_as || wanted.imitated) continue;  // it may be the other one that is stored
    ASSERT_LE(first + append.events.size(), events.size()) << "I-Atomic: request " << r << ", seed " << world_.seed;
    EXPECT_FALSE(wanted.refused) << "I-Once: request " << r << " was refused for good and is stored, seed "
                                 << world_.seed;
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      EXPECT_EQ(events[first + i].type, append.events[i].type)
          << "I-Together: request " << r << ", seed " << world_.seed;
    }
    for (const auto& condition : append.conditions) {
      for (std::size_t i = condition.after.value; i < first; ++i) {
        EXPECT_FALSE(condition.query.matches(events[i]))
            << "I-Condition: request " << r << " at " << first + 1 << ", seed " << world_.seed;
      }
    }
    for (const auto& expectation : append.expectations) {
      std::uint64_t version = 0;
      for (std::size_t i = 0; i < first; ++i) version += events[i].aggregate == expectation.aggregate;
      EXPECT_TRUE(expectation.version.holds_for(SeqNr{version}))
          << "I-Version: request " << r << ", seed " << world_.seed;
    }
  }
}

}  // namespace evershard::actors
