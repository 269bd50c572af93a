#include "evershard/actors/core/committer.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

/// A ticket and who waits for it: a thread, or a completion.
struct Committer::Request : Ticket {
  enum Step : int { waiting, look_up_again, answered };

  AppendDone done;  ///< empty: the caller blocks, and does itself what has to be done again
  std::atomic<int> step{waiting};
  Result<Appended> result;

  [[nodiscard]] bool blocking() const { return !done; }
  void tell(Step next) {
    step.store(next, std::memory_order_release);
    step.notify_one();
  }
};

Committer::Committer(storage::Store& store, CommitterOptions options)
    : store_(store),
      options_(std::move(options)),
      preparer_(store, options_.limits, options_.takes_sealed),
      load_(store.identity().shards, options_.limits),
      watch_(store.view().watermark),
      group_(store.recovered(), [&] {
        auto group = options_.group;
        group.state.key = store.identity().term_key;
        return group;
      }()) {
  threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { work(); });
  threads_.emplace_back([this] { prepare_again(); });
  for (const auto& thread : threads_) thread_ids_.push_back(thread.get_id());
}

Committer::~Committer() { stop(); }

// -- in and out

Result<Appended> Committer::append(Append append) { return append_with(std::move(append), {}); }

void Committer::append_async(Append append, AppendChain chain, AppendDone done) {
  EVERSHARD_CHECK(done != nullptr, "an asynchronous append has a completion");
  auto request = std::make_unique<Request>();
  request->prepared.chain = chain;
  auto stored = prepare(std::move(append), *request);
  if (!stored) return done(refuse(refused(std::move(stored).error())));
  if (*stored) return done(std::move(**stored));
  request->done = std::move(done);
  if (auto sent = send(*request); !sent) {
    request->done(refuse(refused(std::move(sent).error())));
  } else {
    static_cast<void>(request.release());  // answer() ends it
  }
}

Result<void> Committer::put_snapshot(Snapshot snapshot) {
  EVERSHARD_TRY(admit());
  auto position = preparer_.place_of(snapshot);
  if (!position) return refuse(std::move(position).error());
  Request request;
  request.snapshots.push_back({std::move(snapshot), *position});
  EVERSHARD_TRY(send(request));
  EVERSHARD_TRY(wait_for_answer(request));
  return {};
}

Result<Appended> Committer::append_with(Append append, storage::RowWrites rows) {
  Request request;
  request.rows = std::move(rows);
  auto stored = prepare(std::move(append), request);
  if (!stored) return refuse(refused(std::move(stored).error()));
  if (*stored) return std::move(**stored);
  if (auto sent = send(request); !sent) return refuse(refused(std::move(sent).error()));
  return wait_for_answer(request);
}

Result<void> Committer::write_rows(storage::RowWrites rows) {
  if (rows.empty()) return {};
  EVERSHARD_TRY(admit());
  Request request;
  request.rows = std::move(rows);
  EVERSHARD_TRY(send(request));
  EVERSHARD_TRY(wait_for_answer(request));
  return {};
}

Error Committer::closed() const {
  const Lock lock(mutex_);
  if (failed_) return GroupCommit::not_written(*failed_);
  return {ErrorCode::unavailable, "the store is closing: nothing new is taken"};
}

Result<void> Committer::admit() const {
  if (closed_.load(std::memory_order_relaxed)) return refuse(closed());
  auto admission = store_.admission();
  switch (admission.kind) {
    case storage::Admission::Kind::open:
    case storage::Admission::Kind::slow:
      return {};
    case storage::Admission::Kind::full:
      return refuse(ErrorCode::overloaded, std::move(admission.what));
    case storage::Admission::Kind::disk:
      return refuse(ErrorCode::unavailable, std::move(admission.what));
    case storage::Admission::Kind::failed:
      return refuse(ErrorCode::io, std::move(admission.what));
  }
  return {};
}

Result<std::optional<Appended>> Committer::prepare(Append&& append, Request& request) {
  EVERSHARD_TRY(admit());
  auto stored = preparer_.prepare(std::move(append), request.prepared);
  if (stored && *stored) counters_.duplicates.fetch_add(1, std::memory_order_relaxed);
  // Nobody can send it twice, and what it rests on is shown: there is nothing to decide.
  if (stored && request.prepared.refusal && !request.prepared.named)
    return refuse(std::move(request.prepared.refusal->error));
  return stored;
}

Result<void> Committer::send(Request& request) {
  if (request.is_append()) EVERSHARD_TRY(load_.take(request.prepared.append, request.prepared.bytes));
  inside_.fetch_add(1);
  Lock lock(mutex_);
  if (closed_.load()) {
    lock.unlock();
    if (request.is_append()) load_.give_back(request.prepared.append, request.prepared.bytes);
    leave();
    return refuse(closed());
  }
  queue(request, queue_, lock);
  return {};
}

