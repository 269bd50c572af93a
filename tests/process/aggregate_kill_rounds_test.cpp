// Kill rounds of live aggregates: a real process carries out commands with ids and is killed at a random moment.
//
// The test starts itself as the workload (`--workload`), which writes a line before it sends a command and a line for
// every answer. What it left is checked by sending every command again: what was answered is answered alike, and in the
// end every event in the store belongs to one command. EVERSHARD_KILL_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <map>
#include <random>
#include <semaphore>
#include <set>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include <evershard/local.hpp>

#include "tests/actors/aggregate/small_bank.hpp"
#include "tests/process/process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using namespace small;
namespace fs = std::filesystem;

using Bank = BankOf<1, 16>;
constexpr int threads = 4;
constexpr int in_flight = 32;
constexpr int accounts = 40;
constexpr int claims = 300;

/// A command: what it is follows from its name.
struct CommandName {
  int round = 0;
  int thread = 0;
  int number = 0;
  auto operator<=>(const CommandName&) const = default;

  [[nodiscard]] std::string id() const {
    return std::to_string(round) + "." + std::to_string(thread) + "." + std::to_string(number);
  }
  [[nodiscard]] std::uint32_t drawn() const {
    std::mt19937 random(static_cast<std::uint32_t>(round * 1'000'003 + thread * 10'007 + number));
    return static_cast<std::uint32_t>(random());
  }
  [[nodiscard]] std::string account() const { return std::to_string(drawn() % accounts); }
  [[nodiscard]] int kind() const { return static_cast<int>(drawn() / 64 % 8); }
  [[nodiscard]] std::int64_t amount() const { return kind() == 7 ? drawn() / 1024 % claims : 1 + drawn() / 1024 % 9; }
  /// What carrying it out does to the balance, and in how many events.
  [[nodiscard]] std::int64_t effect() const {
    return kind() == 7 ? 0 : kind() == 6 ? 2 * amount() : kind() < 2 ? -amount() : amount();
  }
  [[nodiscard]] int events() const { return kind() == 6 ? 2 : 1; }
};

template <class Done>
void send(Local& store, const CommandName& name, Done done) {
  auto account = store.get<Bank>(name.account());
  const AskOptions options{.command_id = name.id(), .timeout = 60s};
  switch (name.kind()) {
    case 0:
    case 1:
      account.ask_async(Withdraw{name.amount()}, done, options);
      break;
    case 5:
      account.ask_async(DepositAndSnap{name.amount()}, done, options);
      break;
    case 6:
      account.ask_async(DepositTwice{name.amount()}, done, options);
      break;
    case 7:
      account.ask_async(Claim{name.amount()}, done, options);
      break;
    default:
      account.ask_async(Deposit{name.amount()}, done, options);
      break;
  }
}

Result<Local> open(const fs::path& directory) {
  LocalOptions options;
  options.data_dir = directory;
  options.tail_events = 3'000;
  options.disk_reserve_bytes = 1 << 20;
  options.aggregates.live_limit = 24;  // so that they come and go
  auto store = Local::open(options);
  if (store && !store->host<Bank>()) return refuse(ErrorCode::invalid_argument, "the bank is not hosted");
  return store;
}

// ---- the workload
// ------------------------------------------------------------------------------------------------------

void say(const char* line, int size) { (void)!write(1, line, static_cast<std::size_t>(size)); }

// Commands of this life, now and then one of an earlier time again; until it is killed.
int workload(const fs::path& directory, int round) {
  auto store = open(directory);
  if (!store) return std::fprintf(stderr, "open: %s\n", store.error().what.c_str()), 1;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::counting_semaphore<in_flight> room(in_flight);
      for (int k = 0;; ++k) {
        CommandName name{round, t, k};
        if (k % 10 == 9) name.number = k / 2;
        if (k % 17 == 16 && round > 0) name.round = round - 1;
        room.acquire();
        char line[64];
        say(line, std::snprintf(line, sizeof line, "S %d %d %d\n", name.round, name.thread, name.number));
        send(*store, name, [&room, name](const Answer<Balance>& answer) {
          char told[160];
          int size = 0;
          if (answer) {
            size = std::snprintf(told, sizeof told, "A %d %d %d %lld %llu %llu\n", name.round, name.thread, name.number,
                                 static_cast<long long>(answer->n),
                                 static_cast<unsigned long long>(answer.version().value),
                                 static_cast<unsigned long long>(answer.position().value));
          } else if (answer.failed() && answer.error().code != ErrorCode::condition_failed &&
                     answer.error().code != ErrorCode::overloaded) {
            size = std::snprintf(told, sizeof told, "E %.140s\n", answer.error().what.c_str());
          }
          if (size > 0) say(told, std::min(size, static_cast<int>(sizeof told) - 1));
          room.release();
        });
      }
    });
  }
  for (auto& thread : all) thread.join();
  return 0;
}

