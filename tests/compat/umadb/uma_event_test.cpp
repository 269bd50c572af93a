// UmaDB's events through ours and back.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "evershard/compat/umadb/words/uma_event.hpp"
#include "evershard/compat/umadb/words/uma_names.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard::umadb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace pb = ::umadb::v1;

constexpr const char* some_id = "01234567-89ab-4def-8123-456789abcdef";

pb::Event given(std::initializer_list<const char*> tags = {}, const char* uuid = some_id) {
  pb::Event event;
  event.set_event_type("Opened");
  event.set_data("data");
  event.set_uuid(uuid);
  for (const auto* tag : tags) event.add_tags(tag);
  return event;
}

void add(pb::Event& event, const char* key, const char* value) {
  auto& entry = *event.add_metadata();
  entry.set_key(key);
  entry.set_value(value);
}

/// As the store gives it back.
RecordedEvent stored(Event event) {
  std::sort(event.tags.begin(), event.tags.end());
  RecordedEvent made;
  made.position = GlobalPosition(7);
  made.id = event.id;
  made.type = event.type;
  made.tags = event.tags;
  made.payload = event.payload;
  made.metadata = event.metadata;
  return made;
}

/// Shown, with what it stands on.
struct Seen {
  explicit Seen(RecordedEvent of) : event(std::move(of)) {
    show(event, viewed);
    shown.show(viewed);
  }
  RecordedEvent event;
  RecordedView viewed;
  UmaEvent shown;
};

TEST(UmaEvents, ComeBackAsTheyWereGiven) {
  auto event = given({"a", "b"});
  add(event, "z", "1");
  add(event, "a", "quote \" and \n line, é");

  const Seen seen(stored(event_of(event).value()));

  EXPECT_EQ(seen.shown.position(), 7u);
  EXPECT_EQ(seen.shown.type(), "Opened");
  EXPECT_EQ(seen.shown.data(), "data");
  EXPECT_EQ(seen.shown.uuid(), some_id);
  EXPECT_THAT(seen.shown.tags(), ElementsAre("a", "b"));
  EXPECT_THAT(seen.shown.metadata(), ElementsAre(Pair("z", "1"), Pair("a", "quote \" and \n line, é")));
  EXPECT_FALSE(seen.shown.tracking());
}

TEST(UmaEvents, AddNothingWhereNothingIsToBeKept) {
  auto event = given({"a", "b"});
  EXPECT_EQ(event_of(event)->metadata, std::nullopt);
}

TEST(UmaEvents, KeepTheOrderOfTagsAndTheirRepetitions) {
  auto event = given({"originator:1", "originator-1-version:0", "originator:1"});
  const Seen seen(stored(event_of(event).value()));
  EXPECT_THAT(seen.event.tags, ElementsAre("originator-1-version:0", "originator:1"));
  EXPECT_THAT(seen.shown.tags(), ElementsAre("originator:1", "originator-1-version:0", "originator:1"));
  EXPECT_THAT(seen.shown.metadata(), IsEmpty());
}

TEST(UmaEvents, TakeAnOrderOfTagsForNoneWhereItCannotBe) {
  auto event = given({"b", "a"});
  for (const auto* order : {"5 0", "x", "0  1", "-1", "18446744073709551616"}) {
    auto made = stored(event_of(event).value());
    made.tags = {"a", "b"};
    made.metadata = std::string(R"({"evershard-tag-order":")") + order + "\"}";
    EXPECT_THAT(Seen(made).shown.tags(), ElementsAre("a", "b")) << order;
  }
}

TEST(UmaEvents, HaveNoIdWhereNoneWasGiven) {
  auto event = given({}, "");
  const Seen seen(stored(event_of(event).value()));
  EXPECT_TRUE(seen.event.id.given());
  EXPECT_EQ(seen.shown.uuid(), "");
}

TEST(UmaEvents, MayAllHaveTheNilId) {
  const auto* nil = "00000000-0000-0000-0000-000000000000";
  auto one = given({}, nil), other = given({}, nil);
  const Seen first(stored(event_of(one).value())), second(stored(event_of(other).value()));
  EXPECT_NE(first.event.id, second.event.id);
  EXPECT_EQ(first.shown.uuid(), nil);
}

TEST(UmaEvents, ShowTheIdThatTheyCameWithWhereItWasTaken) {
  for (const bool with_metadata : {false, true}) {
    auto event = given();
    if (with_metadata) add(event, "k", "v");
    auto made = event_of(event).value();
    give_other_id(made);
    const Seen seen(stored(made));
    EXPECT_NE(seen.event.id.text(), some_id);
    EXPECT_EQ(seen.shown.uuid(), some_id);
    EXPECT_EQ(seen.shown.metadata().size(), with_metadata ? 1u : 0u);
  }
}

