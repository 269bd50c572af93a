// Connection: the doors of a store, what every call on them needs, and what is known of who serves it.

#pragma once

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/doors/remote/connect_faults.hpp"
#include "evershard/doors/remote/door_choice.hpp"
#include "evershard/doors/remote/remote.hpp"
#include "evershard/doors/remote/shard_directory.hpp"
#include "evershard/doors/remote/told_patience.hpp"
#include "evershard/doors/remote/write_outcome.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/sharding/heard_leaderships.hpp"
#include "evershard/v1/asks.grpc.pb.h"
#include "evershard/v1/groups.grpc.pb.h"
#include "evershard/v1/retention.grpc.pb.h"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::remote {

namespace pb = evershard::v1;

/// One address. Lives as long as its Connection: gRPC does not bear the last of a channel to go in a thread of its own.
struct Door {
  std::size_t number = 0;
  std::string address;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<pb::EventStore::Stub> events;
  std::unique_ptr<pb::Administration::Stub> administration;
  std::unique_ptr<pb::Groups::Stub> groups;
  std::unique_ptr<pb::Retention::Stub> retention;
  std::unique_ptr<pb::Aggregates::Stub> aggregates;
};

/// Of a call that has not ended: a connection carries it, so that a byte of it may have arrived. Only then gRPC knows
/// the peer's address, and it forgets it with the end. A target that is such an address itself tells nothing.
[[nodiscard]] bool reached(const grpc::ClientContext& call);

/// What the answer of a call that answered well says in its initial metadata; empty: nothing.
[[nodiscard]] std::string_view told_in(const grpc::ClientContext& answered, const char* key);

/// Shared by the Remote and every stream and feed made of it.
///
/// A thread (the scout) asks doors whose they are before they are used, where there is more than one, and who writes
/// which shard, once appends are sent. Where one address is given and nothing is appended, there is none.
class Connection {
 public:
  using Clock = std::chrono::system_clock;  // gRPC's deadlines are of it

  /// Errors: invalid_argument
  [[nodiscard]] static Result<std::shared_ptr<Connection>> make(const RemoteOptions& options);
  Connection(const RemoteOptions& options, std::size_t addresses);
  ~Connection();
  Connection(const Connection&) = delete;

  [[nodiscard]] const RemoteOptions& options() const { return options_; }
  /// With the token, and, where `of_history`, with what was heard of the history that answered before: who is of
  /// another one refuses the call. A deadline is the caller's to set.
  [[nodiscard]] std::unique_ptr<grpc::ClientContext> context(bool of_history = true) const;
  /// Which history an answer is of: of a call that answered well. Errors: as hear_led(); invalid_argument: of several
  /// addresses, one serves another fork of the store than the first answer was of
  [[nodiscard]] Result<void> hear(const grpc::ClientContext& answered);
  /// Whose order one message of a stream follows; empty: it names nothing. Errors: fenced, unavailable: the message is
  /// of another history, or of an older leadership than one that was heard of: it is not to be taken
  [[nodiscard]] Result<void> hear_led(std::string_view led);
  /// Which fork a stream's answers are of, before hear_led(). Errors: invalid_argument, as hear()
  [[nodiscard]] Result<void> hear_fork(const grpc::ClientContext& answered);
  /// The same, and positions that this client is given to begin behind stay those of the fork before: at one address
  /// only, where who led the fork before says nothing of the one that is there now.
  void hear_at_one(const grpc::ClientContext& answered);
  /// What a call ends with whose answer is not taken. Returns: unavailable; invalid_argument: it is of another fork
  [[nodiscard]] static Error not_taken(const Door& door, const Error& why);
  /// Which fork of the store the first answer was of; empty: nobody has said.
  [[nodiscard]] std::string fork() const;

  /// The door to ask; waits for the first one that is known to be of the store.
  ///
  /// Errors: unavailable: none is, until the deadline; invalid_argument: all of them are of other stores, or none is
  /// ours
  ///         and one that was serves another fork by now
  [[nodiscard]] Result<Door*> door(Clock::time_point deadline);
  /// The same without waiting. Nothing: none yet.
  [[nodiscard]] Door* door_now();
  /// Why there is none.
  [[nodiscard]] Error trouble();
  /// The node's own door, where it is open now.
  [[nodiscard]] Door* home(std::uint32_t node);
  void worked(const Door& door);
  /// What a call at this door ended with; or that no address will ever work (`unavailable`, lasting). `told`: by a
  /// server.
  [[nodiscard]] Error fault(const Door& door, Error error, bool told);
  /// No address will ever work; or none does, and one that did serves another fork by now.
  [[nodiscard]] std::optional<Error> final_fault();
  /// Anybody has answered.
  [[nodiscard]] bool was_heard();
  /// The door could not be reached, or says that it cannot answer: the next door is asked.
  void failed(const Door& door);
  /// More than one address is known.
  [[nodiscard]] bool several();

