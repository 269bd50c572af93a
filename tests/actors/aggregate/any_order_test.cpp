// Many seeds: everything that may happen in any order, with faults, outsiders and crashes; what was promised holds in
// all of them.

#include "tests/actors/aggregate/kit_looks.hpp"

#include <cstdlib>
#include <map>

#include "evershard/actors/entity/jitter.hpp"

namespace evershard {
namespace {

/// Commands with ids on a few accounts, each sent until somebody answers it; and what must be true at the end.
class Story {
 public:
  explicit Story(std::uint64_t seed)
      : random_(seed), kit_({.seed = seed, .any_order = true, .shards = 2, .live_limit = 3}) {
    for (int i = 0; i < 40; ++i) {
      commands_.push_back({std::to_string(draw(4)),
                           "c" + std::to_string(i),
                           static_cast<std::int64_t>(1 + draw(9)),
                           static_cast<int>(draw(4)),
                           {},
                           {}});
    }
  }

  void run() {
    for (int i = 0; i < 400; ++i) act();
    for (int rounds = 0; rounds < 50 && !all_told(); ++rounds) {
      for (auto& command : commands_) send(command);
      kit_.advance(std::chrono::seconds(45));
      hear();
    }
    check();
  }
  std::uint64_t crashes = 0, timeouts = 0, duplicates = 0, rejections = 0;

 private:
  struct Command {
    std::string account, id;
    std::int64_t amount;
    int kind;
    std::optional<std::future<Answer<Balance>>> answer;
    std::optional<std::string> told;  ///< for good
    std::int64_t effect = 0;
  };

  /// What a reply said, and of where.
  struct Rest {
    std::string account;
    GlobalPosition position;
    SeqNr version;
    std::int64_t balance;
  };

  std::uint64_t draw(std::uint64_t below) { return random_.next() % below; }

  void act() {
    switch (draw(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        send(commands_[draw(commands_.size())]);
        break;
      case 5:
        kit_.fail_next_append(static_cast<Fault>(1 + draw(4)), draw(2) == 0 ? ErrorCode::timeout : ErrorCode::io);
        break;
      case 6:
        if (draw(4) == 0) kit_.fail_next(static_cast<JournalCall>(draw(5)), ErrorCode::io);
        break;
      case 7: {
        const std::string account = std::to_string(draw(4));
        outside_[account] += 1;
        EXPECT_TRUE(kit_.append_from_outside(from_outside(account, "deposited", "1")));
        break;
      }
      case 8:
        kit_.advance(std::chrono::milliseconds(draw(2'000)));
        break;
      case 9:
        kit_.account(std::to_string(draw(4))).passivate();
        break;
      case 10:
        if (draw(3) != 0) break;
        ++crashes;
        kit_.crash();
        kit_.restart();
        for (auto& command : commands_) command.answer.reset();
        break;
      case 11:
        draw(2) == 0 ? kit_.hold_answers() : kit_.release_answers();
        break;
      case 12:
        draw(2) == 0 ? kit_.hold_appends() : kit_.release_appends();
        break;
      default:
        kit_.steps(draw(12));
        break;
    }
    hear();
  }

  void send(Command& command) {
    kit_.release_answers();
    kit_.release_appends();
    if (command.answer || command.told) return;
    auto account = kit_.account(command.account);
    const AskOptions options{.command_id = command.id, .timeout = std::chrono::seconds(30)};
    switch (command.kind) {
      case 0:
        command.answer = account.ask_future(Withdraw{command.amount}, options);
        break;
      case 1:
        command.answer = account.ask_future(DepositAndSnap{command.amount}, options);
        break;
      case 2:
        command.answer = account.ask_future(DepositTwice{command.amount}, options);
        break;
      default:
        command.answer = account.ask_future(Deposit{command.amount}, options);
        break;
    }
  }

  void hear() {
    for (auto& command : commands_) {
      if (!command.answer || !ready(*command.answer)) continue;
      const auto answer = command.answer->get();
      command.answer.reset();
      timeouts += shown(answer) == "timeout" ? 1u : 0u;
      if (answer.failed()) continue;
      duplicates += answer.duplicate() ? 1u : 0u;
      rejections += answer.rejected() ? 1u : 0u;
      command.told = shown(answer);
      if (answer.rejected()) continue;
      command.effect = command.kind == 0 ? -command.amount : command.kind == 2 ? 2 * command.amount : command.amount;
      rests_.push_back({command.account, answer.position(), answer.version(), answer->n});
    }
  }

  [[nodiscard]] bool all_told() const {
    return std::all_of(commands_.begin(), commands_.end(),
                       [](const Command& command) { return command.told.has_value(); });
  }

  void check() {
    ASSERT_TRUE(all_told()) << "everything is answered in the end";
    kit_.restart();  // without faults
    // What was answered is there, and was decided over the state that the events before it make: no fork.
    for (const auto& rest : rests_) {
      const auto state = kit_.account(rest.account).state_at(rest.position);
      ASSERT_TRUE(state) << state.error().what;
      EXPECT_EQ(state->state.balance, rest.balance);
      EXPECT_EQ(state->version, rest.version);
    }
    std::map<std::string, std::int64_t> balances = outside_;
    for (const auto& command : commands_) balances[command.account] += command.effect;
    for (const auto& [account, balance] : balances) {
      EXPECT_EQ(replayed(kit_.events_of({"account", account})), balance)
          << "account " << account << ": every command once";
      EXPECT_GE(balance, 0);
      EXPECT_EQ(kit_.account(account).ask(Look{})->n, balance);
    }
  }

  actors::Jitter random_;
  KitWithAccounts kit_;
  std::vector<Command> commands_;
  std::vector<Rest> rests_;
  std::map<std::string, std::int64_t> outside_;
};

TEST(AnyOrder, KeepsEveryPromise) {
  const char* const one_seed = std::getenv("EVERSHARD_SEED");
  const std::uint64_t from = one_seed != nullptr ? std::strtoull(one_seed, nullptr, 10) : 1;
  const std::uint64_t until = one_seed != nullptr ? from + 1 : 150;
  std::uint64_t crashes = 0, timeouts = 0, duplicates = 0, rejections = 0;
  for (std::uint64_t seed = from; seed < until && !HasFailure(); ++seed) {
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
    Story story(seed);
    story.run();
    crashes += story.crashes;
    timeouts += story.timeouts;
    duplicates += story.duplicates;
    rejections += story.rejections;
  }
  if (one_seed != nullptr || HasFailure()) return;
  for (const auto happened : {crashes, timeouts, duplicates, rejections})
    EXPECT_GT(happened, 100u) << "what does not happen is not tested";
}

// The same seed is the same run.
TEST(AnyOrder, IsAnOrderOfTheSeed) {
  const auto run = [](std::uint64_t seed) {
    KitWithAccounts kit({.seed = seed, .any_order = true});
    std::vector<std::string> order;
    for (int i = 0; i < 20; ++i) {
      kit.account(std::to_string(i % 7)).ask_async(Deposit{i}, [&order, i](const auto&) {
        order.push_back(std::to_string(i));
      });
    }
    kit.run();
    return order;
  };

  EXPECT_THAT(run(1), SizeIs(20));
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace evershard
