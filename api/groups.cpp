#include "evershard/api/groups.hpp"

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <set>

#include "evershard/api/this_process.hpp"

namespace evershard {
namespace {

constexpr auto pause_before_joining_again = std::chrono::milliseconds(100);

bool comes_back(const Error& error) {
  if (error.lasting()) return false;
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::wrong_shard ||
         error.code == ErrorCode::fenced || error.code == ErrorCode::timeout || error.code == ErrorCode::overloaded;
}

Refused worker_cancelled() { return refuse(ErrorCode::cancelled, "the worker was cancelled"); }

}  // namespace

struct GroupWorker::Shared {
  Groups& groups;
  const std::string name;
  const GroupJoin join;
  std::shared_ptr<GroupSession> session{};
  std::set<GlobalPosition> taken{};  ///< and not settled

  /// Kept by what calls it, which may live longer.
  struct Bell {
    std::mutex mutex;
    std::condition_variable rung;
    bool ringing = false;
    bool cancelled = false;
    void ring(bool cancel) {
      const std::lock_guard lock(mutex);
      ringing = true;
      cancelled = cancelled || cancel;
      rung.notify_all();
    }
    /// Returns: it was cancelled.
    bool wait(std::chrono::steady_clock::time_point until) {
      std::unique_lock lock(mutex);
      rung.wait_until(lock, until, [this] { return ringing; });
      ringing = cancelled;
      return cancelled;
    }
    bool is_cancelled() {
      const std::lock_guard lock(mutex);
      return cancelled;
    }
  };
  std::shared_ptr<Bell> bell = std::make_shared<Bell>();
};

Result<GroupWorker> Groups::join_group(const std::string& name, GroupJoin join) {
  if (join.name.empty()) join.name = this_process();
  GroupWorker worker(*this, name, std::move(join));
  EVERSHARD_TRY(worker.opened());
  return worker;
}

GroupWorker::GroupWorker(Groups& groups, std::string name, GroupJoin join)
    : shared_(new Shared{groups, std::move(name), std::move(join)}) {}
GroupWorker::GroupWorker(GroupWorker&&) noexcept = default;
GroupWorker& GroupWorker::operator=(GroupWorker&& other) noexcept {
  if (this != &other) {
    leave();
    shared_ = std::move(other.shared_);
  }
  return *this;
}
GroupWorker::~GroupWorker() { leave(); }

Result<void> GroupWorker::opened() {
  if (shared_->session) return {};
  shared_->taken.clear();
  auto session =
      shared_->groups.open_session(shared_->name, shared_->join, [bell = shared_->bell] { bell->ring(false); });
  if (!session) return refuse(std::move(session).error());
  shared_->session = *std::move(session);
  return {};
}

Result<std::optional<GroupDelivery>> GroupWorker::next(std::chrono::milliseconds timeout) {
  constexpr auto longest = std::chrono::hours(24 * 365);
  const auto deadline = std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(timeout, longest);
  while (true) {
    if (shared_->bell->is_cancelled()) return worker_cancelled();
    if (auto there = opened(); !there) {
      if (!shared_->groups.comes_back() || !comes_back(there.error())) return refuse(std::move(there).error());
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline) return std::nullopt;
      if (shared_->bell->wait(std::min(deadline, now + pause_before_joining_again))) return worker_cancelled();
      continue;
    }
    auto taken = shared_->session->take(1);
    if (!taken && taken.error().code == ErrorCode::not_found) {
      shared_->session
          .reset();  // lost, as when it was stopped for long; or the group is gone, which joining again tells
      continue;
    }
    if (!taken) return refuse(std::move(taken).error());
    if (!taken->empty()) {
      shared_->taken.insert(taken->front().event.position);
      if (shared_->join.begins_with_next) begin(taken->front());
      return std::move(taken->front());
    }
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return std::nullopt;
    if (shared_->bell->wait(std::min(deadline, now + shared_->session->lease() / 3))) return worker_cancelled();
  }
}

void GroupWorker::begin(const GroupDelivery& delivery) {
  if (shared_->session) shared_->session->begin(delivery.event.position, delivery.delivery);
}

void GroupWorker::settle_async(std::vector<GroupSettlement> settlements, GroupSettled done) {
  if (!shared_->session)
    return done(std::vector<Result<void>>(
        settlements.size(),
        refuse(ErrorCode::fenced, "the worker is not in the group: its events are given out again")));
  for (const auto& one : settlements) {
    if (one.kind != GroupSettlement::Kind::begin) shared_->taken.erase(one.position);
  }
  shared_->session->settle(std::move(settlements), std::move(done));
}

Result<void> GroupWorker::settle(GroupSettlement settlement) {
  auto promise = std::make_shared<std::promise<Result<void>>>();
  auto answer = promise->get_future();
  settle_async({std::move(settlement)},
               [promise](std::vector<Result<void>> results) { promise->set_value(std::move(results.at(0))); });
  return answer.get();
}

Result<void> GroupWorker::acknowledge(const GroupDelivery& delivery) {
  return settle(
      {.kind = GroupSettlement::Kind::acknowledge, .position = delivery.event.position, .delivery = delivery.delivery});
}

Result<void> GroupWorker::reject(const GroupDelivery& delivery, std::string reason,
                                 std::optional<std::chrono::milliseconds> after) {
  if (after && after->count() < 0)
    return refuse(ErrorCode::invalid_argument,
                  "a wait of " + std::to_string(after->count()) + " ms: it is from 0 to the group's retry_most_ms");
  return settle({GroupSettlement::Kind::reject, delivery.event.position, delivery.delivery, std::move(reason), after});
}

Result<void> GroupWorker::park(const GroupDelivery& delivery, std::string reason) {
  return settle({.kind = GroupSettlement::Kind::park,
                 .position = delivery.event.position,
                 .delivery = delivery.delivery,
                 .reason = std::move(reason)});
}

Result<void> GroupWorker::renew(const std::vector<GlobalPosition>& positions) {
  if (shared_->bell->is_cancelled()) return worker_cancelled();
  if (!shared_->session)
    return refuse(ErrorCode::fenced, "the worker is not in the group: its events are given out again");
  return shared_->session->renew(positions.empty() ? std::vector(shared_->taken.begin(), shared_->taken.end())
                                                   : positions);
}

std::chrono::milliseconds GroupWorker::lease() const {
  return shared_->session ? shared_->session->lease() : GroupSettings{}.lease;
}

void GroupWorker::cancel() { shared_->bell->ring(true); }

void GroupWorker::leave() {
  if (!shared_ || !shared_->session) return;
  shared_->session->leave();
  shared_->session.reset();
}

}  // namespace evershard
