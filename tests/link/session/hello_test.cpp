#include "evershard/cluster/link/session/hello.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;

LinkHello hello_of(std::uint32_t own, std::uint32_t to) {
  return make_hello(identity(own), {}, SessionNumber(77), NodeNumber(to));
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const unsigned char byte : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    hex += {digits[byte >> 4], digits[byte & 15]};
  }
  return hex;
}

// Frozen: a released version must be understood by its neighbours.
TEST(LinkHello, HasTheseBytes) {
  EXPECT_EQ(hex_of(encode(hello_of(3, 2))),
            "0100"  // version
            "0100"  // oldest version
            "0900"
            "636c75737465722d31"  // cluster-1
            "10000000"            // shards
            "01000000"            // hash
            "03000000"            // node
            "01"                  // role
            "eb03000000000000"    // process
            "4d00000000000000"    // session
            "02000000"            // to
            "00100000"            // requests_max
            "0000000400000000"    // request_bytes_max
            "0000000400000000"    // message_bytes_max
            "00000002"            // payload_bytes_max
            "d0070000");          // dead_after, ms
}

TEST(LinkHello, IsReadAsItWasWritten) {
  auto hello = hello_of(3, 2);
  hello.who.role = NodeRole::coordinator;
  const auto read = decode_hello(encode(hello));
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read), encode(hello));
  EXPECT_EQ(read->who.cluster, "cluster-1");
  EXPECT_EQ(read->who.role, NodeRole::coordinator);
  EXPECT_EQ(read->credit, hello.credit);
  EXPECT_EQ(read->dead_after, 2s);
}

TEST(LinkHello, SkipsWhatANewerOneWroteBehind) { EXPECT_TRUE(decode_hello(encode(hello_of(3, 2)) + "more")); }

TEST(LinkHello, RefusesWhatEndsEarly) {
  const auto whole = encode(hello_of(3, 2));
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const auto read = decode_hello(std::string_view(whole).substr(0, bytes));
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
}

TEST(LinkHello, RefusesValuesThatCannotBe) {
  const auto refused = [](void (*spoil)(LinkHello&)) {
    auto hello = hello_of(3, 2);
    spoil(hello);
    return !decode_hello(encode(hello));
  };
  EXPECT_TRUE(refused([](LinkHello& h) { h.version_oldest = 0; }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.version_oldest = 2; }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.who.cluster.clear(); }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.who.cluster.assign(65, 'x'); }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.who.role = NodeRole(4); }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.session = {}; }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.credit.requests_max = 0; }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.credit.payload_bytes_max = 0; }));
  EXPECT_TRUE(refused([](LinkHello& h) { h.dead_after = 0ms; }));
}

TEST(LinkHello, AgreesWithItsLike) {
  auto acceptor = hello_of(2, 3);
  acceptor.dead_after = 800ms;
  const auto agreed = agree(hello_of(3, 2), acceptor, LinkSide::dialler, 500ms);
  ASSERT_TRUE(agreed) << agreed.error().what;
  EXPECT_EQ(agreed->version, 1);
  EXPECT_EQ(agreed->session, SessionNumber(77));
  EXPECT_EQ(agreed->peer.node, NodeNumber(2));
  EXPECT_EQ(agreed->heartbeat, 200ms) << "as often as the other side needs it";
  EXPECT_EQ(agree(acceptor, hello_of(3, 2), LinkSide::acceptor, 500ms)->heartbeat, 500ms);
}

TEST(LinkHello, SpeaksTheNewestVersionThatBothKnow) {
  auto newer = hello_of(3, 2);
  newer.version = 2;
  const auto agreed = agree(hello_of(2, 3), newer, LinkSide::acceptor, 500ms);
  ASSERT_TRUE(agreed);
  EXPECT_EQ(agreed->version, 1);
}

struct Mismatch {
  const char* name;
  void (*spoil)(LinkHello&);
  const char* here;
  const char* there;
};

// Both sides refuse, each with its own view.
TEST(LinkHello, RefusesEveryMismatchByNameWithBothValues) {
  const Mismatch mismatches[] = {
      {"protocol version", [](LinkHello& h) { h.version = 9, h.version_oldest = 8; }, "1 to 1 here",
       "8 to 9 at the peer"},
      {"cluster id", [](LinkHello& h) { h.who.cluster = "other"; }, "\"cluster-1\" here", "\"other\" at the peer"},
      {"shard count", [](LinkHello& h) { h.who.shards = 32; }, "16 here", "32 at the peer"},
      {"hash", [](LinkHello& h) { h.who.hash = 2; }, "1 here", "2 at the peer"},
  };
  for (const auto& mismatch : mismatches) {
    for (const auto side : {LinkSide::dialler, LinkSide::acceptor}) {
      const auto own = side == LinkSide::dialler ? hello_of(3, 2) : hello_of(2, 3);
      auto theirs = side == LinkSide::dialler ? hello_of(2, 3) : hello_of(3, 2);
      mismatch.spoil(theirs);
      const auto agreed = agree(own, theirs, side, 500ms);
      ASSERT_FALSE(agreed) << mismatch.name;
      EXPECT_EQ(agreed.error().code, ErrorCode::invalid_argument);
      EXPECT_THAT(agreed.error().what,
                  AllOf(HasSubstr(mismatch.name), HasSubstr(mismatch.here), HasSubstr(mismatch.there)));
    }
  }
}