Result<Appended> Committer::wait_for_answer(Request& request) {
  for (;;) {
    request.step.wait(Request::waiting, std::memory_order_acquire);
    if (request.step.load(std::memory_order_acquire) == Request::answered) return std::move(request.result);
    request.step.store(Request::waiting, std::memory_order_relaxed);
    again(request);
  }
}

void Committer::again(Request& request) {
  counters_.again.fetch_add(1, std::memory_order_relaxed);
  auto stored = preparer_.look_up(request.prepared, request.confirm);
  if (!stored) return answer(request, refuse(std::move(stored).error()));
  if (*stored) {
    counters_.duplicates.fetch_add(1, std::memory_order_relaxed);
    return answer(request, std::move(**stored));
  }
  Lock lock(mutex_);
  queue(request, urgent_, lock);
}

void Committer::act(Actions& actions) {
  for (auto& [ticket, error] : actions.refused) answer(static_cast<Request&>(*ticket), refuse(std::move(error)));
  for (Ticket* ticket : actions.again) {
    auto& request = static_cast<Request&>(*ticket);
    if (request.blocking()) {
      request.tell(Request::look_up_again);
      continue;
    }
    const Lock lock(mutex_);
    to_prepare_.push_back(&request);
    again_.notify_one();
  }
}

Error Committer::refused(Error error) {
  counters_.refused[static_cast<std::size_t>(error.code) % counters_.refused.size()].fetch_add(
      1, std::memory_order_relaxed);
  return error;
}

// The last thing that is done with a request: a caller that blocks may be gone when tell() returns.
void Committer::answer(Request& request, Result<Appended> result) {
  if (!result) result = refuse(refused(std::move(result).error()));
  if (request.is_append()) load_.give_back(request.prepared.append, request.prepared.bytes);
  if (request.blocking()) {
    request.result = std::move(result);
    request.tell(Request::answered);
  } else {
    request.done(std::move(result));
    delete &request;
  }
  leave();
}

void Committer::leave() {
  if (inside_.fetch_sub(1) != 1 || !closed_.load()) return;
  const Lock lock(mutex_);
  left_.notify_all();
}

// -- roles

// An append that is alone is decided and written in its caller's thread: no hand-over, no wake-up.
void Committer::queue(Request& request, std::vector<Request*>& queue, Lock& lock) {
  if (request.blocking() && quiet()) {
    deciding_ = true;
    turn(lock, &request);
    // This thread goes back to its caller: what was sent meanwhile is another's.
    if (can_decide() && wake_one()) work_.notify_one();
    return;
  }
  queue.push_back(&request);
  if (&queue == &queue_) backlog_events_ += request.prepared.events();
  const bool wake = can_decide() && wake_one();
  lock.unlock();
  if (wake) work_.notify_one();
}

bool Committer::quiet() const {
  return !deciding_ && staged_ == written_ && queue_.empty() && urgent_.empty() && taken_.empty() && group_.idle() &&
         !failed_;
}

bool Committer::can_decide() const {
  if (deciding_ || staged_ - written_ > (writing_ ? 1u : 0u)) return false;
  if (failed_ && !failure_known_) return true;
  if (!urgent_.empty() || group_.due(watch_.watermark())) return true;
  const std::size_t waiting = queue_.size() + taken_.size() - taken_next_;
  return waiting != 0 &&
         (!writing_ || waiting >= options_.stage_early_appends || backlog_events_ >= options_.stage_early_events);
}

bool Committer::wake_one() {
  if (idle_ == 0 || woken_) return false;
  return woken_ = true;
}

void Committer::turn(Lock& lock, Request* own) {
  Actions actions;
  const std::size_t events = decide(lock, own, actions);
  std::optional<Batch> batch;
  std::unique_ptr<storage::StagedCommit> staged;
  if (group_.any()) {
    batch = group_.close();
    staged = store_.stage(batch->commit);
  }

  lock.lock();
  deciding_ = false;
  backlog_events_ -= events;
  const std::uint64_t number = batch ? ++staged_ : 0;
  if (can_decide() && wake_one()) work_.notify_one();
  if (!actions.empty()) {
    lock.unlock();
    act(actions);
    lock.lock();
  }
  if (!batch) return;
  write_turn_.wait(lock, [&] { return written_ + 1 == number; });
  write(lock, *batch, std::move(staged));
}

// Returns: how many events of the backlog were decided. The lock is not held any more.
std::size_t Committer::decide(Lock& lock, Request* own, Actions& actions) {
  if (taken_.empty()) taken_.swap(queue_);
  taken_urgent_.swap(urgent_);
  const std::optional<Error> failed = failure_known_ ? std::nullopt : failed_;
  lock.unlock();

  pace();
  if (failed) {
    failure_known_ = true;
    group_.fail(*failed, actions);
  }
  group_.show(watch_.watermark(), actions);
  for (Request* request : taken_urgent_) group_.take(*request, actions);
  taken_urgent_.clear();
  std::size_t events = 0;
  while (taken_next_ < taken_.size() && !group_.full()) {
    events += taken_[taken_next_]->prepared.events();
    group_.take(*taken_[taken_next_++], actions);
  }
  if (taken_next_ == taken_.size()) {
    taken_.clear();
    taken_next_ = 0;
  }
  if (own != nullptr) group_.take(*own, actions);
  preparer_.window_begins(group_.window_from());
  return events;
}

