// RemoteGroup: a group whose home is another node, as the workers at this node's doors have it.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/api/groups.hpp"
#include "evershard/cluster/homes/home_calls.hpp"

namespace evershard::cluster {

/// One call at a time carries what all workers here have to say, and brings what the home has for them: what is settled
/// while one is under way goes with the next. No thread of the home waits for events: this node asks again, soon after
/// its watermark moved, else ever more rarely.
///
/// A worker whose home is gone, or does not know it any more, is told so (`not_found`: join again). What it settled
/// meanwhile has the error of the call: `timeout`, the outcome is unknown; `unavailable`, it was not done. Where a call
/// alone was refused (`overloaded`, `too_large`), what was settled with it has that error, and everybody goes on.
///
/// Any thread. Owner: the calls outlive stop(); sessions may outlive it.
class RemoteGroup : public std::enable_shared_from_this<RemoteGroup> {
 public:
  struct Options {
    std::chrono::milliseconds call_time = std::chrono::seconds(10);  ///< a home that is away for longer is gone
    std::chrono::milliseconds open_time = std::chrono::seconds(3);   ///< the same of who joins: he comes again
    std::chrono::milliseconds asked_at_most =
        std::chrono::milliseconds(10);  ///< between two looks while the store grows
    std::chrono::milliseconds asked_at_least = std::chrono::milliseconds(250);
    /// Another number each time this node hears that events were removed or payloads erased. Null: never.
    std::function<std::uint64_t()> rewritten{};
    /// The event as it is now, asked for where rewritten() has moved since it was read. Absent: it is gone. Null: it is
    /// as it was.
    std::function<Result<std::optional<RecordedEvent>>(const RecordedEvent&)> look{};
  };
  /// `head`: this node's watermark, from memory.
  RemoteGroup(HomeCalls& homes, AggregateId aggregate, std::function<GlobalPosition()> head, Options options);
  ~RemoteGroup();  ///< stop()

  /// Errors: those of Groups::open_session
  [[nodiscard]] Result<std::shared_ptr<GroupSession>> open(const std::string& name, const GroupJoin& join,
                                                           std::function<void()> wake);
  /// The last that was heard of the home is that it does not answer.
  [[nodiscard]] bool is_silent() const { return silent_; }
  /// Nobody works on it from here, and the home knows who has left.
  [[nodiscard]] bool is_idle();
  /// Waits until the home knows who has left, or the time is over.
  void tell_who_left(std::chrono::steady_clock::time_point until);
  /// Its workers are told; what they said is not sent any more. Not from a session's callback. Any number of times.
  void stop();

 private:
  class Session;
  struct Batch {
    std::vector<GroupSettlement> settlements;
    GroupSettled done;
  };
  struct Member {
    std::uint64_t number = 0;
    std::chrono::milliseconds lease{};
    bool takes_begun = false;  ///< its home does
    std::uint32_t credit = 0;
    std::function<void()> wake;
    struct Arrived {
      GroupDelivery delivery;
      std::chrono::steady_clock::time_point sure{};  ///< then it was the worker's, and for a lease on
      std::uint64_t read_at = 0;                     ///< Options::rewritten, before it was asked for
    };
    std::deque<Arrived> arrived{};                    ///< and not taken
    std::chrono::steady_clock::time_point renewed{};  ///< of those
    std::vector<Batch> batches{};
    std::set<GlobalPosition> renew{};
    std::set<GlobalPosition> lost{};  ///< to be told with the next renewal
    bool heard = false;
    enum class Going : std::uint8_t { stays, leaves, lost } going = Going::stays;
    std::optional<Error> ended{};

    [[nodiscard]] bool urgent() const { return heard || !batches.empty() || !renew.empty() || going != Going::stays; }
    [[nodiscard]] std::uint32_t room() const {
      return going != Going::stays || arrived.size() >= credit ? 0
                                                               : credit - static_cast<std::uint32_t>(arrived.size());
    }
  };
  using MemberPtr = std::shared_ptr<Member>;
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;
  /// What goes out in one call, and who hears the answer.
  struct Sent {
    MemberPtr member;
    std::vector<Batch> batches;
    bool heard = false;
    std::set<GlobalPosition> renewed;
    bool goes = false;
  };

  [[nodiscard]] std::uint64_t rewritten() const { return options_.rewritten ? options_.rewritten() : 0; }
  void start();
  void run();
  /// Returns: there is something to ask; else everybody has gone, or it stops.
  bool wait_for_work(Lock& lock);
  void ask(Lock& lock);
  /// The call alone was refused.
  void refused(Lock& lock, std::vector<Sent>& sent, const Error& why);
  void end(Lock& lock, const std::vector<Sent>& sent, const Error& why);

  HomeCalls& homes_;
  const AggregateId aggregate_;
  const std::function<GlobalPosition()> head_;
  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, MemberPtr> members_;
  std::uint64_t said_to_ = 0;  ///< the last one that the last call spoke for
  bool stopping_ = false;
  bool running_ = false;
  bool asking_ = false;
  std::atomic<bool> silent_{false};
  Clock::time_point asked_{};
  std::chrono::milliseconds pause_{0};  ///< before it asks again when nobody has anything to say
  GlobalPosition head_asked_{};
  std::mutex starting_;
  std::thread thread_;
};

}  // namespace evershard::cluster
