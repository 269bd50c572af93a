// Projections of KurrentDB's protocol: the server's own, which are derived streams here. None in JavaScript.

#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/refusals.hpp"
#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/kurrent/projectionmanagement.grpc.pb.h"

namespace evershard::kurrent {

namespace esproj = ::event_store::client::projections;

/// What clients may want of a projection that exists.
enum class ProjectionChange : std::uint8_t { enable, disable, reset, update, remove, state };

/// `$by_category` and `$by_event_type` are always there: `$ce-` and `$et-` are derived when they are read. The other
/// three of a server of theirs are known and never run; all other names are unknown. A plain decision.
///
/// Returns: nothing: it is so already
[[nodiscard]] std::optional<Refusal> refusal_of_change(std::string_view projection, ProjectionChange change);

/// What is told of them. Errors: not_found, of a name. A plain decision.
[[nodiscard]] Result<std::vector<esproj::StatisticsResp>> statistics_of(const esproj::StatisticsReq& request,
                                                                        GlobalPosition head);

class ProjectionsService final : public door::ServiceOf<esproj::Projections> {
 public:
  explicit ProjectionsService(std::shared_ptr<Kurrent> kurrent);

 private:
  template <class Request, class Response>
  void changes(door::CallName name, Scope scope, ProjectionChange change);

  const std::shared_ptr<Kurrent> kurrent_;
};

}  // namespace evershard::kurrent
