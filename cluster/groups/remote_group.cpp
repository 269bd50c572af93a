#include "evershard/cluster/groups/remote_group.hpp"

#include <algorithm>
#include <iterator>

#include "evershard/api/messages/group_messages.hpp"
#include "evershard/cluster/groups/group_home.hpp"
#include "evershard/protocol/kept_reason.hpp"
#include "evershard/v1/group_homes.pb.h"

namespace evershard::cluster {
namespace {

namespace pb = evershard::v1;

constexpr std::size_t said_bytes_max =
    4u << 20;  ///< in one call, but for the batch that comes over it; of 20 MiB at most, as doors take them
constexpr std::size_t settlement_bytes = 64;  ///< at most, without its reason
constexpr int looks_again_max = 8;            ///< at what is given out, while things are removed all the time
constexpr auto pause_when_full = std::chrono::milliseconds(50);

Error home_gone(const Error& why) {
  return {ErrorCode::not_found, "the group's home does not answer (" + why.what + "): join again"};
}
Error left_already() { return {ErrorCode::not_found, "the worker has left"}; }
Error remote_groups_stopped() { return {ErrorCode::unavailable, "the node is stopping: groups give nothing out"}; }

bool does_not_answer(const Result<std::string>& outcome) {
  return !outcome && (outcome.error().code == ErrorCode::unavailable || outcome.error().code == ErrorCode::timeout);
}

}  // namespace

class RemoteGroup::Session final : public GroupSession {
 public:
  Session(std::shared_ptr<RemoteGroup> group, MemberPtr member)
      : group_(std::move(group)), member_(std::move(member)) {}
  ~Session() override { go(Member::Going::leaves); }

  Result<std::vector<GroupDelivery>> take(std::size_t most) override {
    std::vector<GroupDelivery> taken;
    std::vector<std::uint64_t> read_at;
    {
      const Lock lock(group_->mutex_);
      if (auto there = speak(); !there) return refuse(std::move(there).error());
      const auto now = Clock::now();
      while (taken.size() < most && !member_->arrived.empty()) {
        auto& next = member_->arrived.front();
        // Else it may have been settled by another worker, as may be what came behind it of its aggregate.
        if (now - next.sure < member_->lease) {
          taken.push_back(std::move(next.delivery));
          read_at.push_back(next.read_at);
        }
        member_->arrived.pop_front();
      }
    }
    // Something may be removed while another one is looked at. Where that goes on, they come again later.
    const auto outdated = [&](std::size_t n) { return read_at[n] != group_->rewritten(); };
    const auto any = [&] {
      for (std::size_t n = 0; n != taken.size(); ++n)
        if (outdated(n)) return true;
      return false;
    };
    for (int looks = 0; any(); ++looks)
      for (std::size_t n = 0; n != taken.size();) {
        const auto now = group_->rewritten();
        if (!outdated(n)) {
          ++n;
          continue;
        }
        if (looks < looks_again_max && stands(taken[n])) {
          read_at[n++] = now;
          continue;
        }
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(n));
        read_at.erase(read_at.begin() + static_cast<std::ptrdiff_t>(n));
      }
    return taken;
  }
  void settle(std::vector<GroupSettlement> settlements, GroupSettled done) override {
    if (!member_->takes_begun)
      std::erase_if(settlements, [](const GroupSettlement& one) {
        return one.kind == GroupSettlement::Kind::begin;
      });  // a home of an earlier release
    if (settlements.empty()) return done({});
    for (auto& one : settlements)
      one.reason = kept_reason(one.reason);  // what the home would keep: no more has to go there
    Lock lock(group_->mutex_);
    if (auto there = speak(); !there) {
      lock.unlock();
      return done(std::vector<Result<void>>(settlements.size(), refuse(there.error())));
    }
    member_->batches.push_back({std::move(settlements), std::move(done)});
  }
  Result<void> renew(const std::vector<GlobalPosition>& positions) override {
    const Lock lock(group_->mutex_);
    EVERSHARD_TRY(speak());
    for (const auto position : positions) {
      if (member_->lost.erase(position) != 0)
        return refuse(ErrorCode::fenced,
                      "the event at position " + std::to_string(position.value) + " is no longer this worker's");
      member_->renew.insert(position);
    }
    return {};
  }
  Result<void> alive() override { return renew({}); }
  void leave() override { go(Member::Going::leaves); }
  void lose() override { go(Member::Going::lost); }
  [[nodiscard]] std::chrono::milliseconds lease() const override { return member_->lease; }