// ---- the checker
// ---------------------------------------------------------------------------------------------------------

/// What a command was answered when it was carried out.
struct Told {
  std::int64_t balance = 0;
  std::uint64_t version = 0;
  std::uint64_t position = 0;
  friend bool operator==(const Told&, const Told&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Told& t) {
    return out << t.balance << " at " << t.version << ", position " << t.position;
  }
};

/// All lives of one store.
struct Ledger {
  std::set<CommandName> sent;               ///< in the life that was killed
  std::map<CommandName, Told> carried_out;  ///< ever

  void note(const CommandName& name, const Told& told) {
    const auto [at, fresh] = carried_out.emplace(name, told);
    EXPECT_TRUE(fresh || at->second == told)
        << "command " << name.id() << " was answered " << at->second << ", and then " << told;
  }
};

void run_and_kill(const fs::path& directory, int round, std::chrono::milliseconds life, Ledger& ledger) {
  testing::Process child({"/proc/self/exe", "--workload", directory.string(), std::to_string(round)});
  ASSERT_FALSE(child.lines(1).empty()) << "the workload does not begin";
  std::this_thread::sleep_for(life);
  child.signal(SIGKILL);
  const auto finished = child.wait();
  ASSERT_EQ(finished.status, 128 + SIGKILL) << "the workload ended by itself: " << finished.err;

  ledger.sent.clear();
  std::istringstream lines(finished.out);
  for (std::string line; std::getline(lines, line) && !lines.eof();) {  // the last one may be torn
    CommandName name;
    Told told;
    ASSERT_NE(line[0], 'E') << line;
    if (line[0] == 'S' && std::sscanf(line.c_str(), "S %d %d %d", &name.round, &name.thread, &name.number) == 3)
      ledger.sent.insert(name);
    if (line[0] == 'A' && std::sscanf(line.c_str(), "A %d %d %d %ld %lu %lu", &name.round, &name.thread, &name.number,
                                      &told.balance, &told.version, &told.position) == 6) {
      ledger.note(name, told);
    }
  }
}

/// Every command again: what was carried out is not carried out again, what was not is now, or is refused.
void send_again(Local& store, Ledger& ledger, std::uint64_t& duplicates) {
  std::vector<std::pair<CommandName, std::future<Answer<Balance>>>> pending;
  const auto hear = [&] {
    for (auto& [name, future] : std::exchange(pending, {})) {
      const auto answer = future.get();
      const bool known = ledger.carried_out.contains(name);
      if (answer) {
        ASSERT_TRUE(answer.duplicate() || !known) << "carried out twice: " << name.id();
        duplicates += answer.duplicate() ? 1u : 0u;
        ledger.note(name, {answer->n, answer.version().value, answer.position().value});
      } else {
        ASSERT_FALSE(known) << "answered, and now unknown: " << name.id() << ": " << answer.rejection()
                            << answer.error().what;
        ASSERT_TRUE(answer.rejected() || answer.error().code == ErrorCode::condition_failed) << answer.error().what;
      }
    }
  };
  for (const auto& name : ledger.sent) {
    auto promise = std::make_shared<std::promise<Answer<Balance>>>();
    pending.emplace_back(name, promise->get_future());
    send(store, name, [promise](const Answer<Balance>& answer) { promise->set_value(answer); });
    if (pending.size() == 500) hear();
    if (::testing::Test::HasFatalFailure()) return;
  }
  hear();
}

