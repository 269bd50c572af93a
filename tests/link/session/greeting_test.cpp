#include "evershard/cluster/link/session/greeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* shared_secret = "a secret of some length";

LinkNonce nonce_of(char c) {
  LinkNonce nonce;
  nonce.fill(c);
  return nonce;
}

GreetingSetup dialler_setup(std::optional<std::string> secret = shared_secret) {
  return {LinkSide::dialler,
          make_hello(identity(3), {}, SessionNumber(77), NodeNumber(2)),
          500ms,
          std::move(secret),
          nonce_of('d'),
          {}};
}
GreetingSetup acceptor_setup(std::optional<std::string> secret = shared_secret) {
  return {LinkSide::acceptor,
          make_hello(identity(2), {}, SessionNumber(1), NodeNumber(0)),
          500ms,
          std::move(secret),
          nonce_of('a'),
          {}};
}

/// A greeting and the bytes that lie before it.
struct Carried {
  explicit Carried(GreetingSetup setup) : greeting(std::move(setup)) {}
  bool step() {
    if (greeting.wants() == 0 || in.size() < greeting.wants()) return false;
    const auto bytes = in.substr(0, greeting.wants());
    in.erase(0, bytes.size());
    greeting.received(bytes);
    return true;
  }
  ErrorCode code() const {
    return greeting.outcome() && !*greeting.outcome() ? greeting.outcome()->error().code : ErrorCode{};
  }
  std::string what() const {
    return !greeting.outcome() ? "under way" : *greeting.outcome() ? "agreed" : greeting.outcome()->error().what;
  }
  Greeting greeting;
  std::string in;
};

void greet_each_other(Carried& dialler, Carried& acceptor, std::string* all = nullptr) {
  while (true) {
    const auto from_dialler = dialler.greeting.take_output(), from_acceptor = acceptor.greeting.take_output();
    if (all) *all += from_dialler + from_acceptor;
    acceptor.in += from_dialler;
    dialler.in += from_acceptor;
    if (!dialler.step() && !acceptor.step() && from_dialler.empty() && from_acceptor.empty()) return;
  }
}

TEST(Greeting, EndsInOneSessionWithAndWithoutASecret) {
  for (const auto& secret : {std::optional<std::string>(shared_secret), std::optional<std::string>()}) {
    Carried dialler(dialler_setup(secret)), acceptor(acceptor_setup(secret));
    std::string all;
    greet_each_other(dialler, acceptor, &all);
    ASSERT_EQ(dialler.what(), "agreed");
    ASSERT_EQ(acceptor.what(), "agreed");
    EXPECT_EQ((*dialler.greeting.outcome())->session, SessionNumber(77));
    EXPECT_EQ((*acceptor.greeting.outcome())->session, SessionNumber(77));
    EXPECT_EQ((*dialler.greeting.outcome())->peer.node, NodeNumber(2));
    EXPECT_EQ((*acceptor.greeting.outcome())->peer.node, NodeNumber(3));
    EXPECT_THAT(all, Not(HasSubstr(shared_secret)));
  }
}

TEST(Greeting, LeavesWhatFollowsIt) {
  Carried dialler(dialler_setup()), acceptor(acceptor_setup());
  greet_each_other(dialler, acceptor);
  EXPECT_EQ(dialler.greeting.wants(), 0u);
  EXPECT_EQ(acceptor.greeting.wants(), 0u);
  EXPECT_TRUE(dialler.in.empty());
  EXPECT_TRUE(acceptor.in.empty());
}

TEST(Greeting, RefusesAWrongSecretAndSaysSo) {
  Carried dialler(dialler_setup("another secret, as long")), acceptor(acceptor_setup());
  greet_each_other(dialler, acceptor);
  EXPECT_EQ(acceptor.greeting.outcome()->error(),
            Error(ErrorCode::unauthenticated, "the dialler does not know the secret"));
  EXPECT_EQ(dialler.greeting.outcome()->error(),
            Error(ErrorCode::unauthenticated, "the peer refused: it does not know this secret"));
}

TEST(Greeting, ADiallerRefusesWhoCannotProveTheSecret) {
  Carried dialler(dialler_setup());
  dialler.in = std::string("EVSLINK\x01", 8) + std::string(32, 'a');
  EXPECT_TRUE(dialler.step());
  dialler.in = std::string(1, '\0') + std::string(proof_bytes, 'x');  // "welcome", and no proof
  EXPECT_TRUE(dialler.step());
  EXPECT_EQ(dialler.greeting.outcome()->error(),
            Error(ErrorCode::unauthenticated, "the peer does not know the secret"));
}

