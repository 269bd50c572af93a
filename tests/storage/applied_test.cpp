#include "evershard/storage/applied.hpp"

#include <gtest/gtest.h>

namespace evershard::storage {
namespace {

TEST(Applied, ComesBackAsItWas) {
  Applied applied{CutNumber{7}, GlobalPosition{1ull << 40}, Epoch{3}, {{ShardId{2}, Epoch{5}}, {ShardId{65'534}, Epoch{9}}}};

  EXPECT_EQ(decode_applied(encode(applied)).value(), applied);
  EXPECT_EQ(decode_applied(encode(Applied{})).value(), Applied{});
}

TEST(Applied, HasTheBytesItsDocumentSays) {
  auto bytes = encode(Applied{CutNumber{1}, GlobalPosition{0x0203}, Epoch{1}, {{ShardId{4}, Epoch{2}}}});

  EXPECT_EQ(bytes, std::string("\1" "\0\0\0\0\0\0\0\1" "\0\0\0\0\0\0\2\3" "\0\0\0\0\0\0\0\1" "\0\4" "\0\0\0\0\0\0\0\2", 35));
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

}  // namespace
}  // namespace evershard::storage