/// Every event belongs to one command, and every command's reply is what the events up to it make.
void check(Local& store, const Ledger& ledger) {
  std::map<std::string, std::map<std::uint64_t, std::int64_t>> balances;  ///< by account and version
  std::map<std::string, std::int64_t> claimed;
  std::uint64_t events = 0, expected = 0;
  auto all = store.read(Query::all());
  for (const auto& event : all) {
    ++events;
    auto& versions = balances[event.aggregate->value];
    const std::int64_t before = versions.empty() ? 0 : versions.rbegin()->second;
    const std::int64_t n = std::stoll(event.payload);
    ASSERT_EQ(event.seq_nr.value, versions.size() + 1);
    versions[event.seq_nr.value] = before + (event.type == "deposited" ? n : event.type == "withdrawn" ? -n : 0);
    ASSERT_GE(versions[event.seq_nr.value], 0) << "overdrawn: " << event.aggregate->text();
    for (const auto& tag : event.tags) ASSERT_EQ(++claimed[tag], 1) << tag;
  }
  ASSERT_FALSE(all.error()) << all.error()->what;

  std::map<std::string, std::int64_t> sums;
  std::set<std::uint64_t> positions;
  for (const auto& [name, told] : ledger.carried_out) {
    ASSERT_TRUE(positions.insert(told.position).second) << "two commands at position " << told.position;
    const auto& versions = balances[name.account()];
    const auto at = versions.find(told.version);
    ASSERT_NE(at, versions.end()) << "lost: " << name.id() << ", answered " << told;
    ASSERT_EQ(at->second, told.balance) << "command " << name.id();
    sums[name.account()] += name.effect();
    expected += static_cast<std::uint64_t>(name.events());
  }
  ASSERT_EQ(events, expected) << "events that belong to no command, or to one that was carried out twice";
  for (const auto& [account, sum] : sums) {
    ASSERT_EQ(store.get<Bank>(account).state()->state.balance, sum) << "account " << account;
    ASSERT_EQ(balances[account].rbegin()->second, sum);
  }
  const auto report = store.verify();
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
}

TEST(AggregateKillRounds, EveryCommandThatWasAnsweredIsThereExactlyOnce) {
  const char* rounds_text = std::getenv("EVERSHARD_KILL_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 10;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr int rounds_a_store = 5;  // then a fresh one: checking costs what the store holds
  std::uint64_t duplicates = 0, commands = 0;

  // On a slow disk some rounds more, until they mean anything.
  const auto go_on = [&](int first) {
    return first < rounds || ((commands <= 100 || duplicates <= 50) && first < rounds + 30);
  };
  for (int first = 0; go_on(first) && !HasFatalFailure(); first += rounds_a_store) {
    const fs::path directory =
        fs::temp_directory_path() / ("evershard-bank-" + std::to_string(getpid()) + "-" + std::to_string(first));
    fs::remove_all(directory);
    Ledger ledger;
    for (int round = first; round < first + rounds_a_store && !HasFailure(); ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      run_and_kill(directory, round, std::chrono::milliseconds(20 + random() % 400), ledger);
      if (HasFatalFailure()) break;

      auto store = open(directory);
      ASSERT_TRUE(store) << store.error().what;
      send_again(*store, ledger, duplicates);
      if (!HasFatalFailure()) check(*store, ledger);
    }
    commands += ledger.carried_out.size();
    fs::remove_all(directory);
  }
  EXPECT_GT(commands, 100u) << "the rounds are too short to mean anything";
  EXPECT_GT(duplicates, 50u);
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--workload") return evershard::workload(argv[2], std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
