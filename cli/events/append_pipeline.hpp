// AppendPipeline: many appends in flight, their answers in the order of their lines.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/api/event_store.hpp"
#include "evershard/api/json/append_json.hpp"

namespace evershard::cli {

/// One thread sends; a thread of its own gives the answers.
///
/// `overloaded` is not an answer here: the line is sent again when what is in flight has come back, and so are the
/// refused lines behind it, since they may have missed what it would have stored. Nor is the first `version_conflict`
/// of a line that expects its numbers: a cluster may have taken it before the line in front of it.
class AppendPipeline {
 public:
  struct Bounds {
    std::size_t appends = 256;
    std::size_t bytes = 16u << 20;
  };
  using OnAnswer = std::function<void(std::uint64_t line, const AppendLine& input, const Result<Appended>& result)>;

  /// `on_answer`: in order of sending, one at a time. `on_idle`: no further answer is there yet. Both from that thread.
  AppendPipeline(EventStore& store, Bounds bounds, OnAnswer on_answer, std::function<void()> on_idle);
  ~AppendPipeline();
  AppendPipeline(const AppendPipeline&) = delete;
  AppendPipeline& operator=(const AppendPipeline&) = delete;

  /// Waits while the pipeline is full.
  void send(std::uint64_t line, AppendLine input);
  /// A line that is wrong in itself: answered in its turn, never sent.
  void answer(std::uint64_t line, Error error);
  /// Waits until everything sent has been answered.
  void drain();

 private:
  struct Slot {
    std::uint64_t line = 0;
    AppendLine input;
    std::size_t bytes = 0;
    bool sent = false;
    bool alone = false;  ///< sent again, with nothing else under way
    std::optional<Result<Appended>> result;
  };

  void enter(std::shared_ptr<Slot> slot);
  void answer_all();
  [[nodiscard]] static bool is_no_answer(const Slot& slot);
  void send_again(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool front_ready() const { return !slots_.empty() && slots_.front()->result.has_value(); }

  EventStore& store_;
  const Bounds bounds_;
  const OnAnswer on_answer_;
  const std::function<void()> on_idle_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;  ///< not answered yet
  std::size_t unanswered_ = 0;               ///< those, and the one being answered
  std::size_t bytes_ = 0;
  bool sending_again_ = false;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace evershard::cli
