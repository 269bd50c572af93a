// GroupStream: one stay of a worker in a group of a server: one Work call, from its joining to its end.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/api/groups.hpp"
#include "evershard/doors/remote/connection.hpp"
#include "evershard/v1/groups.pb.h"

namespace evershard::remote {

/// When the line breaks it is over: what was not settled comes again, to whoever joins next.
class GroupStream final : public GroupSession {
 public:
  GroupStream(std::shared_ptr<Connection> connection, Door& door, std::function<void()> wake);
  /// Leaves.
  ~GroupStream() override;

  /// Errors: not_found, invalid_argument, unavailable, timeout, ...
  [[nodiscard]] Result<void> join(const std::string& group, const GroupJoin& join,
                                  Connection::Clock::time_point deadline);

  Result<std::vector<GroupDelivery>> take(std::size_t most) override;
  void settle(std::vector<GroupSettlement> settlements, GroupSettled done) override;
  void begin(GlobalPosition position, std::uint64_t delivery) override;
  Result<void> renew(const std::vector<GlobalPosition>& positions) override;
  Result<void> alive() override;
  void leave() override;
  void lose() override;
  [[nodiscard]] std::chrono::milliseconds lease() const override { return lease_; }

 private:
  class Call;
  using Lock = std::unique_lock<std::mutex>;
  struct Batch {
    std::size_t settlements;
    GroupSettled done;
  };

  // Under the lock.
  void send(pb::WorkRequest request);
  void write_next();
  void renew_now(const std::vector<GlobalPosition>& positions);
  [[nodiscard]] Result<void> still_there() const;
  // From gRPC's threads.
  void came(pb::WorkResponse& response);
  void ended(const grpc::Status& status);

  const std::shared_ptr<Connection> connection_;
  Door& door_;
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Call> call_;
  bool under_way_ = false;
  bool joined_ = false;
  bool writing_ = false;
  bool leaving_ = false;
  bool broken_ = false;  ///< nothing more can be sent
  std::optional<Error> ended_;
  std::chrono::milliseconds lease_{0};
  std::deque<GroupDelivery> queue_;
  std::deque<pb::WorkRequest> outgoing_;
  std::map<std::uint64_t, Batch> batches_;
  std::uint64_t last_batch_ = 0;
  bool takes_begun_ = false;                         ///< the server does
  std::chrono::steady_clock::time_point said_{};     ///< last
  std::chrono::steady_clock::time_point renewed_{};  ///< what is not taken yet, last
};

}  // namespace evershard::remote
