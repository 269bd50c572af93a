// What a program that hosts aggregates wrote, looked at with the command line.

#include <evershard/aggregate.hpp>
#include <evershard/local.hpp>

#include "examples/bank_account/bank_account.hpp"
#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

class HostedState : public Program {
 protected:
  /// Opened, 100 in, a snapshot, 30 out.
  static void live(const std::string& data) {
    auto app = Local::open({.data_dir = data});
    ASSERT_TRUE(app) << app.error().what;
    ASSERT_TRUE(app->host<BankAccount>({}));
    const auto account = app->get<BankAccount>("ann");
    bank::OpenAccount open;
    open.set_owner("Ann");
    bank::Deposit deposit;
    deposit.set_amount(100);
    bank::Withdraw withdraw;
    withdraw.set_amount(30);
    ASSERT_TRUE(account.ask(open));
    ASSERT_TRUE(account.ask(deposit));
    ASSERT_TRUE(account.snapshot());
    ASSERT_TRUE(account.ask(withdraw));
  }
};

TEST_F(HostedState, IsShownWithTheProgramsOwnSnapshotAndEvents) {
  const std::string data = store();
  live(data);
  ASSERT_EQ(evershard({"types", "add", EVERSHARD_DESCRIPTORS, "--state", "bank_account=bank.Account", "--data", data}).status, 0);

  const Json state = shown({"aggregate", "state", "bank_account-ann", "--data", data}).at(0);

  EXPECT_EQ(state.at("version"), 3);
  EXPECT_EQ(state.at("state"), Json::parse(R"({"open":true,"owner":"Ann","balance":"100","overdraft":"0"})"));
  EXPECT_EQ(state.at("state_version"), 2);
  EXPECT_EQ(state.at("snapshot").at("schema_revision"), 1);
  EXPECT_EQ(state.at("events_after"), 1);
  EXPECT_EQ(state.at("events").at(0).at("decoded_as"), "bank.Withdrawn");
  EXPECT_EQ(state.at("events").at(0).at("decoded").at("amount"), "30");
}

}  // namespace
}  // namespace evershard::testing