 private:
  /// It was read before something was removed or erased. What is gone is nobody's work any more; what cannot be looked
  /// at is given out again when its lease is over.
  [[nodiscard]] bool stands(GroupDelivery& delivery) {
    if (!group_->options_.look) return true;
    auto now = group_->options_.look(delivery.event);
    if (!now) return false;
    if (*now) {
      delivery.event = **std::move(now);
      return true;
    }
    settle({{.kind = GroupSettlement::Kind::acknowledge,
             .position = delivery.event.position,
             .delivery = delivery.delivery}},
           [](const std::vector<Result<void>>&) {});
    return false;
  }
  /// Under the lock: the worker says something.
  [[nodiscard]] Result<void> speak() {
    if (member_->ended) return refuse(*member_->ended);
    if (member_->going != Member::Going::stays) return refuse(left_already());
    member_->heard = true;
    // What it has not begun stays its own.
    if (const auto now = Clock::now(); !member_->arrived.empty() && now - member_->renewed > member_->lease / 4) {
      member_->renewed = now;
      for (const auto& one : member_->arrived) member_->renew.insert(one.delivery.event.position);
    }
    group_->changed_.notify_all();
    return {};
  }
  void go(Member::Going how) {
    const Lock lock(group_->mutex_);
    if (member_->ended || member_->going != Member::Going::stays) return;
    member_->going = how;
    member_->arrived.clear();
    member_->wake = [] {};
    group_->changed_.notify_all();
  }

  const std::shared_ptr<RemoteGroup> group_;
  const MemberPtr member_;
};

RemoteGroup::RemoteGroup(HomeCalls& homes, AggregateId aggregate, std::function<GlobalPosition()> head, Options options)
    : homes_(homes), aggregate_(std::move(aggregate)), head_(std::move(head)), options_(std::move(options)) {}

RemoteGroup::~RemoteGroup() { stop(); }

Result<std::shared_ptr<GroupSession>> RemoteGroup::open(const std::string& name, const GroupJoin& join,
                                                        std::function<void()> wake) {
  pb::WorkRequest::Join wanted;
  wanted.set_group(name);
  wanted.set_worker(join.name);
  wanted.set_credit(join.credit);
  auto bytes = homes_.call({group_calls::open, aggregate_, wanted.SerializeAsString(), options_.open_time},
                           HomeCalls::Again::not_done);
  silent_ = does_not_answer(bytes);
  if (!bytes) return refuse(std::move(bytes).error());
  pb::GroupSessionOpened opened;
  if (!opened.ParseFromString(*bytes))
    return refuse(ErrorCode::timeout,
                  "the outcome is unknown: the group's home answers what this node does not understand");
  auto member = std::make_shared<Member>();
  member->number = opened.session();
  member->lease = std::chrono::milliseconds(opened.lease_ms());
  member->credit = join.credit;
  member->takes_begun = opened.takes_begun();
  member->wake = std::move(wake);
  {
    const Lock lock(mutex_);
    if (stopping_) return refuse(remote_groups_stopped());
    members_.emplace(member->number, member);
    pause_ = {};
  }
  start();
  changed_.notify_all();
  return std::make_shared<Session>(shared_from_this(), std::move(member));
}

/// It ends with its last worker.
void RemoteGroup::start() {
  const std::lock_guard one(starting_);
  {
    const Lock lock(mutex_);
    if (running_ || stopping_) return;
  }
  if (thread_.joinable()) thread_.join();
  running_ = true;
  thread_ = std::thread([this] { run(); });
}

bool RemoteGroup::is_idle() {
  const Lock lock(mutex_);
  return members_.empty() && !running_;
}

void RemoteGroup::tell_who_left(Clock::time_point until) {
  Lock lock(mutex_);
  changed_.wait_until(lock, until, [this] {
    return !asking_ &&
           std::ranges::none_of(members_, [](const auto& one) { return one.second->going != Member::Going::stays; });
  });
}

void RemoteGroup::stop() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  {
    const std::lock_guard one(starting_);
    if (thread_.joinable()) thread_.join();
  }
  Lock lock(mutex_);
  std::vector<Sent> none;
  end(lock, none, remote_groups_stopped());
}

void RemoteGroup::run() {
  Lock lock(mutex_);
  while (wait_for_work(lock)) ask(lock);
  running_ = false;
}

