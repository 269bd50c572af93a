// Kill rounds: a real process appends from several threads and is killed at a random moment; what it left is checked
// from outside.
//
// The test starts itself as the workload (`--workload`), which is killed after a while, or kills itself at a named step
// of the store. Every event says in its payload which request it belongs to, so that the checker needs to know nothing
// but what was acknowledged. EVERSHARD_KILL_ROUNDS and EVERSHARD_SEED steer it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <semaphore>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include <evershard/local.hpp>

#include "evershard/actors/core/committer.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int threads = 4;
constexpr int in_flight = 24;

LocalOptions options_of(const fs::path& directory) {
  return {.data_dir = directory, .shards = 16, .tail_events = 3'000, .disk_reserve_bytes = 1 << 20};
}

// ---- the workload
// ------------------------------------------------------------------------------------------------------

struct RequestName {
  int round = 0;
  int thread = 0;
  int number = 0;
  auto operator<=>(const RequestName&) const = default;
  [[nodiscard]] RequestId id(std::uint64_t seed) const {
    RequestId base;
    std::memcpy(base.bytes.data(), &seed, 8);
    return EventId::derived(EventId::derived(EventId::derived(base, 1'000'000u + round), 2'000'000u + thread),
                            3'000'000u + number);
  }
};

std::string payload_of(const RequestName& name, int index, int count) {
  std::ostringstream out;
  out << name.round << ' ' << name.thread << ' ' << name.number << ' ' << index << ' ' << count << ' ';
  std::string text = out.str();
  text.resize(text.size() + static_cast<std::size_t>((name.number * 37 + index * 11) % 700), 'x');
  return text;
}

Append request(const RequestName& name, std::uint64_t seed) {
  std::mt19937_64 random(seed * 31 +
                         static_cast<std::uint64_t>(name.round * 1'000'003 + name.thread * 10'007 + name.number));
  Append append;
  append.request(name.id(seed));
  const int count = random() % 5 == 0 ? 1 + static_cast<int>(random() % 30) : 1;
  const bool unique = random() % 4 == 0;
  const std::string unique_tag = "u:" + std::to_string(random() % 400);
  for (int i = 0; i < count; ++i) {
    std::vector<Tag> tags{"t:" + std::to_string(random() % 20), "round:" + std::to_string(name.round)};
    if (unique && i == 0) tags.push_back(unique_tag);
    const std::string aggregate = random() % 10 == 0 ? "" : "account-" + std::to_string(random() % 60);
    append.event(aggregate, random() % 2 ? "Credited" : "Debited", payload_of(name, i, count), tags);
  }
  if (unique) append.fail_if(Query{}.tags({unique_tag}));
  if (random() % 10 == 0) append.expect("account-" + std::to_string(random() % 60), Version::exactly(random() % 40));
  return append;
}

/// Appends until it is killed; a line for every acknowledgement goes to standard output, unbuffered.
template <class Store>
int append_for_ever(Store& store, int round, std::uint64_t seed) {
  (void)!write(1, "O\n", 2);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::counting_semaphore<in_flight> room(in_flight);
      for (int k = 0;; ++k) {
        // Now and then an earlier request again: it must be answered what it was answered before.
        const RequestName name{round, t, k % 9 == 8 ? k / 2 : k};
        const auto answer = [name](const Result<Appended>& done) {
          char line[96];
          int size = 0;
          if (done) {
            size = std::snprintf(line, sizeof line, "A %d %d %d %llu %llu\n", name.round, name.thread, name.number,
                                 static_cast<unsigned long long>(done->first_position.value),
                                 static_cast<unsigned long long>(done->last_position.value));
          } else if (done.error().code != ErrorCode::condition_failed &&
                     done.error().code != ErrorCode::version_conflict && done.error().code != ErrorCode::overloaded) {
            size = std::snprintf(line, sizeof line, "E %s\n", std::string(name_of(done.error().code)).c_str());
          }
          if (size > 0) (void)!write(1, line, static_cast<std::size_t>(size));
        };
        if (k % 50 == 7) {
          answer(store.append(request(name, seed)));
        } else {
          room.acquire();
          store.append_async(request(name, seed), [&room, answer](Result<Appended> done) {
            answer(done);
            room.release();
          });
        }
      }
    });
  }
  for (auto& thread : all) thread.join();
  return 0;
}

int workload(const fs::path& directory, int round, std::uint64_t seed) {
  auto store = Local::open(options_of(directory));
  if (!store) return std::fprintf(stderr, "open: %s\n", store.error().what.c_str()), 1;
  return append_for_ever(*store, round, seed);
}

