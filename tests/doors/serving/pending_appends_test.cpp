#include "evershard/doors/remote/pending_appends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace evershard::remote {
namespace {

using namespace std::chrono_literals;
using Clock = PendingAppends::Clock;

/// The same in the most naive way: a row an append, each with all that ever happened to it.
struct Row {
  int number;
  std::size_t bytes;
  Clock::time_point deadline;
  bool on_stream = false;
  bool arrived = false;  ///< perhaps
  bool waits = true;
};

class PendingAgainstModel {
 public:
  explicit PendingAgainstModel(std::uint64_t seed) : random_(seed) {}

  void act() {
    switch (below(11)) {
      case 0:
      case 1:
      case 2:
        return add();
      case 3:
      case 4:
      case 5:
        return send();
      case 6:
      case 7:
        return answer();
      case 8:
        return expire();
      case 9:
        return refuse_largest();
      default:
        return below(4) == 0 ? end() : broken();
    }
  }

  void add() {
    if (below(2) == 0) now_ += 1ms;
    const int number = next_++;
    const std::size_t bytes = below(20) == 0 ? 200 : 1 + below(30);
    std::string request = std::to_string(number) + ":";
    request.resize(std::max(bytes, request.size()), 'x');
    AppendCompletion done = [this, number](const Result<Appended>& result) {
      ended_[number].push_back(result ? "at " + std::to_string(result->first_position.value)
                                      : std::string(name_of(result.error().code)));
    };
    std::size_t held = 0;
    for (const auto& row : rows_) held += row.bytes;
    const bool full = rows_.size() >= 12 || (!rows_.empty() && held + request.size() > 150);
    const auto size = request.size();
    const auto added = pending_.add(std::move(request), now_ + 10ms, done);
    ASSERT_EQ(added.has_value(), !full);
    if (full) {
      ASSERT_EQ(added.error().code, ErrorCode::overloaded);
      ASSERT_TRUE(done) << "who was refused keeps its completion";
    } else {
      rows_.push_back({number, size, now_ + 10ms});
    }
  }

  void send() {
    const auto next = std::find_if(rows_.begin(), rows_.end(), [](const Row& row) { return !row.on_stream; });
    ASSERT_EQ(pending_.has_unsent(), next != rows_.end());
    const auto* request = pending_.next_to_send();
    ASSERT_EQ(request == nullptr, next == rows_.end());
    if (request == nullptr) return;
    ASSERT_TRUE(request->starts_with(std::to_string(next->number) + ":")) << *request << " instead of " << next->number;
    next->on_stream = true;
    if (below(3) == 0) reached_ = true;
  }

  void answer() {
    Appended appended;
    appended.first_position = GlobalPosition(static_cast<std::uint64_t>(++answers_));
    const auto how = below(3);
    const auto said = how == 1 ? ErrorCode::unauthenticated : ErrorCode::version_conflict;
    auto ended = pending_.answered(how == 0 ? Result<Appended>(appended) : refuse(said, "no"));
    if (rows_.empty() || !rows_.front().on_stream) {
      ASSERT_FALSE(ended);
      return;
    }
    const auto row = rows_.front();
    rows_.erase(rows_.begin());
    ASSERT_EQ(ended.has_value(), row.waits);
    if (!ended) return;
    ended->done(ended->result);
    // That a token is refused says nothing about an earlier try; a conflict does.
    const bool unknown = row.arrived && said == ErrorCode::unauthenticated;
    const auto refused = std::string(name_of(unknown ? ErrorCode::timeout : said));
    ASSERT_EQ(ended_[row.number], std::vector<std::string>{how == 0 ? "at " + std::to_string(answers_) : refused});
  }

  void refuse_largest() {
    auto largest = rows_.end();
    for (auto row = rows_.begin(); row != rows_.end() && row->on_stream; ++row)
      if (largest == rows_.end() || row->bytes > largest->bytes) largest = row;
    auto ended = pending_.refuse_largest({ErrorCode::too_large, "larger than max"});
    ASSERT_EQ(ended.has_value(), largest != rows_.end() && largest->waits);
    if (largest == rows_.end()) return;
    const auto row = *largest;
    rows_.erase(largest);
    if (!ended) return;
    ended->done(ended->result);
    ASSERT_EQ(ended_[row.number], std::vector<std::string>{row.arrived ? "timeout" : "too_large"});
  }