TEST(UmaEvents, CarryTrackingInfoThatIsNeitherTagNorMetadata) {
  auto event = given({"b", "a"});
  const Tracking tracking{"upstream", 41};
  const Seen seen(stored(event_of(event, &tracking).value()));
  EXPECT_THAT(seen.event.tags, ElementsAre("a", "b", "evershard-tracking-position:41", "evershard-tracking:upstream"));
  EXPECT_THAT(seen.shown.tags(), ElementsAre("b", "a"));
  EXPECT_THAT(seen.shown.metadata(), IsEmpty());
  ASSERT_TRUE(seen.shown.tracking());
  EXPECT_EQ(*seen.shown.tracking(), std::pair(std::string_view("upstream"), std::uint64_t{41}));
}

TEST(UmaEvents, DoNotShowWhereAnImportStands) {
  auto event = given({"b"});
  auto made = stored(event_of(event).value());
  made.tags = {"b", "evershard-import-position:9", "evershard-import:umadb://there"};
  EXPECT_THAT(Seen(made).shown.tags(), ElementsAre("b"));
}

TEST(UmaEvents, OfAggregatesSayWhoseTheyAre) {
  auto event = given();
  auto made = stored(event_of(event).value());
  made.aggregate = AggregateId{"order", "1-2"};
  made.seq_nr = SeqNr(3);
  made.metadata = R"({"user":"ann"})";
  EXPECT_THAT(Seen(made).shown.metadata(), ElementsAre(Pair("user", "ann"), Pair("evershard-aggregate", "order-1-2"),
                                                       Pair("evershard-seq-nr", "3")));
}

TEST(UmaEvents, ThatWereReadAndAppendedAgainKeepWhatTheySaid) {
  auto event = given();
  add(event, "evershard-aggregate", "order-1");
  add(event, "evershard-seq-nr", "3");
  EXPECT_THAT(Seen(stored(event_of(event).value())).shown.metadata(),
              ElementsAre(Pair("evershard-aggregate", "order-1"), Pair("evershard-seq-nr", "3")));
}

TEST(UmaEvents, ShowMetadataOfAnyKind) {
  auto event = given();
  auto made = stored(event_of(event).value());
  const auto pairs = [&](std::string_view metadata) {
    made.metadata = metadata;
    std::vector<std::pair<std::string, std::string>> pairs;
    const Seen seen(made);
    for (const auto& [key, value] : seen.shown.metadata()) pairs.emplace_back(key, value);
    return pairs;
  };
  EXPECT_THAT(pairs(R"({ "n": 12.50, "o": {"a":[1,true]}, "z": null, "t": "x" })"),
              ElementsAre(Pair("n", "12.50"), Pair("o", R"({"a":[1,true]})"), Pair("z", "null"), Pair("t", "x")));
  EXPECT_THAT(pairs("[1]"), ElementsAre(Pair("metadata", "[1]")));
  EXPECT_THAT(pairs("plain text"), ElementsAre(Pair("metadata", "plain text")));
  EXPECT_THAT(pairs("\xff"), ElementsAre(Pair("metadata", "/w==")));
  EXPECT_THAT(pairs(R"({"a":"1","a":"2"})"), ElementsAre(Pair("metadata", R"({"a":"1","a":"2"})")));
  EXPECT_THAT(pairs("{}"), IsEmpty());
}

TEST(UmaEvents, AreRefusedWhereTheyCannotBeKept) {
  const auto why = [](pb::Event event) {
    const auto made = event_of(event);
    EXPECT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::invalid_argument);
    return made.error().what;
  };
  EXPECT_THAT(why(given({}, "no-uuid")), HasSubstr("\"no-uuid\" is no UUID"));
  EXPECT_THAT(why(given({"evershard-tracking:me"})), HasSubstr("own use"));
  EXPECT_THAT(why(given({"evershard-import:me"})), HasSubstr("own use"));
  auto event = given();
  add(event, "evershard-tracking-position", "1");
  EXPECT_THAT(why(event), HasSubstr("own use"));
  event = given();
  add(event, "k", "1");
  add(event, "k", "2");
  EXPECT_THAT(why(event), HasSubstr("duplicate keys"));
}

TEST(UmaEvents, AreTrackedUnderNamesThatATagCanHold) {
  EXPECT_TRUE(check(Tracking{"s", 1}));
  EXPECT_FALSE(check(Tracking{"", 1}));
  EXPECT_TRUE(check(Tracking{std::string(236, 's'), 1}));
  EXPECT_FALSE(check(Tracking{std::string(237, 's'), 1}));
}

}  // namespace
}  // namespace evershard::umadb
