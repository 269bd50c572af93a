// Kill rounds of a server: client processes append through their own Remote while the server is killed and started
// again, and a subscription goes on through all of it; at the end the data is looked at from inside.
//
// The test starts itself as the clients (`--client`). EVERSHARD_KILL_ROUNDS and EVERSHARD_SEED steer it.

#include <evershard/local.hpp>

#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <semaphore>
#include <sstream>

#include "tests/process/server_process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::Process;
using testing::ServerFolder;
using testing::ServerProcess;

constexpr int clients = 3;
constexpr int threads = 2;
constexpr int in_flight = 16;

struct Name {
  int client = 0;
  int thread = 0;
  int number = 0;
  auto operator<=>(const Name&) const = default;
};

int events_of(const Name& name) { return name.number % 5 == 0 ? 1 + name.number % 13 : 1; }

std::string payload_of(const Name& name, int index) {
  auto text = std::to_string(name.client) + ' ' + std::to_string(name.thread) + ' ' + std::to_string(name.number) +
              ' ' + std::to_string(index) + ' ';
  text.resize(text.size() + static_cast<std::size_t>((name.number * 37 + index * 11) % 500), 'x');
  return text;
}

/// Every third one has no name of its own: what the client gives it has to do.
bool is_named(const Name& name) { return name.number % 3 != 0; }

Append append_of(const Name& name, std::uint64_t seed) {
  Append append;
  if (is_named(name)) {
    RequestId id;
    std::memcpy(id.bytes.data(), &seed, sizeof seed);
    append.request(
        EventId::derived(EventId::derived(EventId::derived(id, 1'000'000u + static_cast<unsigned>(name.client)),
                                          2'000'000u + static_cast<unsigned>(name.thread)),
                         3'000'000u + static_cast<unsigned>(name.number)));
  }
  for (int i = 0; i < events_of(name); ++i) {
    append.event("account-" + std::to_string((name.number + i) % 40), "Credited", payload_of(name, i),
                 {"t:" + std::to_string(name.number % 10)});
  }
  return append;
}

/// Appends until standard input ends; a line for every answer.
int client(const std::string& server, int number, std::uint64_t seed) {
  auto remote = Remote::connect({.server = server, .timeout = 60s});
  if (!remote) return 1;
  // A client that nobody ever answered takes a refused connection for final, and the server may be killed by now.
  while (!remote->head()) std::this_thread::sleep_for(10ms);
  std::atomic<bool> over{false};
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::counting_semaphore<in_flight> room(in_flight);
      for (int k = 0; !over; ++k) {
        // Now and then an earlier one again: it must be answered what it was answered before.
        const int earlier = k / 2;
        const Name name{number, t, k % 9 == 8 && earlier % 9 != 8 && is_named({number, t, earlier}) ? earlier : k};
        const bool again = name.number != k;
        room.acquire();
        remote->append_async(append_of(name, seed), [&room, name, again](const Result<Appended>& done) {
          char line[160];
          const int size =
              done ? std::snprintf(line, sizeof line, "A %d %d %d %llu %llu %d %d\n", name.client, name.thread,
                                   name.number, static_cast<unsigned long long>(done->first_position.value),
                                   static_cast<unsigned long long>(done->last_position.value), done->duplicate ? 1 : 0,
                                   again ? 1 : 0)
                   : std::snprintf(line, sizeof line, "E %s %.100s\n", std::string(name_of(done.error().code)).c_str(),
                                   done.error().what.c_str());
          (void)!::write(1, line, static_cast<std::size_t>(size));
          room.release();
        });
        if (k % 20 == 0) std::this_thread::sleep_for(1ms);
      }
      for (int i = 0; i < in_flight; ++i) room.acquire();  // all were answered
    });
  }
  char part[64];
  while (::read(0, part, sizeof part) > 0) {
  }
  over = true;
  for (auto& thread : all) thread.join();
  return 0;
}