TEST(Greeting, AProofSentBackIsNone) {
  // Who does not know the secret answers a dialler with the dialler's own proof, or with that of another greeting.
  Carried dialler(dialler_setup());
  dialler.in = std::string("EVSLINK\x01", 8) + std::string(32, 'd');  // even with its own nonce
  EXPECT_TRUE(dialler.step());
  const auto sent = dialler.greeting.take_output();
  dialler.in = std::string(1, '\0') + sent.substr(32);
  EXPECT_TRUE(dialler.step());
  EXPECT_EQ(dialler.code(), ErrorCode::unauthenticated) << dialler.what();
}

TEST(Greeting, AStrangerIsShownANonceAndNothingElse) {
  Carried acceptor(acceptor_setup());
  EXPECT_EQ(acceptor.greeting.take_output().size(), 8u + 32u);
  acceptor.in = std::string(64, 'x');
  EXPECT_TRUE(acceptor.step());
  const auto out = acceptor.greeting.take_output();
  EXPECT_EQ(out, std::string(1, '\1') + std::string(32, '\0'));
}

TEST(Greeting, TellsTheDiallerWhyItIsRefused) {
  auto setup = dialler_setup();
  setup.own.who.shards = 64;
  Carried dialler(std::move(setup)), acceptor(acceptor_setup());
  greet_each_other(dialler, acceptor);
  EXPECT_EQ(acceptor.what(), "the shard count differs: 16 here, 64 at the peer");
  EXPECT_EQ(dialler.what(), "the peer refused: the shard count differs: 16 here, 64 at the peer");
  EXPECT_EQ(dialler.code(), ErrorCode::invalid_argument);
}

TEST(Greeting, RefusesWhomItsOwnerDoesNotAdmit) {
  auto setup = acceptor_setup();
  NodeNumber asked{};
  setup.admit = [&](const LinkAgreement& agreement) -> Result<void> {
    asked = agreement.peer.node;
    return refuse(ErrorCode::unavailable, "node 3 is here already");
  };
  Carried dialler(dialler_setup()), acceptor(std::move(setup));
  greet_each_other(dialler, acceptor);
  EXPECT_EQ(asked, NodeNumber(3));
  EXPECT_EQ(dialler.greeting.outcome()->error(),
            Error(ErrorCode::unavailable, "the peer refused: node 3 is here already"));
}

TEST(Greeting, RefusesOtherProtocols) {
  Carried plain(acceptor_setup(std::nullopt));
  plain.in = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_TRUE(plain.step());
  EXPECT_EQ(plain.what(), "what dialled does not speak this protocol");
  Carried dialler(dialler_setup());
  dialler.in = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
  EXPECT_TRUE(dialler.step());
  EXPECT_EQ(dialler.what(), "what answers there does not speak this protocol");
}

// One side with a secret and one without (by TLS alone) do not come together, and neither waits for ever for the
// other's bytes.
TEST(Greeting, WithASecretOnOneSideNeverAgrees) {
  Carried dialler(dialler_setup(std::nullopt)), acceptor(acceptor_setup());
  greet_each_other(dialler, acceptor);
  EXPECT_NE(dialler.what(), "agreed");
  EXPECT_NE(acceptor.what(), "agreed");
}

TEST(Greeting, EveryDamagedByteIsRefusedOrHarmless) {
  std::string script;  // what an honest dialler sends
  {
    Carried dialler(dialler_setup()), acceptor(acceptor_setup());
    while (true) {
      const auto out = dialler.greeting.take_output();
      script += out;
      acceptor.in += out;
      dialler.in += acceptor.greeting.take_output();
      if (!dialler.step() && !acceptor.step() && out.empty()) break;
    }
    ASSERT_EQ(acceptor.what(), "agreed");
  }
  for (std::size_t i = 0; i < 64; ++i) {  // nonce and proof
    Carried acceptor(acceptor_setup());
    acceptor.in = script;
    acceptor.in[i] = static_cast<char>(acceptor.in[i] ^ 0x10);
    while (acceptor.step()) {
    }
    EXPECT_EQ(acceptor.code(), ErrorCode::unauthenticated) << i;
  }
  std::mt19937_64 random(3);
  for (int round = 0; round < 2'000; ++round) {
    Carried acceptor(acceptor_setup());
    acceptor.in = script;
    for (int n = 0; n < 3; ++n) acceptor.in[64 + random() % (script.size() - 64)] = static_cast<char>(random());
    while (acceptor.step()) {
    }
    EXPECT_TRUE(acceptor.what() != "agreed" || (*acceptor.greeting.outcome())->peer.cluster == "cluster-1");
  }
}

}  // namespace
}  // namespace evershard::cluster