  void expire() {
    now_ += std::chrono::milliseconds(below(8));
    auto ended = pending_.expired(now_, reached_, below(2) == 0 ? "" : "the line is cut");
    tell(std::move(ended));
    for (auto& row : rows_) {
      if (!row.waits || row.deadline > now_) continue;
      row.waits = false;
      const bool arrived = row.arrived || (reached_ && row.on_stream);
      ASSERT_EQ(ended_[row.number], std::vector<std::string>{arrived ? "timeout" : "unavailable"}) << row.number;
    }
    std::erase_if(rows_, [](const Row& row) { return !row.waits && !row.on_stream; });
  }

  void broken() {
    arrive();
    pending_.broken(std::exchange(reached_, false));
    for (auto& row : rows_) row.on_stream = false;
    std::erase_if(rows_, [](const Row& row) { return !row.waits; });
  }

  void end() {
    arrive();
    tell(pending_.all(std::exchange(reached_, false), {ErrorCode::unavailable, "closed"}, false));
    for (const auto& row : rows_) {
      if (row.waits) {
        ASSERT_EQ(ended_[row.number], std::vector<std::string>{row.arrived ? "timeout" : "unavailable"});
      }
    }
    rows_.clear();
  }

  /// What was sent on a stream that came to a server may have arrived.
  void arrive() {
    for (auto& row : rows_) row.arrived = row.arrived || (reached_ && row.on_stream);
  }

  void check() {
    const auto waiting = std::find_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.waits; });
    ASSERT_EQ(pending_.idle(), waiting == rows_.end());
    ASSERT_EQ(pending_.next_deadline(), waiting == rows_.end() ? std::nullopt : std::optional(waiting->deadline));
    for (const auto& [number, outcomes] : ended_) {
      ASSERT_LE(outcomes.size(), 1u) << number << " ended twice";
    }
    for (const auto& row : rows_) {
      ASSERT_EQ(ended_[row.number].empty(), row.waits) << row.number;
    }
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  void tell(std::vector<PendingAppends::Ended> ended) {
    for (auto& one : ended) one.done(one.result);
  }

  std::mt19937_64 random_;
  bool reached_ = false;
  PendingAppends pending_{{12, 150}};
  std::vector<Row> rows_;
  std::map<int, std::vector<std::string>> ended_;
  Clock::time_point now_{};
  int next_ = 0;
  int answers_ = 0;
};

TEST(PendingAppends, DoesAsTheModelDoes) {
  const auto seed = std::random_device{}();
  for (std::uint64_t round = 0; round < 60; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed + round));
    PendingAgainstModel pending(seed + round);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE(step);
      ASSERT_NO_FATAL_FAILURE(pending.act());
      ASSERT_NO_FATAL_FAILURE(pending.check());
    }
  }
}

// One append beyond all bounds has to have a way out.
TEST(PendingAppends, TakesOneThatIsLargerThanTheBoundAlone) {
  PendingAppends pending({4, 10});
  AppendCompletion done = [](const Result<Appended>&) {};
  ASSERT_TRUE(pending.add(std::string(1'000, 'x'), Clock::now(), done));
  AppendCompletion other = [](const Result<Appended>&) {};
  EXPECT_FALSE(pending.add("y", Clock::now(), other));
}

TEST(PendingAppends, SaysWhyNothingWasSent) {
  PendingAppends pending({4, 100});
  AppendCompletion done = [](const Result<Appended>&) {};
  ASSERT_TRUE(pending.add("x", Clock::now(), done));
  const auto ended = pending.expired(Clock::now() + 1s, true, "connection refused");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_NE(ended[0].result.error().what.find("connection refused"), std::string::npos);
}

}  // namespace
}  // namespace evershard::remote
