// What events make of documents: every step, what is refused, and any sequence against a naive model.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "evershard/services/indexes/document_fold.hpp"

namespace evershard::actors {
namespace {

using ::testing::HasSubstr;

struct Given {
  std::string type;
  std::string payload;
};

FoldedDocument folded(const DocumentFold& fold, const std::vector<Given>& events) {
  FoldedDocument document;
  std::uint64_t number = 0;
  for (const auto& [type, payload] : events) {
    RecordedEvent event;
    event.type = type;
    event.payload = payload;
    event.seq_nr = SeqNr(++number);
    event.position = GlobalPosition(10 * number);
    event.occurred_at = Timestamp{1'000'000};
    fold.apply(document, event, payload);
  }
  return document;
}

DocumentFold fold_of(std::string_view spec) {
  auto fold = DocumentFold::of(spec);
  EXPECT_TRUE(fold) << fold.error().what;
  return *fold;
}

TEST(DocumentFold, ARemovalClearsAndHidesAndWhatComesBehindBeginsAnew) {
  const auto fold = fold_of(R"({"events":{"A":{"merge":true},"N":{"increment":"n","by":1}}})");
  const auto removed = folded(fold, {{"A", R"({"old":1})"}, {"N", ""}, {"$AggregateRemoved", "{}"}});
  EXPECT_FALSE(removed.is_shown());
  EXPECT_EQ(removed.json(), "{}");
  const auto anew = folded(fold, {{"A", R"({"old":1})"}, {"N", ""}, {"$AggregateRemoved", "{}"}, {"N", ""}});
  EXPECT_TRUE(anew.is_shown());
  EXPECT_EQ(anew.json(), R"({"n":1})");
  EXPECT_EQ(anew.events, 1u);
}

TEST(DocumentFold, WhatIsNestedTooDeeplyIsAProblemAndNoCrash) {
  const auto fold = fold_of(R"({"events":{"A":{"merge":true},"S":{"set":"s","from":"a"}}})");
  const auto nested = [](std::size_t levels) {
    return R"({"b":"[[[[\"","a":)" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  for (const std::size_t levels : {513u, 400'000u}) {
    const auto document = folded(fold, {{"A", nested(levels)}, {"S", nested(levels)}});
    EXPECT_EQ(document.json(), "{}");
    EXPECT_EQ(document.problems, 2u);
    EXPECT_THAT(document.last_problem, HasSubstr("nested too deeply"));
  }
  EXPECT_EQ(folded(fold, {{"S", nested(500)}}).problems, 0u);
  EXPECT_THAT(DocumentFold::of(R"({"events":{"A":{"set":"a","value":)" + std::string(400'000, '[') +
                               std::string(400'000, ']') + "}}}")
                  .error()
                  .what,
              HasSubstr("nested too deeply"));
}

TEST(DocumentFold, ADocumentHasABound) {
  const auto fold =
      fold_of(R"({"events":{"A":{"append":"list","from":"x"},"S":{"set":"s","from":"x"},"R":{"remove":"list"}}})");
  const std::string mebibyte = R"({"x":")" + std::string(1u << 20, 'x') + "\"}";
  std::vector<Given> events(9, Given{"A", mebibyte});
  auto document = folded(fold, events);
  EXPECT_EQ(document.problems, 2u);
  EXPECT_THAT(document.last_problem, HasSubstr("8388608 bytes"));
  EXPECT_LT(document.json().size(), 8u << 20);
  // As long as each takes another's place there is room.
  document = folded(fold, std::vector<Given>(9, Given{"S", mebibyte}));
  EXPECT_EQ(document.problems, 0u);
  events.push_back({"R", ""});
  events.push_back({"A", mebibyte});
  document = folded(fold, events);
  EXPECT_EQ(document.problems, 2u);
  EXPECT_EQ(document.json().size(), (1u << 20) + 13);
}

TEST(DocumentFold, ATotalIsNotLostWhereItsNumbersEnd) {
  const auto fold =
      fold_of(R"({"events":{"A":{"increment":"n","from":"x"},"T":{"increment":"n","from":"x","by":1e300}}})");
  const auto document = folded(fold, {{"A", R"({"x":1e308})"}, {"A", R"({"x":1e308})"}, {"T", R"({"x":1e300})"}});
  EXPECT_EQ(document.json(), R"({"n":1e+308})");
  EXPECT_EQ(document.problems, 2u);
}

TEST(DocumentFilter, ComparesSignedWithUnsignedAsNumbers) {
  const auto fold = fold_of(R"({"events":{"A":{"merge":true}}})");
  const auto document = folded(fold, {{"A", R"({"n":-1,"u":18446744073709551615,"t":"b"})"}});
  const auto holds = [&](const char* filter) { return DocumentFilter::parse(filter)->holds(document); };
  EXPECT_FALSE(holds("n = 18446744073709551615"));
  EXPECT_TRUE(holds("n < 18446744073709551615"));
  EXPECT_TRUE(holds("u > -1"));
  EXPECT_TRUE(holds("n != 18446744073709551615"));
  EXPECT_TRUE(holds("n = -1.0"));
  EXPECT_TRUE(holds("t > \"a\""));

  const auto large = folded(fold, {{"A", R"({"d":9007199254740992.0,"w":9007199254740993,"h":-0.5,"e":1e300})"}});
  const auto large_holds = [&](const char* filter) { return DocumentFilter::parse(filter)->holds(large); };
  for (const char* text : {"d < 9007199254740993", "d = 9007199254740992", "w > 9007199254740992.0",
                           "w != 9007199254740992.0", "h < 0", "h > -1", "e > 18446744073709551615"})
    EXPECT_TRUE(large_holds(text)) << text;
}

TEST(DocumentFold, DoesWhatItsStepsSay) {
  const auto fold = fold_of(R"({"events":{
    "Placed":[{"merge":true},{"set":"status","value":"open"},{"set":"at","from":"$occurred_at"},{"set":"first","from":"$position"}],
    "Added":[{"append":"items","from":"item"},{"increment":"total","from":"item.price"},{"increment":"count","by":1},{"increment":"weight","from":"grams","by":-0.5}],
    "Moved":{"merge":"address","into":"customer.address"},
    "Shipped":[{"set":"status","value":{"now":"shipped"}},{"remove":"at"},{"remove":"customer.address.street"},{"set":["a.b","c"],"value":[1]}],
    "Seen":"ignore"}})");

  const auto document = folded(fold, {{"Placed", R"({"who":"ann","total":5})"},
                                      {"Added", R"({"item":{"name":"tea","price":7},"grams":3})"},
                                      {"Unknown", "not even JSON"},
                                      {"Added", R"({"item":{"name":"cup","price":-2.5}})"},
                                      {"Moved", R"({"address":{"street":"Main","town":"Oslo"}})"},
                                      {"Shipped", ""},
                                      {"Seen", R"({"who":"bob"})"}});

  EXPECT_EQ(
      document.json(),
      R"({"a.b":{"c":[1]},"count":2,"customer":{"address":{"town":"Oslo"}},"first":10,"items":[{"name":"tea","price":7},{"name":"cup","price":-2.5}],"status":{"now":"shipped"},"total":9.5,"weight":-1.5,"who":"ann"})");
  EXPECT_EQ(document.version, SeqNr{7});
  EXPECT_EQ(document.position, GlobalPosition{70});
  EXPECT_EQ(document.events, 6u);
  EXPECT_EQ(document.problems, 0u) << document.last_problem;
  EXPECT_EQ(FoldedDocument::decode(document.encode()).value(), document);
}

TEST(DocumentFold, LeavesOutWholeStepsThatCannotBeDoneAndSaysSo) {
  const auto fold = fold_of(
      R"({"events":{"P":{"merge":true},"I":{"increment":"a","from":"n"},"L":{"append":"a","value":1},"S":{"set":"a.b.c","value":1},"M":{"merge":"n","into":"a"}}})");
  const auto document = folded(fold, {{"P", R"({"a":"text"})"},
                                      {"I", R"({"n":1})"},
                                      {"I", R"({"n":"1"})"},
                                      {"I", "{}"},
                                      {"L", "{}"},
                                      {"S", "{}"},
                                      {"M", R"({"n":{}})"},
                                      {"P", "[1]"},
                                      {"P", "{"}});

  EXPECT_EQ(document.json(), R"({"a":"text"})");
  EXPECT_EQ(document.problems, 7u);
  EXPECT_THAT(document.last_problem, HasSubstr("position 90, P: the payload is not JSON"));
}

TEST(DocumentFold, HalfOfASurrogatePairIsNamedAndTheRestIsSet) {
  const auto fold = fold_of(R"({"events":{"P":{"merge":true}}})");
  const auto document = folded(fold, {{"P", R"({"a":"cut \ud83d","b":"\ud83d\ude00","c":1})"}});
  EXPECT_EQ(document.json(), "{\"a\":\"cut \xEF\xBF\xBD\",\"b\":\"\xF0\x9F\x98\x80\",\"c\":1}");
  EXPECT_EQ(document.problems, 1u);
  EXPECT_THAT(document.last_problem, HasSubstr("half of a surrogate pair"));
}

TEST(DocumentFold, APayloadThatIsNoJsonHarmsNoStepThatDoesNotNeedIt) {
  const auto fold = fold_of(
      R"({"events":{"P":[{"set":"status","value":"open"},{"merge":true},{"set":"who","from":"who"},{"set":"type","from":"$type"},{"increment":"n","by":2},{"append":"l","value":1},{"remove":"status"}]}})");
  for (const auto& payload : {std::string("\xff\xfe"), std::string(600, '[')}) {
    const auto document = folded(fold, {{"P", payload}});
    EXPECT_EQ(document.json(), R"({"l":[1],"n":2,"type":"P"})");
    EXPECT_EQ(document.problems, 2u);
    EXPECT_EQ(document.events, 1u);
  }
}

TEST(DocumentFold, CountsBeyondWholeNumbersWithoutOverflow) {
  const auto fold = fold_of(R"({"events":{"I":{"increment":"n","from":"by"}}})");
  EXPECT_EQ(folded(fold, {{"I", R"({"by":9223372036854775807})"}}).json(), R"({"n":9223372036854775807})");
  EXPECT_EQ(folded(fold, {{"I", R"({"by":9223372036854775807})"}, {"I", R"({"by":1})"}}).json(),
            R"({"n":9.223372036854776e+18})");
  EXPECT_EQ(folded(fold, {{"I", R"({"by":-9223372036854775808})"}, {"I", R"({"by":-1})"}}).json(),
            R"({"n":-9.223372036854776e+18})");
}

TEST(DocumentFold, ContentThatIsGoneChangesNothingAndIsCounted) {
  const auto fold = fold_of(R"({"events":{"I":{"increment":"n","by":1}}})");
  FoldedDocument document;
  RecordedEvent event;
  event.type = "I";
  event.seq_nr = SeqNr{4};
  event.position = GlobalPosition{9};
  event.state = EventState::erased;
  fold.apply(document, event, "");
  EXPECT_EQ(document.json(), "{}");
  EXPECT_EQ(document.version, SeqNr{4});
}

TEST(DocumentFold, RefusesWhatIsNoDefinition) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "not JSON"},
      {"[]", "one member, events"},
      {R"({"events":{}})", "no event type"},
      {R"({"events":{"A":"ignore"},"more":1})", "one member, events"},
      {R"({"events":{"A":"ignore","A":"ignore"}})", "comes twice"},
      {R"({"events":{"$A":"ignore"}})", "no event type of users"},
      {R"({"events":{"A":"skip"}})", "a step is an object"},
      {R"({"events":{"A":{}}})", "a step has one of"},
      {R"({"events":{"A":{"set":"a","merge":true,"value":1}}})", "in one step"},
      {R"({"events":{"A":{"set":"a"}}})", "needs either from or value"},
      {R"({"events":{"A":{"set":"a","from":"b","value":1}}})", "needs either from or value"},
      {R"({"events":{"A":{"set":"a..b","value":1}}})", "part of the path is empty"},
      {R"({"events":{"A":{"set":"","value":1}}})", "part of the path is empty"},
      {R"({"events":{"A":{"set":7,"value":1}}})", "a path is a text"},
      {R"({"events":{"A":{"set":"a","valeu":1}}})", "unknown key"},
      {R"({"events":{"A":{"remove":"a","value":1}}})", "unknown key"},
      {R"({"events":{"A":{"increment":"a"}}})", "needs from, or by"},
      {R"({"events":{"A":{"increment":"a","by":"1"}}})", "must be a number"},
      {R"({"events":{"A":{"set":"a","from":"$when"}}})", "is none of $type"},
      {R"({"events":{"A":[{"remove":"a"},{"remove":[]}]}})", "events.A[1].remove"},
  };
  for (const auto& [spec, words] : bad) {
    const auto fold = DocumentFold::of(spec);
    ASSERT_FALSE(fold) << spec;
    EXPECT_EQ(fold.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(fold.error().what, HasSubstr(words)) << spec;
  }
}

TEST(DocumentFilter, ComparesValuesOfOneKind) {
  const auto document = folded(fold_of(R"({"events":{"P":{"merge":true}}})"),
                               {{"P", R"({"n":5,"f":2.5,"s":"b","t":true,"z":null,"o":{"x":1}})"}});
  const auto holds = [&](const char* text) {
    const auto filter = DocumentFilter::parse(text);
    EXPECT_TRUE(filter) << text;
    return filter && filter->holds(document);
  };
  for (const char* text : {"n = 5", "n = 5.0", "n>4", "n <= 5", "f > 2", "s = \"b\"", "s > \"a\"", "t = true",
                           "z = null", "o.x=1", "nowhere != 1", "n != \"5\"", "o != 1"})
    EXPECT_TRUE(holds(text)) << text;
  for (const char* text : {"n = 4", "n != 5", "n < 5", "s = 5", "s < \"a\"", "t != true", "nowhere = null",
                           "nowhere < 1", "n < \"9\"", "z != null"})
    EXPECT_FALSE(holds(text)) << text;
  for (const char* text : {"", "n", "= 5", "n =", "n = open", "n = {}", "n == 5", "a..b = 1", "n = 5 AND s = 1",
                           "t > false", "z >= null", "n < true"})
    EXPECT_FALSE(DocumentFilter::parse(text)) << text;
}

TEST(DocumentFoldProperty, AnySequenceOfEventsGivesWhatANaiveModelGives) {
  const auto fold = fold_of(
      R"({"events":{"Set":{"set":"x","from":"x"},"Inc":{"increment":"n","from":"by"},"Push":{"append":"l","from":"x"},"Drop":{"remove":"x"},"Put":{"merge":"m"}}})");
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Given> events;
    std::map<std::string, std::string> model;  // name -> JSON
    std::vector<std::string> list;
    std::int64_t sum = 0;
    bool counted = false;
    FoldedDocument halfway;
    const auto count = 1 + random() % 40, cut = random() % count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string value = std::to_string(random() % 100);
      switch (random() % 6) {
        case 0:
          events.push_back({"Set", "{\"x\":" + value + "}"}), model["x"] = value;
          break;
        case 1:
          events.push_back({"Inc", "{\"by\":" + value + "}"}), sum += std::stoll(value), counted = true;
          break;
        case 2:
          events.push_back({"Push", "{\"x\":" + value + "}"}), list.push_back(value);
          break;
        case 3:
          events.push_back({"Drop", "{}"}), model.erase("x");
          break;
        case 4:
          events.push_back({"Put", "{\"m\":{\"y\":" + value + ",\"x\":" + value + "}}"}),
              model["x"] = model["y"] = value;
          break;
        default:
          events.push_back({"Other", "{\"x\":1}"});
      }
      if (i == cut) halfway = folded(fold, events);
    }
    if (counted) model["n"] = std::to_string(sum);
    if (!list.empty()) {
      std::string text;
      for (const auto& value : list) text += (text.empty() ? "[" : ",") + value;
      model["l"] = text + "]";
    }
    std::string wanted;
    for (const auto& [name, value] : model)
      wanted += std::string(wanted.empty() ? "{" : ",") + '"' + name + "\":" + value;
    wanted = wanted.empty() ? "{}" : wanted + "}";

    const auto whole = folded(fold, events);
    EXPECT_EQ(whole.json(), wanted) << seed;
    // Kept in the middle and gone on with: the same.
    auto resumed = FoldedDocument::decode(halfway.encode()).value();
    for (std::uint64_t i = cut + 1; i < count; ++i) {
      RecordedEvent event;
      event.type = events[i].type;
      event.seq_nr = SeqNr(i + 1);
      event.position = GlobalPosition(10 * (i + 1));
      fold.apply(resumed, event, events[i].payload);
    }
    EXPECT_EQ(resumed, whole) << seed;
  }
}

}  // namespace
}  // namespace evershard::actors
