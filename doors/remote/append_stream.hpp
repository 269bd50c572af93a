// AppendStream: one AppendMany for many appends, so that they are decided in the order they were sent; to one door
// after the other.

#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "evershard/doors/remote/connection.hpp"
#include "evershard/doors/remote/pending_appends.hpp"

namespace evershard::remote {

/// Goes to its node's own door where that is open, else to the one that works; comes home when it can, without changing
/// the order.
///
/// A thread keeps the time: it ends what is late, and opens the stream again when it broke and somebody waits.
class AppendStream {
 public:
  /// `node`: whose door it prefers; 0: nobody's.
  AppendStream(std::shared_ptr<Connection> connection, std::uint32_t node);
  /// Ends what waits. Not from a completion.
  ~AppendStream();
  AppendStream(const AppendStream&) = delete;

  /// The append has its ids; `deadline` never goes back. `done`: from a thread of gRPC's, or at once from the caller's
  /// where it is refused here.
  void send(const Append& append, PendingAppends::Clock::time_point deadline, AppendCompletion done);

 private:
  class Call;
  using Lock = std::unique_lock<std::mutex>;

  void open(Lock& lock);
  void look_homewards(Lock& lock);
  void leave(Lock& lock, ErrorCode why);
  void write_next(Lock& lock);
  void answered(const grpc::ByteBuffer& bytes, Call& call);
  void ended(const grpc::Status& status, std::shared_ptr<Call> call);
  void keep_time();
  static void tell(std::vector<PendingAppends::Ended> ended);

  const std::shared_ptr<Connection> connection_;
  const std::uint32_t node_;
  std::mutex mutex_;
  std::condition_variable changed_;
  ToldPatience patience_;  ///< with a server that ends one stream after the other
  PendingAppends pending_;
  std::shared_ptr<Call> call_;
  /// The one before. Its context holds the channel, and gRPC does not bear the last of a channel to go in a thread of
  /// its own: here it goes before connection_ does.
  std::shared_ptr<Call> over_;
  bool writing_ = false;
  bool at_home_ = false;  ///< the call goes to its own door
  bool leaving_ = false;  ///< its own door is open again, or this one cannot: what was sent is answered first
  PendingAppends::Clock::time_point left_at_{};  ///< when it last left a door whose node said that it cannot
  bool closing_ = false;
  std::uint32_t tries_ = 0;  ///< since the last answer
  bool heard_ = false;       ///< any answer, ever
  PendingAppends::Clock::time_point retry_at_{};
  std::string trouble_;  ///< why the stream broke
  bool full_ = false;    ///< the server had no room for it
  std::thread keeper_;
};

}  // namespace evershard::remote
