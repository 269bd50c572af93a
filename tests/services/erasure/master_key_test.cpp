// The master key: read from a file's text, seals rows, and opens each under its own name alone.

#include <gmock/gmock.h>

#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/hex.hpp"
#include "evershard/services/erasure/master_key.hpp"

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string secret_of(char first) {
  std::string secret(32, '\x5a');
  secret.front() = first;
  return secret;
}

MasterKey master(char first = 'a') { return MasterKey::parse(hex(secret_of(first))).value(); }

TEST(MasterKeys, AreReadFromHexAndBase64) {
  EXPECT_EQ(MasterKey::parse(to_base64(secret_of('a')))->id(), master().id());
  EXPECT_NE(master('b').id(), master().id());
  const auto once_more = std::string(63, '0');
  for (const auto& wrong : {std::string(), std::string("hunter2"), once_more, once_more + "g", once_more + "00",
                            to_base64(secret_of('a') + "a"), to_base64("short")}) {
    const auto refused = MasterKey::parse(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(refused.error().what, HasSubstr("openssl rand -hex 32"));
    if (!wrong.empty()) {
      EXPECT_THAT(refused.error().what, Not(HasSubstr(wrong)));
    }
  }
}

TEST(MasterKeys, OpenARowUnderItsOwnNameAlone) {
  const auto key = master();
  const auto sealed = key.seal("shop/keys/key/1", "bytes of a key");
  EXPECT_EQ(sealed, key.seal("shop/keys/key/1", "bytes of a key"));
  EXPECT_NE(sealed, key.seal("shop/keys/key/2", "bytes of a key"));
  EXPECT_THAT(sealed, Not(HasSubstr("bytes")));

  EXPECT_EQ(key.open("shop/keys/key/1", sealed).value(), "bytes of a key");
  EXPECT_EQ(key.open("shop/keys/key/2", sealed).error().code, ErrorCode::corruption);
  EXPECT_EQ(master('b').open("shop/keys/key/1", sealed).error().code, ErrorCode::invalid_argument);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] ^= 1;
    EXPECT_FALSE(key.open("shop/keys/key/1", damaged)) << i;
    EXPECT_FALSE(key.open("shop/keys/key/1", sealed.substr(0, i))) << i;
  }
}

}  // namespace
}  // namespace evershard::cluster
