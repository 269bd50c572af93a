// A table's bytes: rows, keys, entries. Golden: a test here that fails means that rows which are out there are read
// wrongly.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "evershard/protocol/hex.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/services/tables/table_projection.hpp"
#include "tests/services/tables/small_table.hpp"

namespace evershard::actors {
namespace {

using namespace std::string_literals;

std::string without_spaces(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ' ') digits += c;
  }
  return digits;
}

const TableSchema every_type{"all",
                             {{"t", FieldType::text, FieldRole::key},
                              {"i", FieldType::integer, FieldRole::index, true},
                              {"n", FieldType::number, FieldRole::normal, true},
                              {"b", FieldType::boolean, FieldRole::normal, true},
                              {"at", FieldType::time, FieldRole::normal, true},
                              {"y", FieldType::bytes, FieldRole::unique, true},
                              {"j", FieldType::json, FieldRole::normal, true}}};

TEST(TableGolden, Row) {
  const RowLayout layout(every_type);
  const std::vector<TableValue> row{"ab", -2, 0.5, true, Timestamp{1}, nullptr, "{}"};

  EXPECT_EQ(hex(layout.encode(row)), without_spaces("01 07"             // format, fields
                                                    "20"                // the sixth is null
                                                    "02000000"          // t ends at 2
                                                    "feffffffffffffff"  // i
                                                    "000000000000e03f"  // n
                                                    "01"                // b
                                                    "0100000000000000"  // at
                                                    "02000000"          // y: empty, null
                                                    "04000000"          // j ends at 4
                                                    "6162 7b7d"));
  EXPECT_EQ(layout.decode(layout.encode(row)).value(), row);
}

TEST(TableGolden, Keys) {
  std::string key;
  table_keys::append_ordered(key, FieldType::text, "a\0b"s);
  EXPECT_EQ(hex(table_keys::row(key)), without_spaces("72 61 00ff 62 0001"));
  EXPECT_EQ(hex(table_keys::index_prefix(1, FieldType::integer, -2)), without_spaces("69 01 01 7ffffffffffffffe"));
  EXPECT_EQ(hex(table_keys::index_prefix(1, FieldType::integer, nullptr)), without_spaces("69 01 00"));
  EXPECT_EQ(hex(table_keys::index_prefix(3, FieldType::boolean, true)), without_spaces("69 03 01 01"));
  EXPECT_EQ(hex(table_keys::index_prefix(2, FieldType::number, 1.0)), without_spaces("69 02 01 bff0000000000000"));
  EXPECT_EQ(hex(table_keys::index_prefix(2, FieldType::number, -1.0)), without_spaces("69 02 01 400fffffffffffff"));
  EXPECT_EQ(hex(table_keys::index_prefix(4, FieldType::time, Timestamp{1})),
            without_spaces("69 04 01 8000000000000001"));
  EXPECT_EQ(hex(table_keys::unique(5, FieldType::bytes, "\xff"s)), without_spaces("75 05 ff 0001"));
  EXPECT_EQ(hex(table_keys::parked(GlobalPosition{258})), without_spaces("70 0000000000000102"));
}

TEST(TableGolden, ParkedEventAndCounts) {
  const ParkedEvent parked{GlobalPosition{7}, TableFault::Kind::unique, "Placed", "order-1", "why", 2};
  EXPECT_EQ(hex(encode(parked)), without_spaces("01 01 02 06 506c61636564 07 6f726465722d31 03 776879"));
  EXPECT_EQ(decode_parked(table_keys::parked(parked.position), encode(parked)).value(), parked);
  const TableCounts counts{1, 2, 3, 4, 5, 6, 300};
  EXPECT_EQ(hex(encode(counts)), without_spaces("01 01 02 03 04 05 06 ac02"));
  EXPECT_EQ(decode_counts(encode(counts)).value(), counts);
}

template <class T>
void expect_sorted(FieldType type, const std::vector<T>& ascending) {
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      std::string a, b;
      table_keys::append_ordered(a, type, TableValue(ascending[i]));
      table_keys::append_ordered(b, type, TableValue(ascending[j]));
      EXPECT_EQ(a <=> b, i <=> j) << TableValue(ascending[i]).text() << " and " << TableValue(ascending[j]).text();
      // Followed by anything, they sort the same: none is the beginning of another.
      if (i != j) {
        EXPECT_EQ((a + "\xff") < (b + '\0'), i < j);
      }
    }
    std::string bytes;
    table_keys::append_ordered(bytes, type, TableValue(ascending[i]));
    bytes += "rest";
    std::string_view from = bytes;
    EXPECT_EQ(table_keys::take_ordered(from, type).value(), TableValue(ascending[i]));
    EXPECT_EQ(from, "rest");
  }
}

TEST(TableKeys, SortAsValuesDo) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_sorted<std::int64_t>(FieldType::integer, {std::numeric_limits<std::int64_t>::min(), -257, -256, -1, 0, 1, 255,
                                                   256, std::numeric_limits<std::int64_t>::max()});
  expect_sorted<double>(FieldType::number,
                        {-infinity, -1e300, -2.5, -1.0, -5e-324, 0.0, 5e-324, 0.1, 1.0, 1e300, infinity});
  expect_sorted<Timestamp>(FieldType::time, {Timestamp::first(), {-1}, {0}, {1}, Timestamp::last()});
  expect_sorted<bool>(FieldType::boolean, {false, true});
  expect_sorted<std::string>(
      FieldType::text, {"", "\0"s, "\0\0"s, "\0\1"s, "\1", "a", "a\0"s, "a\0b"s, "a\1", "aa", "b", "\xff", "\xff\xff"});
}

TEST(TableKeys, NullStandsBeforeEverything) {
  EXPECT_LT(table_keys::index_prefix(1, FieldType::text, nullptr), table_keys::index_prefix(1, FieldType::text, ""));
  EXPECT_NE(table_keys::index_prefix(1, FieldType::text, nullptr), table_keys::index_prefix(1, FieldType::text, ""));
}

TEST(TableKeys, ZeroHasOneForm) {
  std::string plus, minus;
  table_keys::append_ordered(plus, FieldType::number, 0.0);
  table_keys::append_ordered(minus, FieldType::number, -0.0);
  EXPECT_EQ(plus, minus);
}

TEST(RowCodec, RefusesWhatIsNoRow) {
  const RowLayout layout(every_type);
  const std::string good = layout.encode(std::vector<TableValue>{"ab", -2, 0.5, true, Timestamp{1}, "\1\2", "{}"});

  EXPECT_FALSE(layout.decode(""));
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(layout.decode(good.substr(0, size)).error().code, ErrorCode::corruption) << size;
  EXPECT_FALSE(layout.decode(good + "x"));
  std::mt19937 random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto row = layout.decode(bytes);  // whatever it says, it reads nothing outside
    if (row) {
      EXPECT_EQ(row->size(), every_type.fields.size());
    }
  }
}

}  // namespace
}  // namespace evershard::actors