/// Follows everything, through whatever happens to the server, and checks that no position is left out or comes twice.
class Follower {
 public:
  explicit Follower(const ServerProcess& server)
      : remote_(server.answered_client(60s)), thread_([this] { follow(); }) {}
  ~Follower() {
    over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// Waits until it was given everything up to there.
  void finish(std::uint64_t head) {
    for (int tries = 0; tries < 3'000 && last_ < head && !failed_; ++tries) std::this_thread::sleep_for(10ms);
    over_ = true;
    thread_.join();
    EXPECT_EQ(last_, head);
  }

 private:
  void follow() {
    auto feed = remote_.follow(Query::all(), {.page_events_max = 100});
    while (!over_) {
      const auto item = feed.next(200ms);
      if (!item) {
        failed_ = true;
        ADD_FAILURE() << item.error().what;
        return;
      }
      for (const auto& event : item->events) {
        if (event.position.value != last_ + 1) {
          failed_ = true;
          ADD_FAILURE() << event.position.value << " after " << last_;
          return;
        }
        ++last_;
      }
      if (item->watermark.value < last_) ADD_FAILURE() << "a checkpoint goes back";
    }
  }

  Remote remote_;
  std::atomic<bool> over_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::uint64_t> last_{0};
  std::thread thread_;
};

struct Answer {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// All answers of a client's run. A request that was answered twice must have been answered the same.
void gather(const std::string& text, std::map<Name, Answer>& answers, std::size_t& duplicates) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Name name;
    Answer answer;
    int duplicate = 0;
    int again = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "A %d %d %d %lu %lu %d %d", &name.client, &name.thread, &name.number,
                          &answer.first, &answer.last, &duplicate, &again),
              7)
        << line;
    const auto [at, fresh] = answers.emplace(name, answer);
    ASSERT_TRUE(fresh || (at->second.first == answer.first && at->second.last == answer.last))
        << "two answers: " << line;
    if (again != 0) {
      ASSERT_TRUE(duplicate != 0) << "appended again and not told so: " << line;
    }
    duplicates += static_cast<std::size_t>(duplicate);
  }
}

void check(Local& store, const std::map<Name, Answer>& answers) {
  std::map<Name, Answer> stored;
  std::uint64_t position = 0;
  auto all = store.read(Query::all());
  for (const auto& event : all) {
    ASSERT_EQ(event.position.value, ++position);
    Name name;
    int index = 0;
    ASSERT_EQ(std::sscanf(event.payload.c_str(), "%d %d %d %d", &name.client, &name.thread, &name.number, &index), 4);
    ASSERT_EQ(event.payload, payload_of(name, index)) << "damaged at " << position;
    if (index == 0) {
      ASSERT_TRUE(stored.emplace(name, Answer{position, position}).second) << "stored twice: " << event.payload;
    }
    ASSERT_EQ(stored.at(name).first + static_cast<std::uint64_t>(index), position) << "torn apart";
    stored.at(name).last = position;
  }
  ASSERT_FALSE(all.error()) << all.error()->what;
  for (const auto& [name, answer] : answers) {
    const auto found = stored.find(name);
    ASSERT_NE(found, stored.end()) << "lost: " << name.client << ' ' << name.thread << ' ' << name.number;
    ASSERT_EQ(found->second.first, answer.first) << "at another position than was answered";
    ASSERT_EQ(found->second.last, answer.last);
  }
  for (const auto& [name, at] : stored) {
    ASSERT_EQ(at.last - at.first + 1, static_cast<std::uint64_t>(events_of(name))) << "in part";
    ASSERT_TRUE(answers.contains(name)) << "every client was answered in the end";
  }
  const auto report = store.verify();
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->errors, 0u) << report->findings.front();
}

TEST(ServerKillRounds, AcknowledgedOnceRetriedSafelyFollowedWithoutAGap) {
  const char* rounds_text = std::getenv("EVERSHARD_KILL_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 5;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  constexpr int rounds_a_store = 10;  // then a fresh one: checking costs what the store holds

  for (int first = 0; first < rounds && !HasFatalFailure(); first += rounds_a_store) {
    ServerFolder folder;
    ServerProcess server((folder.path() / "data").string());
    Follower follower(server);
    std::vector<std::unique_ptr<Process>> appending;
    for (int c = 0; c < clients; ++c) {
      appending.push_back(std::make_unique<Process>(
          std::vector<std::string>{"/proc/self/exe", "--client", server.address(), std::to_string(c),
                                   std::to_string(seed + static_cast<std::uint64_t>(first))}));
    }
    for (int round = first; round < std::min(rounds, first + rounds_a_store); ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 500));
      server.kill();
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
      ASSERT_NO_FATAL_FAILURE(server.start());
    }
    std::this_thread::sleep_for(200ms);

    std::map<Name, Answer> answers;
    std::size_t duplicates = 0;
    for (auto& process : appending) {
      const auto finished = process->wait(120s);
      EXPECT_EQ(finished.status, 0) << finished.err;
      ASSERT_NO_FATAL_FAILURE(gather(finished.out, answers, duplicates));
    }
    EXPECT_GT(answers.size(), 100u) << "the rounds are too short to mean anything";
    EXPECT_GT(duplicates, 0u);
    const auto head = server.connect().head();
    ASSERT_TRUE(head) << head.error().what;
    follower.finish(head->value);
    server.terminate();

    auto store = Local::open({.data_dir = folder.path() / "data"});
    ASSERT_TRUE(store) << store.error().what;
    ASSERT_EQ(store->head()->value, head->value);
    check(*store, answers);
  }
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 5 && std::string_view(argv[1]) == "--client")
    return evershard::client(argv[2], std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
