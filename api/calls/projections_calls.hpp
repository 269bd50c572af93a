// The calls of Projections, and the projections that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/projections.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<Projections>& projections_calls();

/// Projections elsewhere. A page of a home that gives parts is put together of them: until it is whole, or its events
/// are so long that a page ends behind them.
class AskedProjections : public Projections {
 public:
  explicit AskedProjections(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

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
  Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position, milliseconds timeout) override;
  Result<void> vacuum_projections() override;

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