TEST(LinkHello, LetsANodeAskItsCoordinatorHowManyShardsThereAre) {
  auto node = hello_of(3, 0), coordinator = hello_of(0, 3);
  node.who.shards = 0;
  node.who.role = NodeRole::node;
  coordinator.who.role = NodeRole::coordinator;
  const auto asking = agree(node, coordinator, LinkSide::dialler, 500ms);
  ASSERT_TRUE(asking) << asking.error().what;
  EXPECT_EQ(asking->peer.shards, 16u);
  EXPECT_TRUE(agree(coordinator, node, LinkSide::acceptor, 500ms));

  auto other = hello_of(2, 3);
  other.who.role = NodeRole::node;
  node.to = NodeNumber{2};
  EXPECT_THAT(agree(other, node, LinkSide::acceptor, 500ms).error().what,
              HasSubstr("the shard count differs: 16 here, 0 at the peer"))
      << "another node";
  coordinator.who.shards = 0;
  node.to = NodeNumber{0};
  node.who.shards = 16;
  EXPECT_THAT(agree(node, coordinator, LinkSide::dialler, 500ms).error().what, HasSubstr("16 here, 0 at the peer"))
      << "the coordinator knows";
  coordinator.who.shards = 16;
  node.who.shards = 0;
  node.who.role = NodeRole::both;
  EXPECT_THAT(agree(coordinator, node, LinkSide::acceptor, 500ms).error().what, HasSubstr("16 here, 0 at the peer"))
      << "who leads knows too";
}

// An older and a newer one: each may be the one that is too far behind.
TEST(LinkHello, SpeaksNoVersionThatOneOfThemDoesNotKnowAnyMore) {
  auto own = hello_of(3, 2);
  own.version = 3;
  own.version_oldest = 2;

  EXPECT_THAT(agree(own, hello_of(2, 3), LinkSide::dialler, 500ms).error().what, HasSubstr("protocol version"));
  EXPECT_THAT(agree(hello_of(2, 3), own, LinkSide::acceptor, 500ms).error().what, HasSubstr("protocol version"));
}

TEST(LinkHello, RefusesOneThatEndsEarly) {
  const auto whole = encode(hello_of(3, 2));
  for (std::size_t size = 0; size != whole.size(); ++size)
    EXPECT_FALSE(decode_hello(std::string_view(whole).substr(0, size))) << size;
}

TEST(LinkHello, RefusesAVersionWhoseHelloItCannotRead) {
  std::string newer("\x09\x00\x08\x00", 4);
  const auto read = decode_hello(newer + "anything at all");
  ASSERT_TRUE(read);
  EXPECT_THAT(agree(hello_of(2, 3), *read, LinkSide::acceptor, 500ms).error().what, HasSubstr("protocol version"));
}

TEST(LinkHello, RefusesWrongNumbers) {
  const auto what = [](LinkHello own, LinkHello theirs, LinkSide side) {
    const auto agreed = agree(own, theirs, side, 500ms);
    return agreed ? "agreed" : agreed.error().what;
  };
  auto twin = hello_of(2, 2);
  twin.who.process = 5;
  EXPECT_THAT(what(hello_of(2, 2), hello_of(2, 2), LinkSide::dialler), HasSubstr("node 2 was dialled by itself"));
  EXPECT_THAT(what(hello_of(2, 2), twin, LinkSide::dialler), HasSubstr("two processes call themselves node 2"));
  EXPECT_THAT(what(hello_of(3, 1), hello_of(2, 3), LinkSide::dialler),
              HasSubstr("node 3 dialled node 1 and reached node 2"));
  EXPECT_THAT(what(hello_of(2, 3), hello_of(3, 1), LinkSide::acceptor),
              HasSubstr("node 3 dialled node 1 and reached node 2"));
  EXPECT_THAT(what(hello_of(2, 3), hello_of(3, 2), LinkSide::dialler), HasSubstr("the higher number dials"));
  EXPECT_THAT(what(hello_of(3, 2), hello_of(2, 3), LinkSide::acceptor), HasSubstr("the higher number dials"));
  auto other_session = hello_of(2, 3);
  other_session.session = SessionNumber(78);
  EXPECT_THAT(what(hello_of(3, 2), other_session, LinkSide::dialler), HasSubstr("77 here, 78 at the peer"));
}

}  // namespace
}  // namespace evershard::cluster