bool RemoteGroup::wait_for_work(Lock& lock) {
  while (!stopping_ && !members_.empty()) {
    bool wanted = false;
    for (const auto& [number, member] : members_) {
      if (member->urgent()) return true;
      wanted = wanted || member->room() > 0;
    }
    const auto now = Clock::now();
    if (wanted && now >= asked_ + pause_) return true;
    if (wanted && now >= asked_ + options_.asked_at_most && head_() != head_asked_) {
      pause_ = options_.asked_at_most / 4;  // the home may read it a moment later
      return true;
    }
    if (wanted)
      changed_.wait_until(lock, std::min(asked_ + pause_, now + options_.asked_at_most));
    else
      changed_.wait(lock);
  }
  return false;
}

void RemoteGroup::ask(Lock& lock) {
  pb::GroupWorkAsked asked;
  std::vector<Sent> sent;
  std::size_t said_bytes = 0;
  std::vector<MemberPtr> in_turn;
  for (auto at = members_.upper_bound(said_to_); at != members_.end(); ++at) in_turn.push_back(at->second);
  for (auto at = members_.begin(); at != members_.upper_bound(said_to_); ++at) in_turn.push_back(at->second);
  for (const auto& member : in_turn) {
    if (!member->urgent() && member->room() == 0) continue;
    if (said_bytes >= said_bytes_max) break;  // with the next call, which begins with it
    const auto number = said_to_ = member->number;
    auto& out = *asked.add_sessions();
    out.set_session(number);
    out.set_heard(member->heard);
    std::size_t batches = 0;
    for (; batches < member->batches.size() && said_bytes < said_bytes_max; ++batches) {
      for (const auto& settlement : member->batches[batches].settlements) {
        messages::put(settlement, *out.add_settlements());
        said_bytes += settlement.reason.size() + settlement_bytes;
      }
    }
    for (const auto position : member->renew) out.add_renew(position.value);
    out.set_room(member->room());
    const auto end = member->batches.begin() + static_cast<std::ptrdiff_t>(batches);
    auto& said =
        sent.emplace_back(Sent{member,
                               {std::make_move_iterator(member->batches.begin()), std::make_move_iterator(end)},
                               std::exchange(member->heard, false),
                               std::exchange(member->renew, {})});
    member->batches.erase(member->batches.begin(), end);
    if (!member->batches.empty()) continue;  // it goes when all is said
    said.goes = member->going != Member::Going::stays;
    if (member->going == Member::Going::leaves) out.set_going(pb::GroupSessionWork::GOING_LEAVES);
    if (member->going == Member::Going::lost) out.set_going(pb::GroupSessionWork::GOING_IS_LOST);
  }
  for (const auto& one : sent) {
    if (one.goes) members_.erase(one.member->number);
  }
  head_asked_ = head_();
  asking_ = true;
  const auto asked_at = Clock::now();
  const auto read_at = rewritten();
  const auto until = asked_at + options_.call_time;
  lock.unlock();
  auto bytes = homes_.call({group_calls::work, aggregate_, asked.SerializeAsString(), options_.call_time},
                           HomeCalls::Again::not_done);
  while (!bytes && bytes.error().code == ErrorCode::overloaded &&
         Clock::now() + pause_when_full < until) {  // it was not done
    std::this_thread::sleep_for(pause_when_full);
    bytes = homes_.call({group_calls::work, aggregate_, asked.SerializeAsString(), options_.call_time},
                        HomeCalls::Again::not_done);
  }
  pb::GroupWorkAnswered answered;
  const bool understood =
      bytes && answered.ParseFromString(*bytes) && static_cast<std::size_t>(answered.sessions_size()) == sent.size();
  silent_ = does_not_answer(bytes);
  lock.lock();
  asking_ = false;
  changed_.notify_all();
  asked_ = Clock::now();
  if (!bytes && (bytes.error().code == ErrorCode::overloaded || bytes.error().code == ErrorCode::too_large))
    return refused(lock, sent, bytes.error());
  if (!understood)
    return end(lock, sent,
               bytes ? Error(ErrorCode::timeout, "the group's home answers what this node does not understand")
                     : bytes.error());

  std::vector<std::function<void()>> calls;  // without the lock
  bool any = false;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    auto& member = *sent[i].member;
    auto& answer = *answered.mutable_sessions(static_cast<int>(i));
    int outcome = 0;
    for (auto& batch : sent[i].batches) {
      std::vector<Result<void>> results;
      for (std::size_t n = 0; n < batch.settlements.size(); ++n, ++outcome) {
        Error refused;
        if (outcome >= answer.outcomes_size())
          results.push_back(refuse(
              answer.has_ended()
                  ? left_already()
                  : Error(ErrorCode::timeout, "the group's home did not answer for this event: it may come again")));
        else if (!answer.outcomes(outcome).has_refused())
          results.emplace_back();
        else if (auto got = messages::get(*answer.mutable_outcomes(outcome)->mutable_refused(), refused); got)
          results.push_back(refuse(std::move(refused)));
        else
          results.push_back(refuse(ErrorCode::timeout, "the outcome is unknown: " + got.error().what));
      }
      calls.push_back(
          [done = std::move(batch.done), results = std::move(results)]() mutable { done(std::move(results)); });
    }
    for (auto& one : member.arrived) {
      if (!answer.has_ended() && sent[i].renewed.contains(one.delivery.event.position)) one.sure = asked_at;
    }
    for (const auto position : answer.lost()) {
      std::erase_if(member.arrived,
                    [&](const Member::Arrived& one) { return one.delivery.event.position.value == position; });
      member.lost.insert(GlobalPosition(position));
    }
    for (auto& one : *answer.mutable_deliveries()) {
      GroupDelivery delivery;
      if (member.going != Member::Going::stays || !messages::get(one, delivery)) continue;
      member.lost.erase(delivery.event.position);
      if (member.arrived.empty()) member.renewed = Clock::now();
      member.arrived.push_back({std::move(delivery), asked_at, read_at});
      any = true;
    }
    if (answer.has_ended() && !member.ended) {
      Error why;
      if (!messages::get(*answer.mutable_ended(), why)) why = left_already();
      // That the group is gone is told by joining again.
      member.ended = why.code == ErrorCode::not_found ? std::move(why) : home_gone(why);
      member.arrived.clear();
      members_.erase(member.number);
      // Said while this call was under way.
      for (auto& batch : std::exchange(member.batches, {})) {
        calls.push_back([done = std::move(batch.done), results = std::vector<Result<void>>(
                                                           batch.settlements.size(), refuse(*member.ended))]() mutable {
          done(std::move(results));
        });
      }
    }
    if (answer.deliveries_size() > 0 || member.ended) calls.emplace_back(member.wake);
  }
  pause_ = any ? std::chrono::milliseconds(0)
               : std::clamp(2 * pause_, std::chrono::milliseconds(2), options_.asked_at_least);
  lock.unlock();
  for (const auto& call : calls) call();
  lock.lock();
}