/// The same on the parts that Local is made of, killed by itself when the store comes to a step for the n-th time.
int workload_until(const fs::path& directory, int round, std::uint64_t seed, const std::string& step, int times) {
  const LocalOptions like = options_of(directory);
  storage::StoreOptions options;
  options.data_dir = like.data_dir;
  options.shards = like.shards;
  options.tail_events = like.tail_events;
  options.disk_reserve_bytes = like.disk_reserve_bytes;
  std::atomic<int> left{times};
  options.at_step = [&](std::string_view now) {
    if (now == step && --left == 0) kill(getpid(), SIGKILL);
  };
  auto store = storage::open_store(options);
  if (!store) return std::fprintf(stderr, "open: %s\n", store.error().what.c_str()), 1;
  actors::Committer committer(**store, {});
  return append_for_ever(committer, round, seed);
}

// ---- the checker
// -------------------------------------------------------------------------------------------------------

struct Acknowledged {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Where a workload kills itself.
struct Step {
  const char* name = nullptr;  ///< absent: it is killed from outside
  int times = 1;
};

/// Runs the workload until it dies, at the latest after `life`, and returns what it acknowledged.
std::map<RequestName, Acknowledged> run_and_kill(const fs::path& directory, int round, std::uint64_t seed,
                                                 std::chrono::milliseconds life, Step step = {},
                                                 bool* by_itself = nullptr) {
  int out[2];
  EXPECT_EQ(pipe(out), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    close(out[0]);
    close(out[1]);
    const auto round_text = std::to_string(round), seed_text = std::to_string(seed);
    const auto times_text = std::to_string(step.times);
    if (step.name)
      execl("/proc/self/exe", "kill_rounds", "--workload", directory.c_str(), round_text.c_str(), seed_text.c_str(),
            step.name, times_text.c_str(), nullptr);
    else
      execl("/proc/self/exe", "kill_rounds", "--workload", directory.c_str(), round_text.c_str(), seed_text.c_str(),
            nullptr);
    _exit(127);
  }
  close(out[1]);
  fcntl(out[0], F_SETPIPE_SZ, 1 << 20);
  std::string text;
  char buffer[65'536];
  bool killed = false;
  std::chrono::steady_clock::time_point until{};
  for (;;) {
    if (until == std::chrono::steady_clock::time_point{} && !text.empty())
      until = std::chrono::steady_clock::now() + life;
    if (!killed && until != std::chrono::steady_clock::time_point{} && std::chrono::steady_clock::now() >= until) {
      kill(child, SIGKILL);
      killed = true;
    }
    pollfd ready{out[0], POLLIN, 0};
    if (poll(&ready, 1, 1) <= 0) continue;
    const ssize_t got = read(out[0], buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(out[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (by_itself) *by_itself = !killed;
  EXPECT_TRUE(WIFSIGNALED(status)) << "the workload ended by itself with status " << status;

  std::map<RequestName, Acknowledged> answers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == 'O') continue;
    EXPECT_NE(line[0], 'E') << line;
    RequestName name;
    Acknowledged a;
    if (std::sscanf(line.c_str(), "A %d %d %d %lu %lu", &name.round, &name.thread, &name.number, &a.first, &a.last) !=
        5)
      continue;
    auto [at, fresh] = answers.emplace(name, a);
    EXPECT_TRUE(fresh || (at->second.first == a.first && at->second.last == a.last)) << "I-Once: two answers: " << line;
  }
  return answers;
}

/// Everything there is, checked against itself and against all that was ever acknowledged.
void check(Local& store, const std::map<RequestName, Acknowledged>& acknowledged, std::uint64_t& head_before) {
  struct Stored {
    std::uint64_t first = 0;
    int events = 0;
    int count = 0;
  };
  std::map<RequestName, Stored> requests;
  std::map<std::string, std::uint64_t> versions;
  std::map<std::string, std::vector<std::uint64_t>> tagged;
  std::set<EventId> ids;
  std::uint64_t position = 0;
  auto all = store.read(Query::all());
  for (const auto& event : all) {
    ASSERT_EQ(event.position.value, ++position) << "I-Dense";
    ASSERT_TRUE(ids.insert(event.id).second) << "I-Once: an event id twice at " << position;
    RequestName name;
    int index = 0, count = 0;
    ASSERT_EQ(
        std::sscanf(event.payload.c_str(), "%d %d %d %d %d", &name.round, &name.thread, &name.number, &index, &count),
        5);
    ASSERT_EQ(event.payload, payload_of(name, index, count)) << "damaged at " << position;
    auto& stored = requests[name];
    if (index == 0) {
      ASSERT_EQ(stored.events, 0) << "I-Once: a request twice at " << position;
      stored = {position, 0, count};
    }
    ASSERT_EQ(position, stored.first + static_cast<std::uint64_t>(index)) << "I-Together";
    ++stored.events;
    if (event.aggregate) {
      ASSERT_EQ(event.seq_nr.value, ++versions[event.aggregate->text()]) << "I-Version";
    }
    for (const auto& tag : event.tags) tagged[tag].push_back(position);
  }
  ASSERT_FALSE(all.error()) << all.error()->what;
  ASSERT_GE(position, head_before) << "I-NoSkip: the order became shorter";
  head_before = position;

  for (const auto& [name, stored] : requests) {
    ASSERT_EQ(stored.events, stored.count) << "I-Atomic: in part";
  }
  for (const auto& [name, answer] : acknowledged) {
    auto found = requests.find(name);
    ASSERT_NE(found, requests.end()) << "I-Durable: lost " << name.round << ' ' << name.thread << ' ' << name.number;
    ASSERT_EQ(found->second.first, answer.first) << "I-Durable: at another position";
    ASSERT_EQ(found->second.first + static_cast<std::uint64_t>(found->second.count) - 1, answer.last);
  }
  for (const auto& [tag, positions] : tagged) {
    if (tag.starts_with("u:")) {
      ASSERT_EQ(positions.size(), 1u) << "I-Condition: " << tag;
    }
    std::vector<std::uint64_t> found;
    auto matches = store.read(Query{}.tags({tag}));
    for (const auto& event : matches) found.push_back(event.position.value);
    ASSERT_FALSE(matches.error()) << matches.error()->what;
    ASSERT_EQ(found, positions) << "I-Derived: " << tag;
  }
  for (const auto& [aggregate, version] : versions) {
    auto info = store.aggregate(*AggregateId::parse(aggregate));
    ASSERT_TRUE(info) << info.error().what;
    ASSERT_EQ(info->version.value, version);
  }
  auto report = store.verify();
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
}

TEST(KillRounds, WhateverWasAcknowledgedIsThereOnceWholeAndAtItsPosition) {
  const char* rounds_text = std::getenv("EVERSHARD_KILL_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 12;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr int rounds_a_store = 8;  // then a fresh one: checking costs what the store holds

  for (int first = 0; first < rounds && !HasFatalFailure(); first += rounds_a_store) {
    const fs::path directory =
        fs::temp_directory_path() / ("evershard-kill-" + std::to_string(getpid()) + "-" + std::to_string(first));
    fs::remove_all(directory);
    std::map<RequestName, Acknowledged> acknowledged;
    std::uint64_t head = 0;
    const int last = std::min(rounds, first + rounds_a_store);
    // On a slow disk some rounds more, until they mean anything.
    const auto go_on = [&](int round) { return round < last || (acknowledged.size() <= 100 && round < last + 30); };
    for (int round = first; go_on(round) && !HasFatalFailure(); ++round) {
      for (auto& [name, answer] : run_and_kill(directory, round, seed, std::chrono::milliseconds(20 + random() % 600)))
        acknowledged.emplace(name, answer);

      auto store = Local::open(options_of(directory));

      ASSERT_TRUE(store) << store.error().what;
      check(*store, acknowledged, head);
    }
    EXPECT_GT(acknowledged.size(), 100u) << "the rounds are too short to mean anything";
    fs::remove_all(directory);
  }
}

// Sealing in all its steps, and a commit in all of its: the process is gone just there, with appends under way.
TEST(KillRounds, AProcessThatEndsBetweenTwoStepsOfSealingOrCommittingLosesNothing) {
  namespace steps = storage::steps;
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  int round = 0;
  for (const char* name : {steps::seal_begin, steps::seal_sorting, steps::seal_rows, steps::seal_file,
                           steps::seal_written, steps::seal_ingested, steps::seal_shown, steps::stage_done,
                           steps::commit_begin, steps::commit_written, steps::commit_marked, steps::commit_shown}) {
    SCOPED_TRACE(name);
    const fs::path directory = fs::temp_directory_path() / ("evershard-step-" + std::to_string(getpid()));
    fs::remove_all(directory);
    std::map<RequestName, Acknowledged> acknowledged;
    std::uint64_t head = 0;
    // The second life begins with what the first one left half done.
    for (const int times : {3, 1}) {
      bool by_itself = false;
      acknowledged.merge(run_and_kill(directory, round++, seed, 30s, {name, times}, &by_itself));
      ASSERT_TRUE(by_itself) << "it never came to this step";

      auto store = Local::open(options_of(directory));

      ASSERT_TRUE(store) << store.error().what;
      check(*store, acknowledged, head);
      if (HasFatalFailure()) return;
    }
    fs::remove_all(directory);
  }
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--workload")
    return evershard::workload(argv[2], std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10));
  if (argc == 7 && std::string_view(argv[1]) == "--workload")
    return evershard::workload_until(argv[2], std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10), argv[5],
                                     std::atoi(argv[6]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
