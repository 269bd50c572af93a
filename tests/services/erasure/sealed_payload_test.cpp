// Sealed payloads: what opens them and what does not.

#include <gmock/gmock.h>

#include "evershard/services/erasure/sealed_payload.hpp"

namespace evershard::cluster {
namespace {

PayloadKey key_of(std::uint8_t seed) {
  PayloadKey key;
  key.id.bytes.fill(seed);
  key.secret.fill(static_cast<std::uint8_t>(seed + 1));
  return key;
}

const SealedFor placed{"order-1", "OrderPlaced"};
const PlainPayload ada{"person:ada", R"({"name":"Ada"})", PayloadFormat::json};

TEST(SealedPayload, OpensAsItWas) {
  for (const auto& plain : {ada, PlainPayload{"p", "", PayloadFormat::unspecified},
                            PlainPayload{std::string(255, 's'), std::string(100'000, 'x'), PayloadFormat{70'000}}}) {
    const auto sealed = seal_payload(key_of(7), placed, "id", plain);

    EXPECT_EQ(sealed_by(PayloadFormat::encrypted, sealed), key_of(7).id);
    auto opened = open_payload(key_of(7), placed, sealed);
    ASSERT_TRUE(opened) << opened.error().what;
    EXPECT_EQ(*opened, plain);
  }
}

TEST(SealedPayload, ShowsNothingOfWhatIsSealed) {
  const auto sealed = seal_payload(key_of(7), placed, "id", ada);
  EXPECT_EQ(sealed.find("Ada"), std::string::npos);
  EXPECT_EQ(sealed.find("person"), std::string::npos);
}

TEST(SealedPayload, IsTheSameForTheSameRequestAndForNothingElse) {
  const auto sealed = seal_payload(key_of(7), placed, "id", ada);
  EXPECT_EQ(seal_payload(key_of(7), placed, "id", ada), sealed);

  auto other = ada;
  other.payload += ' ';
  // All from the nonce on differs: no two of them ever share one under a key.
  const auto behind_the_head = [](const std::string& bytes) { return bytes.substr(24, 12); };
  EXPECT_NE(behind_the_head(seal_payload(key_of(7), placed, "id", other)), behind_the_head(sealed));
  EXPECT_NE(behind_the_head(seal_payload(key_of(7), placed, "another", ada)), behind_the_head(sealed));
  EXPECT_NE(behind_the_head(seal_payload(key_of(7), {"order-2", "OrderPlaced"}, "id", ada)), behind_the_head(sealed));
}

TEST(SealedPayload, OpensForNothingElse) {
  const auto sealed = seal_payload(key_of(7), placed, "id", ada);
  EXPECT_EQ(open_payload(key_of(7), {"order-2", "OrderPlaced"}, sealed).error().code, ErrorCode::corruption);
  EXPECT_EQ(open_payload(key_of(7), {"order-1", "OrderShipped"}, sealed).error().code, ErrorCode::corruption);
  auto other_secret = key_of(7);
  other_secret.secret[0] ^= 1;
  EXPECT_EQ(open_payload(other_secret, placed, sealed).error().code, ErrorCode::corruption);
  EXPECT_EQ(open_payload(key_of(8), placed, sealed).error().code, ErrorCode::corruption);
}

TEST(SealedPayload, AnyFlippedByteIsFound) {
  const auto sealed = seal_payload(key_of(7), placed, "id", ada);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    auto damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    EXPECT_FALSE(open_payload(key_of(7), placed, damaged)) << i;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size)
    EXPECT_FALSE(open_payload(key_of(7), placed, sealed.substr(0, size))) << size;
}

TEST(SealedPayload, LeavesWhatUsersEncryptedThemselves) {
  EXPECT_EQ(sealed_by(PayloadFormat::encrypted, std::string(200, 'x')), std::nullopt);
  EXPECT_EQ(sealed_by(PayloadFormat::encrypted, "ESK1"), std::nullopt);
  EXPECT_EQ(sealed_by(PayloadFormat::json, seal_payload(key_of(7), placed, "id", ada)), std::nullopt);
}

TEST(KeyId, HasATextForm) {
  const auto id = key_of(0xa5).id;
  EXPECT_EQ(id.text(), std::string("a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5"));
  EXPECT_EQ(KeyId::parse(id.text()), id);
  EXPECT_EQ(KeyId::parse("a5"), std::nullopt);
  EXPECT_EQ(KeyId::parse(std::string(32, 'g')), std::nullopt);
}

}  // namespace
}  // namespace evershard::cluster
