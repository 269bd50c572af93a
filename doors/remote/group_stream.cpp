#include "evershard/doors/remote/group_stream.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/doors/remote/sendable.hpp"
#include "evershard/protocol/kept_reason.hpp"

namespace evershard::remote {
namespace {

constexpr auto leave_wait =
    std::chrono::seconds(2);  ///< for the word to get there; then the line is cut, and it counts as lost

/// Somewhere else, or later.
bool group_goes_on(const Error& error) {
  if (error.lasting()) return false;
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::wrong_shard ||
         error.code == ErrorCode::fenced || error.code == ErrorCode::cancelled;
}

}  // namespace

class GroupStream::Call final : public grpc::ClientBidiReactor<pb::WorkRequest, pb::WorkResponse> {
 public:
  Call(std::unique_ptr<grpc::ClientContext> context, GroupStream& owner)
      : context_(std::move(context)), owner_(owner) {}

  void begin(pb::Groups::Stub& stub) {
    stub.async()->Work(context_.get(), this);
    StartRead(&incoming_);
    AddHold();  // writes are begun from outside
    StartCall();
  }
  /// Under the owner's lock.
  void write(const pb::WorkRequest& request) {
    outgoing_ = request;
    StartWrite(&outgoing_);
  }
  void let_go() {
    if (std::exchange(held_, false)) RemoveHold();
  }
  void stop() { context_->TryCancel(); }

  void OnReadDone(bool ok) override {
    if (!ok) {
      const std::lock_guard lock(owner_.mutex_);
      owner_.broken_ = true;
      return let_go();
    }
    owner_.came(incoming_);
    incoming_.Clear();
    StartRead(&incoming_);
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(owner_.mutex_);
    owner_.writing_ = false;
    owner_.broken_ = owner_.broken_ || !ok;
    owner_.write_next();
  }
  void OnDone(const grpc::Status& status) override { owner_.ended(status); }

