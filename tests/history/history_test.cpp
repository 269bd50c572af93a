// The checker of histories: one that is whole passes, and each single fault in it is found.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/history/history.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Requests one after the other, answered as a store that does everything right would.
class HistoryFaults : public ::testing::Test {
 protected:
  HistoryFaults() {
    accept(Append().event("order-1", "Placed", "a1", {"name:joe"}).expect("order-1", Version::none()));  // 1
    accept(Append()
               .event("order-2", "Placed", "b1", {"x"})
               .event("account-1", "Charged", "b2")
               .event("order-2", "Paid", "b3"));                                                    // 2, 3, 4
    accept(Append().event("order-1", "Paid", "c1", {"x"}).expect("order-1", Version::exactly(1)));  // 5
    accept(Append()
               .event("order-3", "Placed", "d1", {"name:ann"})
               .fail_if(Query().tags({"name:ann"}), GlobalPosition{0}));  // 6
    ErrorDetails broken;
    broken.condition = 0;
    broken.position = GlobalPosition{1};
    reject(
        Append().event("order-4", "Placed", "e1", {"name:joe"}).fail_if(Query().tags({"name:joe"}), GlobalPosition{0}),
        Error(ErrorCode::condition_failed, "joe is taken", broken));
    ErrorDetails old;
    old.aggregate = AggregateId{"order", "1"};
    old.actual = SeqNr{2};
    reject(Append().event("order-1", "Paid", "f1").expect("order-1", Version::exactly(1)),
           Error(ErrorCode::version_conflict, "order-1 is at 2", old));
    read(Query::all(), {.at_least = GlobalPosition{6}}, {1, 2, 3, 4, 5, 6});
    read(Query().tags({"x"}), {.after = GlobalPosition{2}}, {5});
    history.follows.push_back(
        {Query().types({"Placed"}), GlobalPosition{0}, GlobalPosition{6}, {log[0], log[1], log[5]}});
  }

  void store(const Append& append) {
    const auto first = log.size() + 1;
    for (std::size_t i = 0; i != append.events.size(); ++i) {
      RecordedEvent event;
      event.position = GlobalPosition{first + i};
      event.aggregate = append.events[i].aggregate;
      event.type = append.events[i].type;
      event.tags = append.events[i].tags;
      event.payload = append.events[i].payload;
      event.seq_nr = ++versions_[event.aggregate->text()];
      log.push_back(event);
    }
  }
  void accept(Append append) {
    HistoryAppend asked;
    asked.began = ++now;
    Appended done;
    done.first_position = GlobalPosition{log.size() + 1};
    store(append);
    done.last_position = GlobalPosition{log.size()};
    for (const auto& event : append.events) {
      if (std::ranges::find(done.versions, *event.aggregate, &AggregateVersion::aggregate) == done.versions.end())
        done.versions.push_back({*event.aggregate, versions_[event.aggregate->text()]});
    }
    asked.append = std::move(append);
    asked.acknowledged = std::move(done);
    asked.ended = ++now;
    history.appends.push_back(std::move(asked));
  }
  void reject(Append append, Error error) {
    HistoryAppend asked;
    asked.append = std::move(append);
    asked.began = ++now;
    asked.refused = std::move(error);
    asked.ended = ++now;
    history.appends.push_back(std::move(asked));
  }
  void read(Query query, ReadOptions options, const std::vector<std::size_t>& positions) {
    HistoryRead seen{std::move(query), options, ++now, 0, GlobalPosition{log.size()}, {}};
    for (const auto position : positions) seen.events.push_back(log[position - 1]);
    seen.ended = ++now;
    history.reads.push_back(std::move(seen));
  }
  Appended& acknowledged(std::size_t request) { return *history.appends[request].acknowledged; }
  [[nodiscard]] std::vector<std::string> faults() const { return faults_of(history, log); }
  void refuse_with(std::size_t request, ErrorDetails details) {
    auto& error = *history.appends[request].refused;
    error = Error(error.code, error.what, std::move(details));
  }

