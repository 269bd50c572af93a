// AppendLanes: which stream an append goes by: one for each node that writes shards, so that it is decided where it
// arrives.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "evershard/doors/remote/append_stream.hpp"

namespace evershard::remote {

/// Appends whose first events lie on one shard go by one lane, in the order they were sent. When the lanes change, what
/// is under way is answered before anything goes by the new ones.
///
/// Shape: made as a shared one: completions that are being told hold it for a moment beyond close().
class AppendLanes : public std::enable_shared_from_this<AppendLanes> {
 public:
  explicit AppendLanes(std::shared_ptr<Connection> connection);
  AppendLanes(const AppendLanes&) = delete;

  /// The append has its ids. `done`: from a thread of gRPC's, or at once from the caller's where it is refused here.
  void send(Append append, AppendCompletion done);
  /// Ends what waits. Once, and not from a completion.
  void close();

 private:
  using Clock = PendingAppends::Clock;
  struct Held {
    Append append;
    Clock::time_point deadline;
    AppendCompletion done;
  };

  /// Under the lock: the stream it goes by, which counts it from now on.
  [[nodiscard]] AppendStream& lane_of(const Append& append);
  void take_lanes();
  void go(AppendStream& stream, Held append);
  void ended();

  std::shared_ptr<Connection> connection_;  ///< until close(): a gRPC thread must not be the last to have it
  std::mutex mutex_;
  std::map<std::uint32_t, std::unique_ptr<AppendStream>> streams_;  ///< by node; 0: whichever door works
  std::vector<std::uint32_t> lanes_;                                ///< per shard: its node
  std::uint64_t version_ = 0;                                       ///< of lanes_
  std::size_t under_way_ = 0;
  std::deque<Held> held_;  ///< appends that wait until none is under way by the former lanes
  bool releasing_ = false;
  std::condition_variable released_;
  bool closing_ = false;
};

}  // namespace evershard::remote
