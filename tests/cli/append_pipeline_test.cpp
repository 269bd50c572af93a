// Many appends in flight: answers in order, bounds kept, overload waited out.

#include "evershard/cli/events/append_pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace evershard::cli {
namespace {

using ::testing::ElementsAre;

/// Answers from a thread of its own, in any order; what it answers is up to the test.
class LateStore final : public EventStore {
 public:
  using Decide = std::function<Result<Appended>(const std::string& type, int attempt)>;

  /// Answers nothing before `first_answer_at` appends are under way.
  LateStore(std::uint64_t seed, Decide decide, std::size_t first_answer_at = 1)
      : decide_(std::move(decide)), random_(seed), first_answer_at_(first_answer_at), thread_([this] { answer(); }) {}
  ~LateStore() override {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<Appended> append(Append append) override {
    std::promise<Result<Appended>> promise;
    auto future = promise.get_future();
    append_async(std::move(append), [&](Result<Appended> result) { promise.set_value(std::move(result)); });
    return future.get();
  }
  void append_async(Append append, AppendCompletion done) override {
    const std::lock_guard lock(mutex_);
    bytes_under_way_ += append.events[0].payload.size();
    bytes_most_ = std::max(bytes_most_, bytes_under_way_);
    under_way_.emplace_back(std::move(append), std::move(done));
    most_ = std::max(most_, under_way_.size());
    changed_.notify_all();
  }
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] std::size_t bytes_most() const { return bytes_most_; }
  /// Types in the order in which they were stored.
  [[nodiscard]] const std::vector<std::string>& stored() const { return stored_; }

  EventStream read(Query, ReadOptions) override { return EventStream(Error(ErrorCode::unavailable, "not here")); }
  EventStream read(AggregateId, StreamOptions) override {
    return EventStream(Error(ErrorCode::unavailable, "not here"));
  }
  EventFeed follow(Query, FollowOptions) override { return EventFeed(Error(ErrorCode::unavailable, "not here")); }
  Result<GlobalPosition> head() override { return GlobalPosition{0}; }
  Result<GlobalPosition> wait_for(GlobalPosition, std::chrono::milliseconds) override { return GlobalPosition{0}; }
  Result<AggregateInfo> aggregate(const AggregateId&, std::optional<GlobalPosition>) override {
    return refuse(ErrorCode::not_found, "none");
  }
  Result<std::vector<AggregateInfo>> aggregates(std::optional<std::string>, std::optional<AggregateId>,
                                                std::size_t) override {
    return std::vector<AggregateInfo>{};
  }
  Result<RecordedEvent> event_at(GlobalPosition) override { return refuse(ErrorCode::not_found, "none"); }
  Result<void> put_snapshot(Snapshot) override { return refuse(ErrorCode::not_found, "none"); }
  Result<std::optional<RecordedSnapshot>> snapshot(const AggregateId&, std::optional<SeqNr>) override {
    return std::optional<RecordedSnapshot>{};
  }
  Result<std::optional<RecordedSnapshot>> snapshot_as_of(const AggregateId&, GlobalPosition) override {
    return std::optional<RecordedSnapshot>{};
  }
  Result<std::vector<RecordedSnapshot>> snapshots(const AggregateId&) override {
    return std::vector<RecordedSnapshot>{};
  }

 private:
  void answer() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closing_ || under_way_.size() >= first_answer_at_; });
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !under_way_.empty(); });
      if (under_way_.empty()) return;
      const auto at = random_() % under_way_.size();
      auto [append, done] = std::move(under_way_[at]);
      under_way_.erase(under_way_.begin() + static_cast<std::ptrdiff_t>(at));
      bytes_under_way_ -= append.events[0].payload.size();
      const std::string type = append.events[0].type;
      auto result = decide_(type, ++attempts_[type]);
      if (result) stored_.push_back(type);
      lock.unlock();
      done(std::move(result));
      lock.lock();
    }
  }

  Decide decide_;
  std::mt19937_64 random_;
  const std::size_t first_answer_at_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<Append, AppendCompletion>> under_way_;
  std::map<std::string, int> attempts_;
  std::vector<std::string> stored_;
  std::size_t most_ = 0;
  std::size_t bytes_under_way_ = 0;
  std::size_t bytes_most_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

AppendLine line_of(const std::string& type, std::size_t payload_bytes = 0) {
  AppendLine line;
  line.append.event("", type, std::string(payload_bytes, 'x'));
  return line;
}

