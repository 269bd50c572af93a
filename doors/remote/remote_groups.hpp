// RemoteGroups: the groups of a server's store.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "evershard/api/calls/groups_calls.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteGroups final : public calls::AskedGroups {
 public:
  RemoteGroups(std::shared_ptr<Connection> connection, std::shared_ptr<calls::Asker> asker)
      : AskedGroups(std::move(asker)), connection_(std::move(connection)) {}

  /// Waits until it has joined.
  Result<std::shared_ptr<GroupSession>> open_session(const std::string& name, const GroupJoin& join,
                                                     std::function<void()> wake) override;
  /// A server that is gone is waited for.
  [[nodiscard]] bool comes_back() const override { return true; }

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
