#include "evershard/actors/aggregate/prepare_desk.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "evershard/actors/model/handler_error.hpp"
#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/prepared.hpp"

namespace evershard::actors {

Result<void> PrepareDesk::host(const AggregateKind& kind, const PrepareHandlers& handlers) {
  const std::lock_guard lock(mutex_);
  for (const auto& question : kind.questions()) {
    const auto found = handlers.find(question);
    if (found == handlers.end() || !found->second.ask) {
      return refuse(ErrorCode::invalid_argument,
                    "aggregates of type " + in_quotes(kind.type()) + " ask " + in_quotes(question) +
                        " before they decide, and nobody answers that: name a handler in HostOptions::prepare");
    }
    if (found->second.options.at_a_time == 0)
      return refuse(ErrorCode::invalid_argument, "of question " + in_quotes(question) + " 0 are asked at a time");
    kinds_.try_emplace({std::string(kind.type()), question}).first->second.handler = found->second;
  }
  return {};
}

void PrepareDesk::ask(std::shared_ptr<CellInbox> inbox, EntityActions::Prepare question, SteadyTime now) {
  const std::pair<std::string, std::string> of(question.aggregate.type, question.question.type);
  {
    const std::lock_guard lock(mutex_);
    const auto found = kinds_.find(of);
    EVERSHARD_CHECK(found != kinds_.end(), "a kind is hosted with a handler for each of its questions");
    found->second.waiting.push_back({std::move(inbox), std::move(question)});
  }
  begin_all(of, now);
}

void PrepareDesk::tick(SteadyTime now) {
  std::vector<std::pair<std::string, std::string>> busy;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [of, kind] : kinds_)
      if (!kind.under_way.empty() || !kind.waiting.empty()) busy.push_back(of);
  }
  for (const auto& of : busy) begin_all(of, now);
}

void PrepareDesk::take(Kind& kind, SteadyTime now, std::deque<std::pair<std::uint64_t, Waiting>>& out) {
  std::erase_if(kind.under_way, [&](const auto& one) { return one.second <= now; });
  while (!kind.waiting.empty() && kind.under_way.size() < kind.handler.options.at_a_time) {
    auto one = std::move(kind.waiting.front());
    kind.waiting.pop_front();
    if (one.question.deadline <= now) continue;  // its command has been answered
    const auto number = ++kind.number;
    kind.under_way.emplace(number, one.question.deadline);
    out.emplace_back(number, std::move(one));
  }
}

void PrepareDesk::begin_all(const std::pair<std::string, std::string>& of, SteadyTime now) {
  std::deque<std::pair<std::uint64_t, Waiting>> begun;
  const Kinds::value_type* kind = nullptr;
  {
    const std::lock_guard lock(mutex_);
    now_ = std::max(now_, now);
    const auto found = kinds_.find(of);
    take(found->second, now_, begun);
    kind = &*found;
  }
  for (auto& [number, one] : begun) begin(*kind, number, std::move(one));
}

// Handlers are called without the lock: they may answer from within.
void PrepareDesk::begin(const Kinds::value_type& kind, std::uint64_t number, Waiting one) {
  const auto told = std::make_shared<std::atomic<bool>>(false);
  const PrepareDone done = [weak = weak_from_this(), of = kind.first, number, told, inbox = one.inbox,
                            op = one.question.op](Result<std::string> answer) {
    if (told->exchange(true)) return;
    inbox->put(inputs::Prepared{op, std::move(answer)});
    if (const auto desk = weak.lock()) desk->ended(of, number);
  };
  const PrepareAttempt attempt{one.question.aggregate,
                               prepare_key(fork_, one.question.aggregate, one.question.command_id)};
  try {
    kind.second.handler.ask(one.question.question.bytes, attempt, done);
  } catch (...) {
    done(refuse(thrown(ErrorCode::unavailable, "the handler of question " + in_quotes(kind.first.second))));
  }
}

void PrepareDesk::ended(const std::pair<std::string, std::string>& of, std::uint64_t number) {
  SteadyTime now;
  {
    const std::lock_guard lock(mutex_);
    kinds_.at(of).under_way.erase(number);
    now = now_;
  }
  begin_all(of, now);
}

}  // namespace evershard::actors
