// NoProjections: where there are none, each call says why.

#pragma once

#include <string>
#include <utility>

#include "evershard/api/projections.hpp"

namespace evershard::cluster {

class NoProjections final : public Projections {
 public:
  explicit NoProjections(std::string why = "projections are switched off here") : why_(std::move(why)) {}

  Result<ProjectionInfo> create_index(const Query&) override { return no(); }
  Result<ProjectionInfo> create_value_index(const std::string&, const ValueIndex&, IfThere = IfThere::refuse) override {
    return no();
  }
  Result<ProjectionInfo> create(const std::string&, const std::string&, const std::string&,
                                IfThere = IfThere::refuse) override {
    return no();
  }
  Result<ProjectionInfo> change(const std::string&, const std::string&, std::optional<SeqNr>) override { return no(); }
  Result<void> ask(const std::string&, Ask) override { return no(); }
  Result<std::vector<ProjectionInfo>> list() override { return no(); }
  Result<ProjectionInfo> describe(const std::string&) override { return no(); }
  Result<IndexPage> read_index(const std::string&, const IndexRead&) override { return no(); }
  Result<ValuePage> read_values(const std::string&, const ValueRead&) override { return no(); }
  Result<GlobalPosition> wait_until(const std::string&, GlobalPosition, std::chrono::milliseconds) override {
    return no();
  }
  Result<void> vacuum_projections() override { return no(); }

 private:
  [[nodiscard]] Refused no() const { return refuse(ErrorCode::unavailable, why_); }
  const std::string why_;
};

}  // namespace evershard::cluster
