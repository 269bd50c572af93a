// The examples as a person runs them: in memory, and twice on one directory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A place for stores that goes with the test.
class ExamplePrograms : public ::testing::Test {
 protected:
  ExamplePrograms()
      : place_(std::filesystem::temp_directory_path() /
               ("evershard-examples-" + std::to_string(::getpid()) + "-" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(place_);
    std::filesystem::create_directories(place_);
  }
  ~ExamplePrograms() override {
    std::error_code ignored;
    std::filesystem::remove_all(place_, ignored);
  }
  [[nodiscard]] std::string store() const { return (place_ / "store").string(); }

  static std::string said(const std::vector<std::string>& words) {
    const Finished finished = run(words);
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    return finished.out;
  }

 private:
  std::filesystem::path place_;
};

TEST_F(ExamplePrograms, BankAccountTellsEveryWayACommandEnds) {
  EXPECT_THAT(said({EXAMPLE_BANK_ACCOUNT}),
              AllOf(HasSubstr("deposit 100: balance 100.00\n"),
                    HasSubstr("deposit 100, sent again: balance 100.00 (it was done before"),
                    HasSubstr("withdraw 30: balance 70.00\n"), HasSubstr("withdraw 1000: no, insufficient funds\n"),
                    HasSubstr("ann's balance: balance 70.00\n"), HasSubstr("ann's balance then: 100.00, version 2\n"),
                    HasSubstr("bob's balance: balance 20.00\n"), HasSubstr("bank_account-ann owner:ann\n")));
}

TEST_F(ExamplePrograms, BankAccountKnowsTheSecondTimeWhatWasDone) {
  said({EXAMPLE_BANK_ACCOUNT, store()});

  EXPECT_THAT(said({EXAMPLE_BANK_ACCOUNT, store()}),
              AllOf(HasSubstr("deposit 100: balance 100.00 (it was done before"),
                    HasSubstr("withdraw 30: balance 70.00 (it was done before"),
                    HasSubstr("ann's balance: balance 70.00\n"), HasSubstr("bob's balance: balance 20.00\n")));
}

TEST_F(ExamplePrograms, CourseEnrolmentFillsTheCourseAndNoMore) {
  EXPECT_THAT(
      said({EXAMPLE_COURSE_ENROLMENT, store()}),
      AllOf(HasSubstr("another one has the title"),
            HasSubstr("5 enrolled, 35 refused, the last because the course is full\n"),
            HasSubstr("5 of 5 places are taken"), HasSubstr("3 enrolled, 2 refused; the events say: 3 courses")));
  EXPECT_THAT(said({EXAMPLE_COURSE_ENROLMENT, store()}),
              AllOf(HasSubstr("0 enrolled, 40 refused"), HasSubstr("5 of 5 places are taken")));
}

TEST_F(ExamplePrograms, OrderIsLedByItsProcess) {
  EXPECT_THAT(said({EXAMPLE_ORDER, store()}),
              AllOf(HasSubstr("order 1 is CONFIRMED\n"), HasSubstr("order 2 is CANCELLED\n"),
                    HasSubstr("order 1 is PAID\n"), HasSubstr("order 3 is CANCELLED\n4 tea left, 1 reservation\n")));
  // Everything was done before.
  EXPECT_THAT(said({EXAMPLE_ORDER, store()}),
              AllOf(HasSubstr("order 1 of 6 tea was placed before\n"), HasSubstr("4 tea left, 1 reservation\n")));
}

TEST_F(ExamplePrograms, OrderGoesOnAfterItsProcessWasKilled) {
  {
    Process killed({EXAMPLE_ORDER, store()});
    killed.lines(5);
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.wait().status, 128 + SIGKILL);
  }

  EXPECT_THAT(said({EXAMPLE_ORDER, store()}), HasSubstr("order 3 is CANCELLED\n4 tea left, 1 reservation\n"));
}

TEST_F(ExamplePrograms, InspectorShowsAnAccountAtAnyTime) {
  said({EXAMPLE_BANK_ACCOUNT, store()});
  const auto inspect = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {EXAMPLE_INSPECTOR, store()});
    return said(words);
  };

  EXPECT_THAT(inspect({}), AllOf(HasSubstr("ann, version 3 @"), HasSubstr("bob, version 3 @3\n")));
  EXPECT_THAT(inspect({"show", "ann"}), AllOf(HasSubstr("version 3 @6"), HasSubstr(R"("balance":"7000")")));
  EXPECT_THAT(inspect({"show", "ann", "v2"}), AllOf(HasSubstr("version 2 @5"), HasSubstr(R"("balance":"10000")")));
  EXPECT_THAT(inspect({"show", "bob", "@2"}), AllOf(HasSubstr("version 2 @2"), HasSubstr(R"("balance":"2500")")));
  EXPECT_THAT(inspect({"show", "ann", "@3"}), HasSubstr("version 0 @0"));
  EXPECT_EQ(inspect({"diff", "ann", "v2", "@6"}), "version 2 @5 -> version 3 @6\n    balance: 10000 -> 7000\n");
  EXPECT_THAT(inspect({"history", "bob"}),
              AllOf(HasSubstr("version 1 @1 "), HasSubstr(R"(bank.MoneyMoved {"euros":"25"})"),
                    HasSubstr("    balance: 2500 -> 2000\n")));
}

TEST_F(ExamplePrograms, BankIsACommandLineThatKnowsItsAccounts) {
  said({EXAMPLE_BANK_ACCOUNT, store()});
  const auto state = [&](const std::string& account, const std::string& version) {
    return said(
        {EXAMPLE_BANK, "aggregate", "state", "bank_account-" + account, "--data", store(), "--version", version});
  };

  EXPECT_THAT(state("ann", "2"), AllOf(HasSubstr(R"("balance":"10000")"), HasSubstr(R"("exact":true)")));
  EXPECT_THAT(state("ann", "3"), HasSubstr(R"("balance":"7000")"));
  EXPECT_THAT(state("bob", "3"), HasSubstr(R"("balance":"2000")")) << "events of the first year count";
  EXPECT_THAT(said({EXAMPLE_BANK, "aggregate", "history", "bank_account-bob", "--data", store()}),
              HasSubstr(R"("decoded":{"euros":"25"})"));
}

TEST_F(ExamplePrograms, BalancesAreATableThatAHandlerKeeps) {
  EXPECT_EQ(said({EXAMPLE_BALANCES}), "bob 25000\nann 10000\n");
  EXPECT_EQ(said({EXAMPLE_BALANCES, store()}), "bob 25000\nann 10000\n");
  EXPECT_EQ(said({EXAMPLE_BALANCES, store()}), "bob 25000\nann 10000\n") << "each event has its effect once";
}

TEST_F(ExamplePrograms, InspectorSaysWhatItCannotShow) {
  said({EXAMPLE_BANK_ACCOUNT, store()});

  const Finished no_store = run({EXAMPLE_INSPECTOR, store() + "-not"});
  const Finished no_version = run({EXAMPLE_INSPECTOR, store(), "show", "ann", "v9"});
  const Finished no_when = run({EXAMPLE_INSPECTOR, store(), "show", "ann", "yesterday"});

  EXPECT_EQ(no_store.status, 1);
  EXPECT_EQ(no_version.status, 1);
  EXPECT_THAT(no_version.err, HasSubstr("bank_account-ann has no version 9"));
  EXPECT_THAT(no_when.err, HasSubstr("neither v3 nor @17"));
}

}  // namespace
}  // namespace evershard::testing