  /// A server has no room for what this client asks, and wants to be asked again so much later.
  void is_full(std::chrono::milliseconds retry_after);
  /// How long the client still waits for that room.
  [[nodiscard]] std::chrono::milliseconds full_for() const;

  /// Appends are sent: who writes which shard is worth knowing. `doubtful`: what is known may be wrong by now.
  void learn_shards(bool doubtful = false);
  /// Which node an append goes to, by the shard of its first event. Empty: all to the door at hand.
  [[nodiscard]] std::vector<std::uint32_t> lanes();
  /// Moves with every change of lanes().
  [[nodiscard]] std::uint64_t lanes_version() const { return lanes_version_; }
  [[nodiscard]] std::optional<ShardId> shard_of(const Append& append);

  /// The greatest position that any answer told.
  [[nodiscard]] GlobalPosition seen() const { return GlobalPosition(seen_.load()); }
  void see(GlobalPosition position);
  /// What a read waits for: what its caller says, else what was seen.
  [[nodiscard]] std::optional<GlobalPosition> at_least(std::optional<GlobalPosition> asked) const;
  /// How long, of the time that is left, one door has to reach a position: another door may have reached it already.
  [[nodiscard]] std::chrono::milliseconds wait_at_one(std::chrono::milliseconds left);

  /// When a call is tried again.
  enum class Again : std::uint8_t {
    not_served,   ///< `unavailable`, whoever says so: the network, or a server that is stopping
    named,        ///< as that, of a write that names itself, which a server's `timeout` is asked again for too
    not_reached,  ///< only where nobody of the store answered: what one server says of itself, as of a full disk, is
                  ///< the answer
    not_sent,     ///< as that, of what must not be done twice: where it may have arrived and no answer says, it is
                  ///< `timeout`
  };
  /// "For ever" must not run over the end of the clock.
  static constexpr std::chrono::milliseconds time_max = std::chrono::hours(24);

  /// One call that may be repeated, at whichever door, until the deadline. `overloaded` is, whatever the call: nothing
  /// was done. A write ends as WriteOutcome says.
  ///
  /// Shape: `call`: grpc::Status(Door&, grpc::ClientContext&, std::chrono::milliseconds left); `grace`: how much longer
  ///        a server has that says nothing.
  template <class Call>
  [[nodiscard]] Result<void> ask(std::chrono::milliseconds timeout, Call call, Again again = Again::not_served,
                                 std::chrono::milliseconds grace = {}) {
    const auto began = Clock::now();
    const auto deadline = began + std::min(timeout, time_max);
    Error why;  // of the try before: that error says more than that the time is up
    WriteOutcome outcome;
    ToldPatience patience(options_.unavailable_timeout);
    for (std::uint32_t tries = 0;; ++tries) {
      auto door = this->door(deadline);
      if (!door)
        return refuse(outcome.end(
            tries == 0 || door.error().code != ErrorCode::unavailable ? std::move(door).error() : std::move(why),
            false));
      auto context = this->context();
      context->set_deadline(deadline + grace);
      const grpc::Status status =
          connected(**door, deadline) ? call(**door, *context, left(deadline)) : not_connected(**door);
      const auto taken = status.ok() ? hear(*context) : Result<void>();
      if (status.ok() && taken) {
        worked(**door);
        return {};
      }
      const bool told = !status.error_details().empty();
      Error error = taken ? fault(**door, wire::error_of(status), told) : not_taken(**door, taken.error());
      if (again != Again::not_served) outcome.failed(error, told);
      if (again == Again::not_sent && outcome.unknown()) return refuse(outcome.end(std::move(error), told));
      if (error.code == ErrorCode::timeout && !told && tries > 0) return refuse(outcome.end(std::move(why), false));
      if (!asked_again(error, told, again, Clock::now() - began)) return refuse(outcome.end(std::move(error), told));
      // What is waited for to come to a position has its own time, and so has what is asked for at a full server.
      const bool patient = error.code == ErrorCode::timeout || error.code == ErrorCode::overloaded;
      if (told && !patient && !patience.bears(error, ToldPatience::Clock::now())) {
        return refuse(outcome.end(std::move(error), told));
      }
      if (error.code != ErrorCode::overloaded) failed(**door);
      if (!wait_before(tries, **door, deadline, wire::retry_after_of(status))) {
        return refuse(outcome.end(std::move(error), told));
      }
      why = std::move(error);
    }
  }
  template <class Call>
  [[nodiscard]] Result<void> ask(Call call, Again again = Again::not_served) {
    return ask(options_.timeout, std::move(call), again);
  }

