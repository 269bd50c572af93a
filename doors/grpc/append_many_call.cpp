#include "evershard/doors/grpc/append_many_call.hpp"

#include <utility>

#include "evershard/doors/grpc/append_call.hpp"
#include "evershard/doors/serving/beyond_head.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::door {
namespace {

constexpr std::size_t conflict_bytes_max = 1u << 20;

}  // namespace

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AppendManyCall::start(
    Calls& calls, serving::MethodMetrics& counted, grpc::CallbackServerContext* context) {
  const auto call = std::make_shared<AppendManyCall>(calls, counted);
  return call->begin(*context, serving::Scope::append, [&](const Error& error) { return call->here_.refused(error); });
}

void AppendManyCall::take() {
  auto slot = std::make_shared<Slot>();
  grpc::Slice slice;
  const auto content = content_of(incoming_, calls_.message_bytes_max, slice);
  slot->bytes = content ? content->size() : incoming_.Length();
  {
    const std::lock_guard lock(mutex_);
    slots_.push_back(slot);
    bytes_ += slot->bytes;
  }
  append(slot, content);
}

grpc::ByteBuffer AppendManyCall::next_answer() {
  auto outcome = std::move(*slots_.front()->outcome);
  if (slots_.front()->led != nullptr) led_told_ = std::move(slots_.front()->led);
  bytes_ -= slots_.front()->bytes;
  slots_.pop_front();
  return outcome;
}

void AppendManyCall::append(const std::shared_ptr<Slot>& slot, const Result<std::string_view>& content) {
  if (auto over = here_.over_limit(slot->bytes)) return refuse_slot(slot, over->error, {}, over->retry_after);
  if (!content) return refuse_slot(slot, content.error());
  auto append = codec::decode_append(*content, slot->conflicts_max);
  if (!append) return refuse_slot(slot, append.error());
  if (auto may = check_scopes(here_.caller(), *append, slot->conflicts_max); !may)
    return refuse_slot(slot, may.error());
  slot->events = append->events.size();
  if (slot->conflicts_max > 0) slot->conditions = append->conditions;
  const auto told = [call = shared(), slot](const Result<Appended>& result) {
    call->answered(slot, result);
    call->go_on();
  };
  if (!calls_.reads_before(*append) && serving::is_within(calls_.served, *append))
    return calls_.send(*std::move(append), told);
  // What comes behind it is decided behind it: nothing is read until it is on its way.
  {
    const std::lock_guard lock(mutex_);
    sending_ = true;
  }
  const auto on_its_way = [call = shared()] {
    {
      const std::lock_guard lock(call->mutex_);
      call->sending_ = false;
    }
    call->go_on();
  };
  const auto kept = std::make_shared<Append>(*std::move(append));
  serving::when_within(calls_.served, *kept, [call = shared(), kept, told, on_its_way](const Result<void>& within) {
    if (!within) {
      told(refuse(within.error()));
      return on_its_way();
    }
    call->calls_.served.pool.run([call, kept, told, on_its_way] {
      call->calls_.send_reading(std::move(*kept), told);
      on_its_way();
    });
  });
}

void AppendManyCall::answered(const std::shared_ptr<Slot>& slot, const Result<Appended>& result) {
  if (result) {
    pb::AppendOutcome outcome;
    put_appended(calls_, *result, slot->came, slot->events, *outcome.mutable_appended());
    return put_outcome(slot, std::move(outcome));
  }
  if (result.error().code != ErrorCode::condition_failed || slot->conditions.empty())
    return refuse_slot(slot, result.error());
  calls_.served.pool.run([call = shared(), slot, error = result.error()] {
    call->refuse_slot(slot, error,
                      conflicts_of(call->calls_.served.store, error, slot->conditions, slot->conflicts_max));
    call->go_on();
  });
}

void AppendManyCall::refuse_slot(const std::shared_ptr<Slot>& slot, const Error& error,
                                 const std::vector<RecordedEvent>& conflicts, std::chrono::milliseconds retry_after) {
  pb::AppendOutcome outcome;
  messages::put_refusal(error, conflicts, conflict_bytes_max, *outcome.mutable_refused(), retry_after);
  put_outcome(slot, std::move(outcome));
}

// Outcomes are made in any order and sent in that of their appends: until one that names it was sent, each one does.
void AppendManyCall::put_outcome(const std::shared_ptr<Slot>& slot, pb::AppendOutcome outcome) {
  auto led = calls_.served.led();
  if (led != nullptr) {
    const std::lock_guard lock(mutex_);
    if (led_told_ != nullptr && (led == led_told_ || *led == *led_told_)) led = nullptr;
  }
  if (led != nullptr) outcome.set_led(*led);
  auto bytes = bytes_of(outcome);
  const std::lock_guard lock(mutex_);
  slot->led = std::move(led);
  slot->outcome = std::move(bytes);
}

}  // namespace evershard::door
