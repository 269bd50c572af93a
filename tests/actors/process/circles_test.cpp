// Instances that command each other in a circle are noticed, and stopped; long chains that end are not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/process_kit.hpp>

#include "evershard/protocol/chain.hpp"
#include "tests/actors/process/transfers.hpp"

namespace evershard::bank {
namespace {

using testing::HasSubstr;

/// Whatever is put in is put out to the other one: `amount` times, or for ever.
template <class Side>
struct Echo {
  static constexpr std::string_view type = Side::text;
  using State = AccountState;
  using Reacts = Types<typename Side::Hears>;
  using Events = Types<>;
  static std::string key(const typename Side::Hears& event) { return event.transfer; }
  static Reaction<Echo> on(const State&, const typename Side::Hears& event) {
    if (event.amount == 1) return ignore();
    typename Side::Says command = event.template as<typename Side::SaysName>();
    command.amount = event.amount - 1;
    return react().template send<Account>(Side::to, command);
  }
};
struct PingSide {
  static constexpr std::string_view text = "ping", to = "pong";
  using Hears = Credited;
  using Says = Refund;
  using SaysName = RefundName;
};
struct PongSide {
  static constexpr std::string_view text = "pong", to = "ping";
  using Hears = Refunded;
  using Says = Credit;
  using SaysName = CreditName;
};
using Ping = Echo<PingSide>;
using Pong = Echo<PongSide>;

/// Each account is opened, and the ball thrown.
void play(ProcessKit& kit, std::int64_t times, ProcessOptions options = {}) {
  ASSERT_TRUE(kit.host<Account>());
  ASSERT_TRUE(kit.run<Ping>(options));
  ASSERT_TRUE(kit.run<Pong>(options));
  for (const auto* account : {"ping", "pong"}) ASSERT_TRUE(kit.get<Account>(account).ask(Open{"-", "-", "-", 0}));
  ASSERT_TRUE(kit.get<Account>("ping").ask(Credit{"ball", "-", "-", times}));
}
std::uint64_t failing(ProcessKit& kit) {
  std::uint64_t count = 0;
  for (const auto& process : kit.process_status()) count += process.failing;
  return count;
}
std::uint32_t longest_chain(ProcessKit& kit) {
  std::uint32_t longest = 0;
  for (const auto& event : kit.actors().events()) longest = std::max(longest, chain_of(event.metadata_bytes()));
  return longest;
}

TEST(Circles, AreNoticedAndHoldUpTheirInstanceOnly) {
  ProcessKit kit;
  play(kit, 1'000'000'000, {.chain_max = 50});
  kit.settle();
  EXPECT_EQ(longest_chain(kit), 50u);
  ASSERT_EQ(failing(kit), 1u);
  std::string trouble;
  for (const auto& process : kit.process_status()) trouble += process.trouble;
  EXPECT_THAT(trouble, HasSubstr("\"ping-ball\""));
  EXPECT_THAT(trouble, HasSubstr("50 reactions of processes"));
  EXPECT_THAT(trouble, HasSubstr("in a circle"));

  ASSERT_TRUE(kit.get<Account>("ping").ask(Credit{"other", "-", "-", 4}));
  kit.settle();
  EXPECT_EQ(failing(kit), 1u);  // others go on
  kit.pass(1h);
  EXPECT_EQ(longest_chain(kit), 50u);  // and it does not, however often it is tried
}

TEST(Circles, AreNoticedOverCrashes) {
  ProcessKit kit;
  play(kit, 1'000'000'000, {.chain_max = 30});
  for (int i = 0; i < 40; ++i) {
    for (int n = 0; n < 7; ++n) static_cast<void>(kit.step());
    kit.crash();
  }
  kit.settle();
  EXPECT_EQ(longest_chain(kit), 30u);
  EXPECT_EQ(failing(kit), 1u);
}

TEST(Circles, ThatAreSkippedEnd) {
  ProcessKit kit;
  play(kit, 1'000'000'000, {.chain_max = 20});
  kit.settle();
  for (const auto& process : kit.process_status())
    for (const auto& failure : process.failures)
      kit.control(process.type, {ProcessControl::Action::skip, {}, failure.place});
  kit.settle();
  EXPECT_EQ(failing(kit), 0u);
}

TEST(Circles, LongChainsThatEndAreNone) {
  ProcessKit kit;
  play(kit, 300);
  kit.settle();
  EXPECT_EQ(failing(kit), 0u);
  EXPECT_EQ(longest_chain(kit), 299u);
}

TEST(Circles, AnyLengthWhereNobodyBoundsIt) {
  ProcessKit kit;
  play(kit, 60, {.chain_max = 0});
  kit.settle();
  EXPECT_EQ(failing(kit), 0u);
  EXPECT_EQ(longest_chain(kit), 59u);
}

TEST(Circles, MetadataIsReadStrictly) {
  EXPECT_EQ(chain_of(chain_metadata(7)), 7u);
  EXPECT_EQ(chain_metadata(0), "");
  for (const auto* other : {"", "{}", "{\"$chain\":}", "{\"$chain\":1", "{\"$chain\":x}", "{\"$chain\":1,\"a\":2}",
                            "{\"$chain\":99999999999}", "{\"chain\":1}"})
    EXPECT_EQ(chain_of(other), 0u) << other;
}

}  // namespace
}  // namespace evershard::bank