 private:
  std::unique_ptr<grpc::ClientContext> context_;
  GroupStream& owner_;
  pb::WorkResponse incoming_;
  pb::WorkRequest outgoing_;
  bool held_ = true;
};

GroupStream::GroupStream(std::shared_ptr<Connection> connection, Door& door, std::function<void()> wake)
    : connection_(std::move(connection)), door_(door), wake_(std::move(wake)) {}

GroupStream::~GroupStream() { leave(); }

Result<void> GroupStream::join(const std::string& group, const GroupJoin& join,
                               Connection::Clock::time_point deadline) {
  pb::WorkRequest request;
  request.mutable_join()->set_group(group);
  request.mutable_join()->set_worker(join.name);
  request.mutable_join()->set_credit(join.credit);
  EVERSHARD_TRY(sendable(request));
  Lock lock(mutex_);
  call_ = std::make_shared<Call>(connection_->context(), *this);
  under_way_ = true;
  call_->begin(*door_.groups);
  send(std::move(request));
  changed_.wait_until(lock, deadline, [this] { return joined_ || ended_; });
  if (joined_) return {};
  if (!ended_) {
    call_->stop();
    changed_.wait(lock, [this] { return !under_way_; });
    connection_->failed(door_);
    return refuse(ErrorCode::unavailable,
                  "the server at " + door_.address + " does not say whether the worker has joined");
  }
  auto error = *ended_;
  if (group_goes_on(error)) connection_->failed(door_);
  return refuse(std::move(error));
}

void GroupStream::send(pb::WorkRequest request) {
  said_ = std::chrono::steady_clock::now();
  outgoing_.push_back(std::move(request));
  write_next();
}

void GroupStream::write_next() {
  if (writing_ || broken_ || ended_ || outgoing_.empty()) return;
  writing_ = true;
  call_->write(outgoing_.front());
  outgoing_.pop_front();
}

void GroupStream::came(pb::WorkResponse& response) {
  std::vector<std::pair<GroupSettled, std::vector<Result<void>>>> answers;
  {
    const std::lock_guard lock(mutex_);
    if (response.has_joined()) {
      joined_ = true;
      lease_ = std::chrono::milliseconds(response.joined().lease_ms());
      takes_begun_ = response.joined().takes_begun();
      connection_->worked(door_);
    }
    if (queue_.empty() && response.deliveries_size() > 0) renewed_ = std::chrono::steady_clock::now();
    for (auto& delivery : *response.mutable_deliveries()) {
      GroupDelivery got;
      if (auto read = messages::get(delivery, got); read)
        queue_.push_back(std::move(got));
      else
        call_->stop();  // no server of ours says that
    }
    for (const auto lost : response.lost()) {
      std::erase_if(queue_, [&](const GroupDelivery& delivery) { return delivery.event.position.value == lost; });
    }
    if (response.outcomes_size() > 0) {
      if (const auto batch = batches_.find(response.batch()); batch != batches_.end()) {
        std::vector<Result<void>> results;
        for (auto& outcome : *response.mutable_outcomes()) {
          Error error;
          if (!outcome.has_refused())
            results.emplace_back();
          else if (auto read = messages::get(*outcome.mutable_refused(), error); read)
            results.emplace_back(refuse(std::move(error)));
          else
            results.emplace_back(refuse(read.error()));
        }
        results.resize(batch->second.settlements,
                       refuse(ErrorCode::unavailable, "the server did not answer for this event: it may come again"));
        answers.emplace_back(std::move(batch->second.done), std::move(results));
        batches_.erase(batch);
      }
    }
    changed_.notify_all();
  }
  for (auto& [done, results] : answers) done(std::move(results));
  if (response.deliveries_size() > 0) wake_();
}

void GroupStream::ended(const grpc::Status& status) {
  std::map<std::uint64_t, Batch> batches;
  std::shared_ptr<Call> keep;
  {
    const std::lock_guard lock(mutex_);
    ended_ = status.ok() ? Error(ErrorCode::unavailable, "the server ended the worker's stay")
                         : connection_->fault(door_, wire::error_of(status), !status.error_details().empty());
    if (!leaving_ && joined_ && group_goes_on(*ended_)) connection_->failed(door_);
    batches.swap(batches_);
    queue_.clear();
  }
  for (auto& [number, batch] : batches) {
    batch.done(std::vector<Result<void>>(
        batch.settlements, refuse(ErrorCode::unavailable,
                                  "whether the event was settled is unknown, it may come again: " + ended_->what)));
  }
  wake_();
  const std::lock_guard lock(mutex_);
  under_way_ = false;
  changed_.notify_all();  // the last touch: the destructor may be waiting
}

/// A line that broke is as being lost: whoever takes joins again.
Result<void> GroupStream::still_there() const {
  if (leaving_) return refuse(ErrorCode::not_found, "the worker has left");
  if (!ended_) return {};
  return group_goes_on(*ended_) ? refuse(ErrorCode::not_found, "the line to the group broke: " + ended_->what)
                                : refuse(*ended_);
}

void GroupStream::renew_now(const std::vector<GlobalPosition>& positions) {
  pb::WorkRequest request;
  for (const auto& position : positions) request.add_renew(position.value);
  for (const auto& delivery : queue_) request.add_renew(delivery.event.position.value);
  renewed_ = std::chrono::steady_clock::now();
  send(std::move(request));
}

Result<std::vector<GroupDelivery>> GroupStream::take(std::size_t most) {
  const std::lock_guard lock(mutex_);
  EVERSHARD_TRY(still_there());
  const auto now = std::chrono::steady_clock::now();
  // A worker that hung for a lease has lost its stay: others have what it was given, and may have settled it. The
  // server is about to say so.
  if (now - said_ >= lease_) queue_.clear();
  // What it settles says that it is there, and nothing of what it has not taken yet.
  if (now - said_ >= lease_ / 4 || (!queue_.empty() && now - renewed_ >= lease_ / 4)) renew_now({});
  std::vector<GroupDelivery> taken;
  while (taken.size() < most && !queue_.empty()) {
    taken.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return taken;
}

void GroupStream::settle(std::vector<GroupSettlement> settlements, GroupSettled done) {
  Lock lock(mutex_);
  if (auto there = still_there(); !there) {
    lock.unlock();
    const auto what = "the event is given out again, this worker's stay is over: " + there.error().what;
    return done(std::vector<Result<void>>(settlements.size(), refuse(ErrorCode::fenced, what)));
  }
  pb::WorkRequest request;
  for (auto& one : settlements) {
    one.reason =
        kept_reason(one.reason);  // one that is no text would not be read over there, with all that stands beside it
    messages::put(one, *request.add_settlements());
  }
  request.set_batch(++last_batch_);
  batches_.emplace(last_batch_, Batch{settlements.size(), std::move(done)});
  send(std::move(request));
}

void GroupStream::begin(GlobalPosition position, std::uint64_t delivery) {
  const std::lock_guard lock(mutex_);
  if (!takes_begun_ || !still_there()) return;
  pb::WorkRequest request;  // its answer has no batch: nobody waits for it
  messages::put(GroupSettlement{.kind = GroupSettlement::Kind::begin, .position = position, .delivery = delivery},
                *request.add_settlements());
  send(std::move(request));
}

Result<void> GroupStream::renew(const std::vector<GlobalPosition>& positions) {
  const std::lock_guard lock(mutex_);
  EVERSHARD_TRY(still_there());
  renew_now(positions);
  return {};
}

Result<void> GroupStream::alive() { return renew({}); }

void GroupStream::leave() {
  Lock lock(mutex_);
  if (!call_) return;
  if (!std::exchange(leaving_, true) && under_way_ && !ended_) {
    pb::WorkRequest request;
    request.set_leave(true);
    send(std::move(request));
    changed_.wait_for(lock, leave_wait, [this] { return !under_way_; });
  }
  if (under_way_) call_->stop();
  changed_.wait(lock, [this] { return !under_way_; });
}

void GroupStream::lose() {
  const std::lock_guard lock(mutex_);
  if (under_way_) call_->stop();
}

}  // namespace evershard::remote