void Committer::write(Lock& lock, Batch& batch, std::unique_ptr<storage::StagedCommit> staged) {
  writing_ = true;
  if (can_decide() && wake_one()) work_.notify_one();
  std::optional<Error> failure;
  if (failed_) failure = GroupCommit::not_written(*failed_);
  lock.unlock();

  std::optional<Error> failed;
  if (!failure) {
    const auto began = std::chrono::steady_clock::now();
    if (auto written = store_.commit(*staged); written) {
      counters_.commit_latencies.add(std::chrono::steady_clock::now() - began);
      watch_.advance(batch.ends);
      counters_.commits.fetch_add(1, std::memory_order_relaxed);
    } else {
      failed = std::move(written).error();
      failure = GroupCommit::outcome_unknown(*failed);
      watch_.close(GroupCommit::not_written(*failed));
    }
  }
  staged.reset();

  lock.lock();
  writing_ = false;
  ++written_;
  if (failed) {
    failed_ = std::move(failed);
    closed_.store(true);
  }
  if (staged_ != written_) write_turn_.notify_all();
  // With few to answer this thread is free sooner than another would be awake.
  if ((batch.tickets.size() >= 8 || failed_) && can_decide() && wake_one()) work_.notify_one();
  lock.unlock();
  complete(batch, failure);
  lock.lock();
}

void Committer::complete(Batch& batch, const std::optional<Error>& failure) {
  if (!failure) {
    counters_.appended.fetch_add(batch.appends.size(), std::memory_order_relaxed);
    counters_.events.fetch_add(batch.commit.events.size(), std::memory_order_relaxed);
  }
  std::size_t appended = 0;
  for (Ticket* ticket : batch.tickets) {
    auto& request = static_cast<Request&>(*ticket);
    if (failure) {
      answer(request, refuse(*failure));
    } else if (request.is_append()) {
      answer(request, batch.answer(appended++));
    } else {
      answer(request, Appended{});
    }
  }
}

void Committer::pace() const {
  constexpr std::uint32_t delay_us_max = 50'000;
  const auto admission = store_.admission();
  if (admission.kind != storage::Admission::Kind::slow) return;
  std::this_thread::sleep_for(std::chrono::microseconds(std::min(admission.delay_us, delay_us_max)));
}

// -- threads

void Committer::work() {
  Lock lock(mutex_);
  for (;;) {
    while (!ended_ && !can_decide()) {
      ++idle_;
      work_.wait(lock);
      --idle_;
      woken_ = false;
    }
    if (ended_) return;
    deciding_ = true;
    turn(lock, nullptr);
  }
}

void Committer::prepare_again() {
  std::vector<Request*> requests;
  Lock lock(mutex_);
  for (;;) {
    again_.wait(lock, [&] { return ended_ || !to_prepare_.empty(); });
    if (to_prepare_.empty()) return;
    requests.swap(to_prepare_);
    lock.unlock();
    for (Request* request : requests) again(*request);
    requests.clear();
    lock.lock();
  }
}

CommitterStats Committer::stats() const {
  CommitterStats stats;
  stats.appended = counters_.appended.load(std::memory_order_relaxed);
  stats.duplicates = counters_.duplicates.load(std::memory_order_relaxed);
  stats.events = counters_.events.load(std::memory_order_relaxed);
  stats.commits = counters_.commits.load(std::memory_order_relaxed);
  stats.prepared_again = counters_.again.load(std::memory_order_relaxed);
  stats.commit_latencies = counters_.commit_latencies.read();
  stats.waiting = inside_.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < stats.refused.size(); ++i)
    stats.refused[i] = counters_.refused[i].load(std::memory_order_relaxed);
  return stats;
}

// Ends, because each of these does: what is inside is decided, or prepared again a bounded number of times; nothing
// comes in.
void Committer::stop() {
  {
    const Lock lock(mutex_);
    closed_.store(true);
  }
  if (std::find(thread_ids_.begin(), thread_ids_.end(), std::this_thread::get_id()) != thread_ids_.end()) return;
  const std::lock_guard one_at_a_time(stop_mutex_);
  if (threads_.empty()) return;
  {
    Lock lock(mutex_);
    left_.wait(lock, [&] { return inside_.load() == 0; });
    ended_ = true;
  }
  work_.notify_all();
  again_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
  watch_.close({ErrorCode::unavailable, "the store is closed"});
}

}  // namespace evershard::actors
