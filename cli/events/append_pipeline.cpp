#include "evershard/cli/events/append_pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "evershard/cli/interrupt.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::cli {

AppendPipeline::AppendPipeline(EventStore& store, Bounds bounds, OnAnswer on_answer, std::function<void()> on_idle)
    : store_(store), bounds_(bounds), on_answer_(std::move(on_answer)), on_idle_(std::move(on_idle)), thread_([this] {
        answer_all();
      }) {}

AppendPipeline::~AppendPipeline() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AppendPipeline::enter(std::shared_ptr<Slot> slot) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    return !sending_again_ && unanswered_ < bounds_.appends && (bytes_ == 0 || bytes_ + slot->bytes <= bounds_.bytes);
  });
  ++unanswered_;
  bytes_ += slot->bytes;
  slots_.push_back(std::move(slot));
}

void AppendPipeline::send(std::uint64_t line, AppendLine input) {
  auto slot = std::make_shared<Slot>();
  slot->line = line;
  slot->bytes = bytes_of(input.append);
  slot->input = std::move(input);
  slot->sent = true;
  Append append = slot->input.append;
  enter(slot);
  store_.append_async(std::move(append), [this, slot](Result<Appended> result) {
    // Under the lock to the end: as soon as it is let go, the last answer may end the pipeline.
    const std::lock_guard lock(mutex_);
    slot->result = std::move(result);
    changed_.notify_all();
  });
}

void AppendPipeline::answer(std::uint64_t line, Error error) {
  auto slot = std::make_shared<Slot>();
  slot->line = line;
  slot->result = refuse(std::move(error));
  enter(std::move(slot));
  changed_.notify_all();
}

void AppendPipeline::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return unanswered_ == 0; });
}

void AppendPipeline::answer_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return front_ready() || (closing_ && slots_.empty()); });
    if (slots_.empty()) return;
    if (is_no_answer(*slots_.front()) && !interrupted()) {
      send_again(lock);
      continue;
    }
    const auto slot = std::move(slots_.front());
    slots_.pop_front();
    const bool idle = !front_ready();
    lock.unlock();
    on_answer_(slot->line, slot->input, *slot->result);
    if (idle) on_idle_();
    lock.lock();
    --unanswered_;
    bytes_ -= slot->bytes;
    changed_.notify_all();
  }
}

bool AppendPipeline::is_no_answer(const Slot& slot) {
  if (!slot.sent || *slot.result) return false;
  const auto code = slot.result->error().code;
  return code == ErrorCode::overloaded ||
         (code == ErrorCode::version_conflict && slot.input.expects_numbers && !slot.alone);
}

void AppendPipeline::send_again(std::unique_lock<std::mutex>& lock) {
  using namespace std::chrono_literals;
  sending_again_ = true;
  changed_.wait(lock, [this] {
    return std::all_of(slots_.begin(), slots_.end(), [](const auto& slot) { return slot->result.has_value(); });
  });
  lock.unlock();  // nothing is in flight and nothing new enters: the slots are this thread's
  for (const auto& slot : slots_) {
    if (!slot->sent || slot->result->has_value()) continue;
    slot->alone = true;
    slot->result = store_.append(slot->input.append);
    for (auto wait = 1ms; !*slot->result && slot->result->error().code == ErrorCode::overloaded && !interrupted();
         wait = std::min(2 * wait, 100ms)) {
      std::this_thread::sleep_for(wait);
      slot->result = store_.append(slot->input.append);
    }
  }
  lock.lock();
  sending_again_ = false;
  changed_.notify_all();
}

}  // namespace evershard::cli
