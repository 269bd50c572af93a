// RemoteProjections: a server's projections, as if they were here.

#pragma once

#include <memory>

#include "evershard/api/projections.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteProjections final : public Projections {
 public:
  explicit RemoteProjections(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<ProjectionInfo> create_index(const Query& query) override;
  Result<ProjectionInfo> create_value_index(const std::string& name, const ValueIndex& index,
                                            IfThere there = IfThere::refuse) override;
  Result<ProjectionInfo> create(const std::string& name, const std::string& kind, const std::string& spec,
                                IfThere there = IfThere::refuse) override;
  Result<ProjectionInfo> change(const std::string& name, const std::string& spec,
                                std::optional<SeqNr> expected) override;
  Result<void> ask(const std::string& name, Ask what) override;
  Result<std::vector<ProjectionInfo>> list() override;
  Result<ProjectionInfo> describe(const std::string& name) override;
  Result<IndexPage> read_index(const std::string& name, const IndexRead& read) override;
  Result<ValuePage> read_values(const std::string& name, const ValueRead& read) override;
  Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                    std::chrono::milliseconds timeout) override;
  Result<void> vacuum_projections() override;

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