  /// Waits until a call on the door is sent, or fails, at once. Returns: false: not in time, or not wanted any more
  [[nodiscard]] static bool connected(const Door& door, Clock::time_point deadline,
                                      const std::atomic<bool>* cancelled = nullptr);
  /// Pauses, and goes on connecting meanwhile: gRPC looks at what it connects only while somebody waits for it. An
  /// attempt that nobody looks at ends with its time, and hides why there is no connection.
  static void rest(const Door& door, std::chrono::milliseconds pause);
  [[nodiscard]] static grpc::Status not_connected(const Door& door) {
    return {grpc::StatusCode::UNAVAILABLE, no_connection + door.address + " in time"};
  }
  [[nodiscard]] static std::chrono::milliseconds left(Clock::time_point deadline) {
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()),
                    std::chrono::milliseconds(0));
  }
  /// Of a call that waits for a position: the server says itself that it was not reached in time; the call's own end is
  /// for one that says nothing.
  static constexpr auto answer_grace = std::chrono::seconds(1);

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// Waits before the next try. Returns: false: there is no time for another one.
  static bool wait_before(std::uint32_t tries, const Door& door, Clock::time_point deadline,
                          std::chrono::milliseconds retry_after);
  /// `since`: how long the call has been going on.
  [[nodiscard]] bool asked_again(const Error& error, bool told, Again again, Clock::duration since);
  void add(const std::string& address, bool several);
  void scout(Lock& lock);
  void run();
  void meet(Lock& lock, std::size_t door);
  /// Whose order a door follows that says whose it is. Errors: as hear_led()
  [[nodiscard]] Result<void> hear_met(std::size_t door, const grpc::ClientContext& answered);
  void learn(std::size_t door, const Membership& said);

  RemoteOptions options_;     ///< a time-out that is no longer than a day: what is longer may overflow the clock
  const bool given_several_;  ///< addresses
  std::shared_ptr<grpc::ChannelCredentials> credentials_;
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint64_t> lanes_version_{0};
  std::atomic<std::chrono::steady_clock::time_point> full_until_{};

  mutable std::mutex history_mutex_;  ///< nothing else is locked under it
  sharding::HeardLeaderships led_;    ///< with this one
  std::string fork_;                  ///< the same
  std::string led_of_;                ///< the same: of which fork that was heard, at one address

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Door>> doors_;
  DoorChoice choice_;
  ConnectFaults faults_;
  ShardDirectory directory_;
  std::map<std::uint32_t, std::size_t> door_of_;  ///< a node's, as it said itself
  std::set<std::size_t> wanted_;                  ///< doors of owners that nobody has met yet
  std::optional<Error> forked_{};  ///< a door that answered as ours serves another fork of the store by now
  Error trouble_{ErrorCode::unavailable, "no server was reached"};
  bool map_wanted_ = false;
  bool map_known_ = false;                             ///< a server told the map, or that there is none
  std::chrono::steady_clock::time_point map_asked_{};  ///< last
  grpc::ClientContext* asking_ = nullptr;
  bool closing_ = false;
  std::thread scout_;
};

/// 10 ms, doubled with every try up to 500 ms, and up to as much less by chance; and not before a full server wants it.
[[nodiscard]] std::chrono::milliseconds pause_before(std::uint32_t tries, std::chrono::milliseconds retry_after = {});

/// HOST:PORT,HOST:PORT. Errors: invalid_argument: none, or an empty one
[[nodiscard]] Result<std::vector<std::string>> addresses_of(const RemoteOptions& options);

}  // namespace evershard::remote
