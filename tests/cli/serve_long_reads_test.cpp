// `evershard serve` beside the worst selects that are allowed: short reads go on, work ends with its caller, and the
// server ends when told.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <thread>

#include "evershard/doors/remote/remote.hpp"
#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto a_moment = milliseconds(20);
constexpr const char* texts = R"({"fields":[{"name":"id","type":"text","role":"key"},{"name":"w","type":"text"}],
  "rules":[{"types":["T"],"action":"upsert","key":"aggregate","fields":{"w":"$.w"}}]})";
/// Seven steps, no match: over a text of that length as much as one row may cost.
constexpr const char* worst = "w =~ 'a{2}b'";
constexpr std::size_t text_bytes = 570'000;

/// Time on processors since it began.
milliseconds processor_time(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string word;
  long user = 0, system = 0;
  for (int i = 1; i <= 13; ++i) stat >> word;  // none of ours has a space in its name
  stat >> user >> system;
  return milliseconds((user + system) * 1'000 / ::sysconf(_SC_CLK_TCK));
}

class ServeLongReads : public Program {
 protected:
  ServeLongReads() {
    ::setenv("EVERSHARD_HTTP_LISTEN", "none", 1);
    server_ = std::make_unique<Process>(words(
        {"serve", "--data", path("served"), "--listen", "127.0.0.1:0", "--shards", "4", "--log-file", path("log")}));
    address_ = server_->ready();
    auto remote = connect(std::chrono::seconds(60));
    for (int i = 0; i < rows; ++i) {
      auto done = remote.append(
          Append{}.event("t-" + std::to_string(i), "T", R"({"w":")" + std::string(text_bytes, 'a') + R"("})"));
      EXPECT_TRUE(done) << done.error().what;
    }
    EXPECT_TRUE(remote.append(Append{}.event("s-1", "Short", "{}")));
    auto created = remote.projections().create("texts", "table", texts);
    EXPECT_TRUE(created) << created.error().what;
    auto there = remote.tables().select("texts", {.where = "id = 't-0'", .fields = {"id"}},
                                        {.at_least = *remote.head(), .timeout = std::chrono::seconds(60)});
    EXPECT_TRUE(there) << there.error().what;
  }

  [[nodiscard]] Remote connect(std::chrono::seconds timeout) const {
    return *Remote::connect({.server = address_, .timeout = timeout});
  }

  /// Ask for the worst, again and again, until they go.
  void begin_selects() {
    for (int i = 0; i < callers; ++i) {
      selects_.emplace_back([this] {
        auto remote = connect(std::chrono::seconds(2));
        while (!enough_) {
          auto page =
              remote.tables().select("texts", {.where = worst, .fields = {"id"}}, {.timeout = std::chrono::seconds(2)});
          ++(page ? answered_ : refused_);
        }
      });
    }
    while (answered_ + refused_ == 0) std::this_thread::sleep_for(milliseconds(1));
  }
  void end_selects() {
    enough_ = true;
    for (auto& one : selects_) one.join();
    selects_.clear();
  }

  /// Of reads of one event, one after the other; some of them meet a machine that stands still.
  [[nodiscard]] milliseconds p90_of_short_reads() const {
    auto remote = connect(std::chrono::seconds(60));  // how long they took is looked at, not whether a busy machine did
    std::vector<milliseconds> took;
    for (int i = 0; i < short_reads; ++i) {
      const auto began = Clock::now();
      auto events = remote.read(Query{}.types({"Short"}), {.limit = 1, .direction = Direction::backwards});
      EXPECT_EQ(std::ranges::distance(events.begin(), events.end()), 1);
      EXPECT_FALSE(events.error()) << events.error()->what;
      took.push_back(std::chrono::ceil<milliseconds>(Clock::now() - began));
    }
    std::ranges::sort(took);
    return took[took.size() * 9 / 10];
  }

  static constexpr int rows = 20;
  static constexpr int callers = 16;
  static constexpr int short_reads = 100;
  std::unique_ptr<Process> server_;
  std::string address_;
  std::atomic<bool> enough_{false};
  std::atomic<int> answered_{0}, refused_{0};
  std::vector<std::thread> selects_;
};

TEST_F(ServeLongReads, LeaveShortOnesAndTheEndAlone) {
  const auto alone = p90_of_short_reads();
  begin_selects();
  const auto beside = p90_of_short_reads();
  end_selects();
  std::cout << "short reads: p90 " << alone.count() << " ms alone, " << beside.count() << " ms beside " << callers
            << " of the worst selects (" << answered_ << " answered, " << refused_ << " refused)\n";
  EXPECT_LT(beside, std::max(10 * alone, milliseconds(3'000)))
      << "how much slower is the benchmark's to say; not held up is this test's";

  // Whoever went has nothing done for them any more, once the server knows.
  auto worked = milliseconds::max();
  for (const auto until = Clock::now() + std::chrono::seconds(60); worked >= 10 * a_moment && Clock::now() < until;) {
    const auto before = processor_time(server_->pid());
    std::this_thread::sleep_for(25 * a_moment);
    worked = processor_time(server_->pid()) - before;
  }
  EXPECT_LT(worked, 10 * a_moment) << "work went on after its callers had gone";

  enough_ = false;
  begin_selects();
  const auto told = Clock::now();
  server_->signal(SIGTERM);
  const auto done = server_->wait();
  const auto took = Clock::now() - told;
  end_selects();
  EXPECT_EQ(done.status, 0) << done.err << read_file("log");
  EXPECT_LT(took, std::chrono::seconds(60));
}

}  // namespace
}  // namespace evershard::testing