  History history;
  std::vector<RecordedEvent> log;
  Moment now = 0;

 private:
  std::map<std::string, SeqNr> versions_;
};

TEST_F(HistoryFaults, AreNoneWhereThereAreNone) { EXPECT_THAT(faults(), IsEmpty()); }

TEST_F(HistoryFaults, AHoleInTheOrder) {
  log.back().position = GlobalPosition{7};
  EXPECT_THAT(faults(), ::testing::Contains(HasSubstr("I-Dense: event 6")));
}

TEST_F(HistoryFaults, AnAcknowledgedEventThatIsGone) {
  log.pop_back();
  history.reads.clear();
  history.follows.clear();
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Durable: acknowledged at position 6 and not there")));
}

TEST_F(HistoryFaults, AnAppendElsewhereThanWasSaid) {
  acknowledged(3).first_position = acknowledged(3).last_position = GlobalPosition{5};
  EXPECT_THAT(faults(), ::testing::Contains(
                            HasSubstr("I-Durable: acknowledged at position 5 to position 5, it stands at position 6")));
}

TEST_F(HistoryFaults, AnEventStoredTwice) {
  log.push_back(log[5]);
  log.back().position = GlobalPosition{7};
  log.back().seq_nr = SeqNr{2};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Once: position 7 holds \"d1\" once more")));
}

TEST_F(HistoryFaults, AnEventOfNobody) {
  log.push_back(log[5]);
  log.back().position = GlobalPosition{7};
  log.back().seq_nr = SeqNr{2};
  log.back().payload = "whose?";
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Once: position 7 holds \"whose?\", which nobody sent")));
}

TEST_F(HistoryFaults, AnAppendInPart) {
  Append append = Append().event("order-8", "Placed", "g1").event("order-9", "Placed", "g2");
  history.appends.push_back({append, ++now, 0});
  append.events.pop_back();
  store(append);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Atomic: 1 of 2 events are there, of request \"g1\"")));
}

TEST_F(HistoryFaults, AnUnknownOutcomeIsNone) {
  const Append append = Append().event("order-8", "Placed", "g1").event("order-9", "Placed", "g2");
  history.appends.push_back({append, ++now, 0});
  EXPECT_THAT(faults(), IsEmpty()) << "not there";
  store(append);
  EXPECT_THAT(faults(), IsEmpty()) << "there";
}

TEST_F(HistoryFaults, AnAppendThatIsTornApart) {
  std::swap(log[3].payload, log[4].payload);
  std::swap(log[3].type, log[4].type);
  EXPECT_THAT(faults(), ::testing::Contains(HasSubstr("I-Together: \"b3\" stands at position 5")));
}

TEST_F(HistoryFaults, AVersionThatWasNotMade) {
  acknowledged(1).versions[0].version = SeqNr{3};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Version: order-2 was said to be at 3, it is at 2")));
}

TEST_F(HistoryFaults, AnExpectationThatDoesNotHoldWhereItStands) {
  history.appends[2].append.expectations[0].version = Version::exactly(2);
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("I-Version: order-1 was at 1 where request \"c1\" stands, it expects 2")));
}

TEST_F(HistoryFaults, AConditionThatDoesNotHoldWhereItStands) {
  accept(
      Append().event("order-5", "Placed", "h1", {"name:ann"}).fail_if(Query().tags({"name:ann"}), GlobalPosition{5}));
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr(
                  "I-Condition: position 6 matches a condition of request \"h1\", which stands at position 7")));
  history.appends.back().append.conditions[0].after = GlobalPosition{6};
  EXPECT_THAT(faults(), IsEmpty());
  history.appends.back().append.conditions[0] = {Query().types({"Paid"}), GlobalPosition{4}};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Condition: position 5 matches")));
}

