// A sink whose target says `fenced` about what the sink itself wrote. Against PostgreSQL: tests/examples.

#include "evershard/api/sink.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "evershard/local/local.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;

/// Of its first write of events the outcome is unknown; it is carried out at the next one, which then finds another
/// checkpoint than it expects.
class LateTarget final : public SinkTarget {
 public:
  Result<std::optional<SinkCheckpoint>> checkpoint() override { return checkpoint_; }
  Result<void> write(std::span<const RecordedEvent> events, const std::optional<SinkCheckpoint>& expected,
                     const SinkCheckpoint& next) override {
    if (!events.empty() && !late_) {
      late_ = true;
      commit_late_ = [this, count = events.size(), next] { commit(count, next); };
      return refuse(ErrorCode::timeout, "the connection broke");
    }
    if (commit_late_) std::exchange(commit_late_, nullptr)();
    if (taken_over_by) checkpoint_ = *taken_over_by;
    if (checkpoint_ != expected) return refuse(ErrorCode::fenced, "somebody else wrote");
    commit(events.size(), next);
    return {};
  }
  std::size_t counted = 0;
  std::optional<SinkCheckpoint> taken_over_by{};

 private:
  void commit(std::size_t events, const SinkCheckpoint& next) {
    counted += events;
    checkpoint_ = next;
  }
  std::optional<SinkCheckpoint> checkpoint_;
  std::function<void()> commit_late_;
  bool late_ = false;
};

class SinkTest : public ::testing::Test {
 protected:
  SinkTest() : sink_(Sink::begin(store_, {.store_id = "s", .fork_id = "f", .epoch = Epoch{1}}, target_).value()) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(store_.append(Append{}.event("a-1", "A", "{}")));
  }
  /// Until events were written, or something else than an unknown outcome.
  Result<Sink::Step> step() {
    for (;;) {
      auto step = sink_.step(10s);
      if (step ? step->events != 0 : step.error().code != ErrorCode::timeout) return step;
    }
  }
  Local store_ = Local::open({.shards = 4}).value();
  LateTarget target_;
  Sink sink_;
};

TEST_F(SinkTest, IsNotFencedByItsOwnCommitThatCameLate) {
  const auto written = step();
  ASSERT_TRUE(written) << written.error().what;
  EXPECT_EQ(target_.counted, 3u);
  ASSERT_TRUE(store_.append(Append{}.event("a-1", "A", "{}")));
  ASSERT_TRUE(step());
  EXPECT_EQ(target_.counted, 4u);
}

TEST_F(SinkTest, IsFencedWhereSomebodyElseIsThere) {
  target_.taken_over_by = sink_.checkpoint();
  target_.taken_over_by->epoch = Epoch{9};
  EXPECT_EQ(step().error().code, ErrorCode::fenced);
  EXPECT_EQ(step().error().code, ErrorCode::fenced) << "for good";
}

}  // namespace
}  // namespace evershard
