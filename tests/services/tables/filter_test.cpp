// Filter expressions: how they are read, what they find, what is wrong with them.

#include "evershard/services/tables/filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "evershard/storage/index/read_work.hpp"

namespace evershard::actors {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using namespace std::string_literals;

const TableSchema people{"people",
                         {{"name", FieldType::text, FieldRole::key},
                          {"age", FieldType::integer, FieldRole::index, true},
                          {"height", FieldType::number, FieldRole::normal, true},
                          {"member", FieldType::boolean, FieldRole::normal, true},
                          {"born", FieldType::time, FieldRole::normal, true},
                          {"photo", FieldType::bytes, FieldRole::normal, true},
                          {"notes", FieldType::json, FieldRole::normal, true}}};

std::string truth_of(std::string_view filter, const std::vector<TableValue>& row,
                     const std::map<std::string, TableValue>& parameters = {}) {
  const auto tree = parse_filter(filter);
  if (!tree) return tree.error().what;
  const auto bound = Filter::bind(*tree, people, parameters);
  if (!bound) return bound.error().what;
  const RowLayout layout(people);
  const std::string bytes = layout.encode(row);
  const auto truth = bound->evaluate(RowView(layout, bytes));
  if (!truth) return truth.error().what;
  switch (*truth) {
    case Truth::no:
      return "no";
    case Truth::yes:
      return "yes";
    case Truth::unknown:
      break;
  }
  return "unknown";
}

const std::vector<TableValue> ann{
    "ann", 41, 1.75, true, *Timestamp::parse("1985-04-12T23:20:50.52Z"), "\x00\xff"s, R"({"likes":"tea"})"};
const std::vector<TableValue> nobody{"", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};

std::string read_as(std::string_view filter) {
  const auto tree = parse_filter(filter);
  return tree ? text_of(*tree) : tree.error().what;
}

TEST(FilterText, BindsNotBeforeAndBeforeOr) {
  EXPECT_EQ(truth_of("NOT member OR member", ann), "yes");
  EXPECT_EQ(truth_of("NOT (member OR member)", ann), "no");
  EXPECT_EQ(truth_of("member OR member AND age = 0", ann), "yes");
  EXPECT_EQ(truth_of("(member OR member) AND age = 0", ann), "no");
  EXPECT_EQ(truth_of("NOT age = 0 AND member", ann), "yes");
  EXPECT_EQ(truth_of("NOT age = 0 OR age = 41", ann), "yes");
  EXPECT_EQ(truth_of("NOT age = 41 AND age = 0", ann), "no");
  EXPECT_EQ(truth_of("NOT NOT member", ann), "yes");
  EXPECT_EQ(read_as("not a = 1 or b = 2 and c = 3"), "NOT a = 1 OR b = 2 AND c = 3");
  EXPECT_EQ(read_as("not (a = 1 or b = 2) and c = 3"), "NOT (a = 1 OR b = 2) AND c = 3");
  EXPECT_EQ(read_as("a not in (1) and not b like 'x'"), "NOT a IN (1) AND NOT b LIKE 'x'");
}

TEST(FilterText, ComparesEveryType) {
  for (const auto& [filter, expected] :
       std::vector<std::pair<std::string, std::string>>{{"age = 41", "yes"},
                                                        {"age != 41", "no"},
                                                        {"age <> 40", "yes"},
                                                        {"age < 41", "no"},
                                                        {"age <= 41", "yes"},
                                                        {"age > -1", "yes"},
                                                        {"age >= 42", "no"},
                                                        {"age = 41.0", "yes"},
                                                        {"age < 41.5", "yes"},
                                                        {"age = 1e300", "no"},
                                                        {"age > -1e300", "yes"},
                                                        {"height = 1.75", "yes"},
                                                        {"height > 1", "yes"},
                                                        {"height < 2", "yes"},
                                                        {"height < age", "yes"},
                                                        {"age > height", "yes"},
                                                        {"name = 'ann'", "yes"},
                                                        {"name = \"ann\"", "yes"},
                                                        {"name < 'b'", "yes"},
                                                        {"name = name", "yes"},
                                                        {"member", "yes"},
                                                        {"member = true", "yes"},
                                                        {"member != FALSE", "yes"},
                                                        {"born = '1985-04-12T23:20:50.52Z'", "yes"},
                                                        {"born < '1985-04-13T00:00:00+00:00'", "yes"},
                                                        {"photo = x'00ff'", "yes"},
                                                        {"photo CONTAINS x'ff'", "yes"},
                                                        {"photo > X'00'", "yes"},
                                                        {"notes = '{\"likes\":\"tea\"}'", "yes"},
                                                        {"notes CONTAINS 'tea'", "yes"},
                                                        {"age IN (1, 41)", "yes"},
                                                        {"age NOT IN (1, 2)", "yes"},
                                                        {"name IN ('x')", "no"},
                                                        {"age IS NULL", "no"},
                                                        {"age IS NOT NULL", "yes"}}) {
    EXPECT_EQ(truth_of(filter, ann), expected) << filter;
  }
}

TEST(FilterText, NullIsUnknown) {
  for (const auto& [filter, expected] :
       std::vector<std::pair<std::string, std::string>>{{"age = 1", "unknown"},
                                                        {"age != 1", "unknown"},
                                                        {"NOT age = 1", "unknown"},
                                                        {"age IN (1)", "unknown"},
                                                        {"age NOT IN (1)", "unknown"},
                                                        {"member", "unknown"},
                                                        {"notes LIKE '%'", "unknown"},
                                                        {"notes =~ ''", "unknown"},
                                                        {"age = height", "unknown"},
                                                        {"age IS NULL", "yes"},
                                                        {"age IS NOT NULL", "no"},
                                                        {"age = 1 OR name = ''", "yes"},
                                                        {"age = 1 AND name = 'x'", "no"},
                                                        {"age = 1 AND name = ''", "unknown"},
                                                        {"age = 1 OR name = 'x'", "unknown"},
                                                        {"NOT (age = 1 AND name = 'x')", "yes"}}) {
    EXPECT_EQ(truth_of(filter, nobody), expected) << filter;
  }
  EXPECT_EQ(truth_of("age = :age", ann, {{"age", nullptr}}), "unknown");
  EXPECT_EQ(truth_of("age IN (:age, 41)", ann, {{"age", nullptr}}), "yes");
  EXPECT_EQ(truth_of("age IN (:age, 40)", ann, {{"age", nullptr}}), "unknown");
}

TEST(FilterText, ComparesWholeNumbersAndDoublesExactly) {
  std::vector<TableValue> row = ann;
  row[1] = std::int64_t{9'007'199'254'740'993};  // 2^53 + 1 is no double
  row[2] = 9'007'199'254'740'992.0;
  EXPECT_EQ(truth_of("age = 9007199254740992.0", row), "no");
  EXPECT_EQ(truth_of("age > height", row), "yes");
  EXPECT_EQ(truth_of("height = 9007199254740993", row), "no");
  EXPECT_EQ(truth_of("height < 9007199254740993", row), "yes");
  row[1] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(truth_of("age < 9223372036854775808.0", row), "yes");
}

TEST(FilterText, KnowsPatterns) {
  for (const auto& [pattern, expected] : std::vector<std::pair<std::string, std::string>>{{"'ann'", "yes"},
                                                                                          {"'a%'", "yes"},
                                                                                          {"'%n'", "yes"},
                                                                                          {"'%'", "yes"},
                                                                                          {"'%%'", "yes"},
                                                                                          {"'a_n'", "yes"},
                                                                                          {"'___'", "yes"},
                                                                                          {"'__'", "no"},
                                                                                          {"'____'", "no"},
                                                                                          {"'%x%'", "no"},
                                                                                          {"'a%n%n'", "yes"},
                                                                                          {"'a%nn%n'", "no"},
                                                                                          {"''", "no"},
                                                                                          {"'A%'", "no"},
                                                                                          {"'%_nn'", "yes"},
                                                                                          {"'a\\%'", "no"}}) {
    EXPECT_EQ(truth_of("name LIKE " + pattern, ann), expected) << pattern;
  }
  std::vector<TableValue> row = ann;
  row[0] = "50% é_x";
  for (const char* pattern : {"'50\\%%'", "'%é\\_x'", "'50% __x'", "'%_\\_x'"})
    EXPECT_EQ(truth_of("name LIKE "s + pattern, row), "yes") << pattern;
  EXPECT_EQ(truth_of("name CONTAINS 'nn'", ann), "yes");
  EXPECT_EQ(truth_of("name CONTAINS ''", ann), "yes");
  EXPECT_EQ(truth_of("name NOT CONTAINS 'x'", ann), "yes");
  EXPECT_EQ(truth_of("name =~ '^a.*n$'", ann), "yes");
  EXPECT_EQ(truth_of("name =~ 'N'", ann), "no");
  EXPECT_EQ(truth_of("name =~ '(?i)N'", ann), "yes");
}

TEST(FilterText, TakesNoLongerForAHostilePattern) {
  std::vector<TableValue> row = ann;
  row[0] = std::string(100'000, 'a');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(truth_of("name =~ '(a*)*(a*)*(a*)*b'", row), "no");
  EXPECT_EQ(truth_of("name LIKE '%a%a%a%a%a%a%a%a%a%a%b'", row), "no");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(FilterText, TakesParameters) {
  EXPECT_EQ(truth_of("age = :age AND name = ?1", ann, {{"age", 41}, {"1", "ann"}}), "yes");
  EXPECT_EQ(truth_of("born = :born", ann, {{"born", *Timestamp::parse("1985-04-12T23:20:50.52Z")}}), "yes");
  EXPECT_EQ(truth_of("photo = :p", ann, {{"p", "\x00\xff"s}}), "yes");
  EXPECT_THAT(truth_of("age = :age", ann), HasSubstr("at byte 6: the parameter \"age\" is not given"));
  EXPECT_THAT(truth_of("age = 1", ann, {{"age", 41}}), HasSubstr("no parameter \"age\""));
  EXPECT_THAT(truth_of("age = :age", ann, {{"age", "41"}}),
              EndsWith("\"age\" is of type integer, and is not compared with \"41\""));
  EXPECT_THAT(truth_of("name = :name", ann, {{"name", 7}}),
              EndsWith("\"name\" is of type text, and is not compared with 7: a text stands in quotes, \"7\""));
  EXPECT_EQ(text_of(parse_filter("a = :1end AND b = ?1").value()), "a = :1end AND b = ?1");
}

TEST(FilterText, NamesTheByteThatIsWrong) {
  for (const auto& [filter, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "at byte 0: expected a field, NOT or (, found the end"},
           {"age = ", "at byte 6: expected a value, found the end"},
           {"age = 1 member", "at byte 8: expected AND, OR or the end, found \"member\""},
           {"age = 1 AND OR", "at byte 12: expected a field"},
           {"(age = 1", "at byte 8: expected ), AND or OR, found the end"},
           {"age = 1)", "at byte 7: expected AND, OR or the end"},
           {"age == 1", "at byte 5: expected a value"},
           {"age = NULL", "at byte 6: nothing is equal to NULL: write IS NULL"},
           {"age IN ()", "at byte 8: expected a value"},
           {"age IN (1", "at byte 9: expected , or )"},
           {"age NOT 1", "at byte 8: expected IN, LIKE or CONTAINS"},
           {"name = 'ann", "at byte 7: the text that begins here has no end"},
           {"name ~ 'x'", "at byte 5: \"~\" means nothing here"},
           {"größe = 1", "at byte 2: \"ö\" means nothing here"},
           {"age = 1x", "at byte 6: \"1x\" is no number"},
           {"age = :", "at byte 6: a parameter is :name or ?1"},
           {"5 = age", "at byte 0: expected a field"},
           {"photo = x'0'", "at byte 8: bytes are two hex digits each"},
           {"agee = 1", "at byte 0: table \"people\" has no field \"agee\"; its fields are name, age"},
           {"age LIKE '4%'", "at byte 0: field \"age\" is of type integer, which has no patterns"},
           {"name =~ '('", "at byte 8: \"(\" is no regular expression"},
           {"name LIKE 'a\\'", "it ends with a backslash"},
           {"born = 'yesterday'", "is no time"},
           {"notes < 'a'", "which has no order"},
           {"name AND member", "a comparison is missing behind it"},
           {"name = age", "at byte 7: field \"name\" is of type text, and field \"age\" of type integer"}}) {
    EXPECT_THAT(truth_of(filter, ann), HasSubstr(what)) << filter;
  }
}

TEST(FilterText, IsBounded) {
  const std::string deep(100'000, '(');
  EXPECT_EQ(parse_filter(deep).error().code, ErrorCode::too_large);
  EXPECT_EQ(
      parse_filter(std::string(filter_depth_max + 2, '(') + "a" + std::string(filter_depth_max + 2, ')')).error().code,
      ErrorCode::too_large);
  EXPECT_TRUE(parse_filter(std::string(filter_depth_max - 1, '(') + "a" + std::string(filter_depth_max - 1, ')')));
  std::string nots;
  for (int i = 0; i < 200; ++i) nots += "NOT ";
  EXPECT_EQ(parse_filter(nots + "a").error().code, ErrorCode::too_large);
  std::string terms = "a";
  for (std::size_t i = 0; i < filter_terms_max; ++i) terms += " OR a";
  EXPECT_EQ(parse_filter(terms).error().code, ErrorCode::too_large);
  EXPECT_THAT(truth_of("name LIKE '" + std::string(2'000, '%') + "'", ann),
              HasSubstr("a pattern has at most 1024 bytes"));
}

// One long text ended the select for all rows beside it.
TEST(FilterText, MatchesTextsOfEverySizeThatARowCanHave) {
  for (const std::size_t bytes : {700u << 10, 8u << 20}) {
    auto row = ann;
    row[6] = '"' + std::string(bytes, 'a') + "needle\"";
    EXPECT_EQ(truth_of("notes =~ 'need'", row), "yes") << bytes;
    EXPECT_EQ(truth_of("notes =~ '(ab|b+)c'", row), "no") << bytes;
    EXPECT_EQ(truth_of("notes =~ 'needle\"$'", row), "yes") << bytes;
  }
}

TEST(FilterText, NamesTheRowWhoseTextIsTooLongForItsExpressionAndFindsTheOthers) {
  auto row = ann;
  row[6] = '"' + std::string(8u << 20, 'a') + '"';
  const std::string large = "notes =~ '(a|b){150}c'";
  EXPECT_THAT(truth_of(large, row),
              ::testing::AllOf(HasSubstr("field \"notes\" of the row with name \"ann\" has 8388610 bytes"),
                               HasSubstr("(name != \"ann\") AND ...")));
  EXPECT_EQ(truth_of("(name != \"ann\") AND " + large, row), "no");
  EXPECT_EQ(truth_of(large, ann), "no");
}

// What nothing can interrupt is a long read from its beginning on.
TEST(FilterText, TakesThePlaceOfALongReadBeforeALongMatch) {
  auto row = ann;
  row[6] = '"' + std::string(8u << 20, 'a') + '"';
  int places = 0;
  storage::ReadWork work({}, [&](storage::ReadWork&) -> Result<storage::ReadWork::Place> {
    ++places;
    return refuse(ErrorCode::overloaded, "all places are taken");
  });
  const storage::ReadWork::Scope at_work(work);
  EXPECT_EQ(truth_of("notes =~ 'b'", ann), "no");
  EXPECT_EQ(places, 0);
  EXPECT_EQ(truth_of("notes =~ 'b'", row), "all places are taken");
  EXPECT_EQ(places, 1);
}

}  // namespace
}  // namespace evershard::actors
