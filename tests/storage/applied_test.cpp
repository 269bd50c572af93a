#include "evershard/storage/order/applied.hpp"

#include <gtest/gtest.h>

namespace evershard::storage {
namespace {

TEST(Applied, ComesBackAsItWas) {
  Applied applied{
      CutNumber{7}, GlobalPosition{1ull << 40}, Epoch{3}, {{ShardId{2}, Epoch{5}}, {ShardId{65'534}, Epoch{9}}}};

  EXPECT_EQ(decode_applied(encode(applied)).value(), applied);
  EXPECT_EQ(decode_applied(encode(Applied{})).value(), Applied{});
}

TEST(Applied, HasTheBytesItsDocumentSays) {
  auto bytes = encode(Applied{CutNumber{1}, GlobalPosition{0x0203}, Epoch{1}, {{ShardId{4}, Epoch{2}}}});

  EXPECT_EQ(bytes, std::string("\1"
                               "\0\0\0\0\0\0\0\1"
                               "\0\0\0\0\0\0\2\3"
                               "\0\0\0\0\0\0\0\1"
                               "\0\4"
                               "\0\0\0\0\0\0\0\2",
                               35));
}

TEST(Applied, IsDamagedInAnyOtherLength) {
  auto bytes = encode(Applied{CutNumber{1}, GlobalPosition{2}, Epoch{1}, {{ShardId{4}, Epoch{2}}}});

  for (std::size_t length = 0; length < bytes.size(); ++length) {
    if (length != 25) {
      EXPECT_EQ(decode_applied(bytes.substr(0, length)).error().code, ErrorCode::corruption) << length;
    }
  }
  bytes[0] = 2;
  EXPECT_EQ(decode_applied(bytes).error().code, ErrorCode::corruption);
}

TEST(CoveredRow, IsReadAsItWasWritten) {
  const LostRange lost{ShardOffset{3}, ShardOffset{9}, GlobalPosition{17}, GlobalPosition{40}, Epoch{3}};
  for (const Covered& covered : {Covered{ShardOffset{7}}, Covered{ShardOffset{7}, true, GlobalPosition{12}, {}},
                                 Covered{ShardOffset{9}, false, GlobalPosition{0}, {lost}},
                                 Covered{ShardOffset{30}, true, GlobalPosition{50}, {lost, lost}, ShardOffset{4}},
                                 Covered{ShardOffset{7}, false, {}, {}, {}, Epoch{3}},
                                 Covered{ShardOffset{7}, false, {}, {}, {}, {}, ShardOffset{9}},
                                 Covered{ShardOffset{9}, true, {}, {lost}, {}, Epoch{4}, ShardOffset{30}}}) {
    const auto bytes = encode_covered(covered);
    const auto read = decode_covered(bytes);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(*read, covered);
    for (std::size_t size = 0; size != bytes.size(); ++size) {
      const auto part = decode_covered(std::string_view(bytes).substr(0, size));
      if (part) {
        EXPECT_NE(*part, covered) << size;
      }
    }
    EXPECT_FALSE(decode_covered(bytes + "x"));
  }
  EXPECT_FALSE(decode_covered(std::string("\1")));
  EXPECT_FALSE(decode_covered(std::string(9, '\3')));
  EXPECT_FALSE(decode_covered("\4" + std::string(16, '\0') + encode_covered(Covered{ShardOffset{7}})));
  EXPECT_FALSE(decode_covered("\4" + std::string(16, '\1') + "\4" + std::string(40, '\1')));
  const auto number = [](std::uint64_t n) { return std::string(7, '\0') + static_cast<char>(n); };
  const auto before = decode_covered("\2" + number(9) + std::string(1, '\0') + number(0) + number(3) + number(9) +
                                     number(17) + number(40));
  ASSERT_TRUE(before) << "as it was written before epochs were kept";
  EXPECT_EQ(*before, (Covered{ShardOffset{9},
                              false,
                              GlobalPosition{0},
                              {{ShardOffset{3}, ShardOffset{9}, GlobalPosition{17}, GlobalPosition{40}}}}));
  EXPECT_EQ(Covered{ShardOffset{7}}.begins(), ShardOffset{1});
  EXPECT_EQ((Covered{ShardOffset{9}, false, GlobalPosition{0}, {lost}}.begins()), ShardOffset{9});
}

TEST(CoveredRow, KnowsWhetherPlacesWereGivenBeyondWhatIsLost) {
  const auto lost = [](std::uint64_t from, std::uint64_t until) {
    return LostRange{ShardOffset{from}, ShardOffset{until}, {}, {}, {}};
  };
  const auto has = [](Covered covered, std::uint64_t from) { return covered.has_placed(ShardOffset{from}); };

  EXPECT_FALSE(has({ShardOffset{1}}, 1));
  EXPECT_TRUE(has({ShardOffset{9}}, 8));
  EXPECT_FALSE(has({ShardOffset{9}}, 9));
  EXPECT_FALSE(has({ShardOffset{9}, false, {}, {lost(1, 9)}}, 1));
  EXPECT_TRUE(has({ShardOffset{9}, false, {}, {lost(3, 9)}}, 1));
  EXPECT_FALSE(has({ShardOffset{9}, false, {}, {lost(3, 9)}}, 3));
  EXPECT_TRUE(has({ShardOffset{12}, false, {}, {lost(3, 9)}}, 3));
  EXPECT_TRUE(has({ShardOffset{20}, false, {}, {lost(3, 9), lost(12, 20)}}, 3));
  EXPECT_FALSE(has({ShardOffset{20}, false, {}, {lost(3, 9), lost(3, 20)}}, 3));
  EXPECT_FALSE(has({ShardOffset{20}, false, {}, {lost(3, 9), lost(12, 20)}}, 12));
}

}  // namespace
}  // namespace evershard::storage