TEST_F(HistoryFaults, AnOrderAgainstTime) {
  history.appends[0].began = ++now;
  history.appends[0].ended = ++now;
  EXPECT_THAT(faults(),
              ::testing::Contains(HasSubstr(
                  "I-RealTime: request \"a1\" stands at position 1, it began after position 6 was acknowledged")));
}

TEST_F(HistoryFaults, ARefusalWithoutAWitness) {
  ErrorDetails other;
  other.condition = 0;
  other.position = GlobalPosition{6};
  refuse_with(4, other);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Honest: position 6 breaks no condition of request \"e1\"")));
  refuse_with(4, {});
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Honest: no condition and position are named")));
}

TEST_F(HistoryFaults, ARefusalByWhatCameLater) {
  history.appends[4].ended = history.appends[4].began = 0;
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("I-Honest: position 1 was asked for after request \"e1\" was refused by it")));
}

TEST_F(HistoryFaults, ARefusalByAVersionThatNeverWas) {
  ErrorDetails wrong;
  wrong.aggregate = AggregateId{"order", "1"};
  wrong.actual = SeqNr{3};
  refuse_with(5, wrong);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Honest: order-1 was never at 3")));
}

TEST_F(HistoryFaults, ARefusalByAVersionOfThePast) {
  ErrorDetails old;
  old.aggregate = AggregateId{"order", "1"};
  old.actual = SeqNr{1};
  reject(Append().event("order-1", "Paid", "i1").expect("order-1", Version::none()),
         Error(ErrorCode::version_conflict, "order-1 is at 1", old));
  EXPECT_THAT(
      faults(),
      ElementsAre(HasSubstr("I-Honest: order-1 was beyond 1 at position 5, acknowledged before request \"i1\" began")));
}

TEST_F(HistoryFaults, ARefusalOfWhatHolds) {
  history.appends[5].append.expectations[0].version = Version::exactly(2);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Honest: the version named is as expected")));
}

TEST_F(HistoryFaults, ARefusedAppendThatIsThere) {
  store(history.appends[4].append);
  EXPECT_THAT(faults(), ::testing::Contains(HasSubstr("I-Honest: refused and there, at position 7, request \"e1\"")));
}

TEST_F(HistoryFaults, ARefusalThatIsNone) {
  history.appends[4].refused->code = ErrorCode::duplicate_event;
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-Honest: request \"e1\" was refused with duplicate_event")));
}

TEST_F(HistoryFaults, AReadThatSkips) {
  auto& events = history.reads[0].events;
  events.erase(events.begin() + 2);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a read up to position 6 skips position 3")));
}

TEST_F(HistoryFaults, AReadThatEndsEarly) {
  history.reads[0].events.pop_back();
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a read up to position 6 skips position 6")));
  history.reads[0].watermark = GlobalPosition{5};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a read that waits for position 6 is bounded by position 5")));
}

TEST_F(HistoryFaults, AReadThatGoesBeyondItsBound) {
  history.reads[1].options.up_to = GlobalPosition{4};
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a read up to position 4 goes on with position 5")));
}

TEST_F(HistoryFaults, AReadOfWhatIsNotThere) {
  history.reads[1].events[0].payload = "other";
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a read has at position 5 what is not there")));
  history.reads[1].events[0] = log[4];
  history.reads[1].watermark = GlobalPosition{9};
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("I-Durable: a read is bounded by position 9, the log ends with position 6")));
}

TEST_F(HistoryFaults, AReadOfTheFuture) {
  history.reads[1].ended = 0;
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-RealTime: a read found position 5 before it was asked for")));
}

TEST_F(HistoryFaults, ASubscriptionThatSkipsOrDoubles) {
  auto& events = history.follows[0].events;
  events.insert(events.begin() + 1, events[0]);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a subscription")));
  events.erase(events.begin(), events.begin() + 2);
  EXPECT_THAT(faults(), ElementsAre(HasSubstr("I-NoSkip: a subscription up to position 6 skips position 1")));
}

}  // namespace
}  // namespace evershard::testing