void RemoteGroup::refused(Lock& lock, std::vector<Sent>& sent, const Error& why) {
  // Whether it was the question or the answer that was too large is not known.
  const auto outcome =
      why.code == ErrorCode::too_large ? Error(ErrorCode::timeout, "the outcome is unknown: " + why.what) : why;
  std::vector<Batch> unheard;
  for (auto& one : sent) {
    std::move(one.batches.begin(), one.batches.end(), std::back_inserter(unheard));
    auto& member = *one.member;
    if (member.ended) continue;
    // All but what was settled is said again.
    if (one.goes) members_.emplace(member.number, one.member);
    member.heard = member.heard || one.heard;
    member.renew.merge(one.renewed);
  }
  lock.unlock();
  for (const auto& batch : unheard) batch.done(std::vector<Result<void>>(batch.settlements.size(), refuse(outcome)));
  std::this_thread::sleep_for(pause_when_full);
  lock.lock();
}

/// Everybody is told, also who had nothing to say.
void RemoteGroup::end(Lock& lock, const std::vector<Sent>& sent, const Error& why) {
  std::vector<Batch> unheard;
  std::vector<std::function<void()>> wakes;
  for (const auto& one : sent) unheard.insert(unheard.end(), one.batches.begin(), one.batches.end());
  for (const auto& [number, member] : std::exchange(members_, {})) {
    member->ended = stopping_ ? why : home_gone(why);
    member->arrived.clear();
    for (auto& batch : std::exchange(member->batches, {})) unheard.push_back(std::move(batch));
    wakes.push_back(member->wake);
  }
  for (const auto& one : sent) {
    if (!one.member->ended) one.member->ended = home_gone(why);
  }
  lock.unlock();
  for (const auto& batch : unheard) batch.done(std::vector<Result<void>>(batch.settlements.size(), refuse(why)));
  for (const auto& wake : wakes) wake();
  lock.lock();
}

}  // namespace evershard::cluster
