// The rows of subjects' keys in etcd, byte by byte, made by another program too. A test here that fails means: this
// program cannot read the keys that are out there.

#include <gtest/gtest.h>

#include "evershard/cluster/etcd/key_rows.hpp"
#include "evershard/protocol/hex.hpp"

namespace evershard::cluster {
namespace {

std::string of_digits(std::string_view digits) { return bytes_of_hex(digits).value(); }

const KeyId key_id = *KeyId::parse("00112233445566778899aabbccddeeff");
const std::string a_secret = of_digits("a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf");

KeyRows rows() {
  return {"shop/", MasterKey::parse("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f").value()};
}

TEST(KeyRowsGolden, Names) {
  EXPECT_EQ(rows().check(), "shop/keys/check");
  EXPECT_EQ(rows().names(), "shop/keys/names");
  EXPECT_EQ(rows().key(key_id), "shop/keys/key/00112233445566778899aabbccddeeff");
  EXPECT_EQ(rows().erased(key_id), "shop/keys/erased/00112233445566778899aabbccddeeff");
  EXPECT_EQ(rows().erased_id(rows().erased(key_id)), key_id);
  EXPECT_EQ(rows().erased_id(rows().key(key_id)), std::nullopt);
}

TEST(KeyRowsGolden, Check) {
  const auto row = rows().check_row();
  EXPECT_EQ(hex(row),
            "01"                                  // version
            "ce7b282ce0f7d3cb7b62937ad5bc994b");  // the master key's name
  EXPECT_TRUE(rows().check_master(row));
  auto other = row;
  other.back() ^= 1;
  EXPECT_EQ(rows().check_master(other).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(rows().check_master(row.substr(1)).error().code, ErrorCode::corruption);
  EXPECT_EQ(rows().check_master({}).error().code, ErrorCode::corruption);
}

TEST(KeyRowsGolden, SecretOfNames) {
  const auto row = of_digits(
      "01"                                                                // version
      "45534b31"                                                          // magic
      "ce7b282ce0f7d3cb7b62937ad5bc994b"                                  // whose: the master key's name
      "00000000"                                                          // no payload's format
      "cd0d50a6319a1ae641ef2a83"                                          // nonce
      "b62bc7d40bfb22f81f95cc6719ca3d0690e234496dd5cfcecff5ccbd2bc13ea6"  // sealed
      "8b08665078310be49f"
      "73ea9914965e59bf0fd8b77988da2464");
  EXPECT_EQ(hex(rows().secret_row(rows().names(), a_secret)), hex(row));
  EXPECT_EQ(rows().secret_of(rows().names(), row).value(), a_secret);
}

TEST(KeyRowsGolden, Key) {
  const auto row = of_digits(
      "01"                                                                // version
      "45534b31"                                                          // magic
      "ce7b282ce0f7d3cb7b62937ad5bc994b"                                  // whose: the master key's name
      "00000000"                                                          // no payload's format
      "ec65a58dcbc9435f7de68031"                                          // nonce
      "68bd48a9f857d829e10ecec209e01b62daa245d70f952c5f122df43175f7f89e"  // sealed
      "83a9d8cd746483b25c"
      "20363d7a01f7092ab6ed1892086700fc");
  EXPECT_EQ(hex(rows().secret_row(rows().key(key_id), a_secret)), hex(row));
  EXPECT_EQ(rows().secret_of(rows().key(key_id), row).value(), a_secret);
  EXPECT_EQ(rows().secret_of(rows().names(), row).error().code, ErrorCode::corruption);
}

TEST(KeyRowsGolden, Erased) {
  const auto row = of_digits(
      "01"                                                                // version
      "45534b31"                                                          // magic
      "ce7b282ce0f7d3cb7b62937ad5bc994b"                                  // whose: the master key's name
      "00000000"                                                          // no payload's format
      "eda4a0f2be5b9ac3a0f806ec"                                          // nonce
      "d4a65a885d457637d467459b74e2ae0a69eac291a328b44109962041f221c3a7"  // sealed
      "1b46424c6c42"
      "4270a84eaac0fd65afad53b14e84e037");
  EXPECT_EQ(hex(rows().erased_row(key_id, *Timestamp::parse("2026-01-31T12:00:00Z"))), hex(row));
  EXPECT_TRUE(rows().check_erased(key_id, row));
  EXPECT_EQ(rows().check_erased(KeyId{}, row).error().code, ErrorCode::corruption);
}

TEST(KeyRowsGolden, ANewerFormIsNamed) {
  auto row = rows().secret_row(rows().names(), a_secret);
  row.front() = 2;
  const auto refused = rows().secret_of(rows().names(), row);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("its form is 2"), std::string::npos) << refused.error().what;
}

}  // namespace
}  // namespace evershard::cluster