Result<Appended> stored() { return Appended{}; }

struct Answers {
  std::vector<std::uint64_t> lines;
  std::vector<std::string> ends;
  AppendPipeline::OnAnswer take() {
    return [this](std::uint64_t line, const AppendLine&, const Result<Appended>& result) {
      lines.push_back(line);
      ends.emplace_back(result ? "stored" : name_of(result.error().code));
    };
  }
};

TEST(AppendPipeline, AnswersInOrderHoweverTheStoreDoes) {
  LateStore store(1, [](const std::string&, int) { return stored(); });
  Answers answers;
  int idle = 0;
  {
    AppendPipeline pipeline(store, {16, 1u << 20}, answers.take(), [&] { ++idle; });

    for (std::uint64_t i = 1; i <= 2'000; ++i) pipeline.send(i, line_of("T"));
    pipeline.drain();
  }

  std::vector<std::uint64_t> wanted(2'000);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = i + 1;
  EXPECT_EQ(answers.lines, wanted);
  EXPECT_GE(idle, 1);
  EXPECT_LE(store.most(), 16u);
}

TEST(AppendPipeline, KeepsItsBoundOfBytes) {
  LateStore store(2, [](const std::string&, int) { return stored(); });
  Answers answers;
  {
    AppendPipeline pipeline(store, {100, 10'000}, answers.take(), [] {});

    for (std::uint64_t i = 1; i <= 200; ++i) pipeline.send(i, line_of("T", 3'000));
    pipeline.send(201, line_of("T", 50'000));  // larger than the bound: alone
    pipeline.drain();
  }

  EXPECT_EQ(answers.lines.size(), 201u);
  EXPECT_LE(store.bytes_most(), 50'000u);
  EXPECT_LE(store.most(), 3u);
}

TEST(AppendPipeline, AnswersALineThatWasNeverSentInItsTurn) {
  LateStore store(3, [](const std::string&, int) { return stored(); });
  Answers answers;
  {
    AppendPipeline pipeline(store, {}, answers.take(), [] {});

    pipeline.send(1, line_of("A"));
    pipeline.answer(2, Error(ErrorCode::invalid_argument, "bad"));
    pipeline.send(3, line_of("B"));
  }

  EXPECT_THAT(answers.lines, ElementsAre(1, 2, 3));
  EXPECT_THAT(answers.ends, ElementsAre("stored", "invalid_argument", "stored"));
}

TEST(AppendPipeline, SendsAgainWhatTheStoreHadNoRoomFor) {
  // B is overloaded twice; C then misses B and is refused, D is stored at once.
  LateStore store(
      4,
      [](const std::string& type, int attempt) -> Result<Appended> {
        if (type == "B" && attempt <= 2) return refuse(ErrorCode::overloaded, "full");
        if (type == "C" && attempt == 1) return refuse(ErrorCode::version_conflict, "B is missing");
        if (type == "A") return refuse(ErrorCode::condition_failed, "no");
        return stored();
      },
      4);
  Answers answers;
  {
    AppendPipeline pipeline(store, {}, answers.take(), [] {});

    std::uint64_t line = 0;
    for (const auto* type : {"A", "B", "C", "D"}) pipeline.send(++line, line_of(type));
    pipeline.answer(++line, Error(ErrorCode::invalid_argument, "bad"));
  }

  EXPECT_THAT(answers.lines, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(answers.ends, ElementsAre("condition_failed", "stored", "stored", "stored", "invalid_argument"));
  EXPECT_THAT(store.stored(), ElementsAre("D", "B", "C"));
}

TEST(AppendPipeline, LosesNothingUnderRandomOverload) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    LateStore store(seed, [&](const std::string&, int) -> Result<Appended> {
      if (random() % 10 == 0) return refuse(ErrorCode::overloaded, "full");
      return stored();
    });
    Answers answers;
    {
      AppendPipeline pipeline(store, {1 + seed, 1u << 20}, answers.take(), [] {});

      for (std::uint64_t i = 1; i <= 300; ++i) pipeline.send(i, line_of(std::to_string(i)));
    }

    EXPECT_EQ(answers.ends, std::vector<std::string>(300, "stored")) << "seed " << seed;
    EXPECT_EQ(store.stored().size(), 300u) << "seed " << seed;
    EXPECT_TRUE(std::is_sorted(answers.lines.begin(), answers.lines.end())) << "seed " << seed;
  }
}

}  // namespace
}  // namespace evershard::cli
