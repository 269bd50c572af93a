// HomeAsker: calls of an interface between nodes: asked of the home of a definition, and answered there.

#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/services/indexes/definition_fold.hpp"

namespace evershard::cluster {

/// How long a home is looked for and asked.
struct HomeTimes {
  std::chrono::milliseconds read = std::chrono::seconds(10);
  std::chrono::milliseconds change = std::chrono::seconds(20);  ///< it waits for an append, and that for a cut
};

/// Errors: those of HomeCalls::call; timeout: what was answered cannot be read
[[nodiscard]] Result<void> ask_home(HomeCalls& homes, const char* method, AggregateId definition,
                                    const google::protobuf::Message& request, google::protobuf::Message& response,
                                    std::chrono::milliseconds time, HomeCalls::Again again);

/// Its home was here a moment ago: it is asked for where it is now.
[[nodiscard]] inline bool has_just_gone(const Error& error) { return error.code == ErrorCode::wrong_shard; }

/// Any thread. Owner: `homes` outlives it.
class HomeAsker final : public calls::Asker {
 public:
  /// `category`: of the definitions, as DefinitionNames has it.
  HomeAsker(HomeCalls& homes, std::string category, HomeTimes times = {})
      : homes_(homes), names_(std::move(category)), times_(times) {}

  [[nodiscard]] bool gives_parts() const override { return true; }

 private:
  Result<void> carry(const calls::Call& call, google::protobuf::Message& request, google::protobuf::Message& response,
                     const calls::WaitsFor& awaited) override;

  HomeCalls& homes_;
  const actors::DefinitionNames names_;
  const HomeTimes times_;
};

/// What a home answers with: a page that is too long is made anew with half of its limit. Errors: those of `answer`;
/// invalid_argument: the request cannot be read
[[nodiscard]] Result<std::string> answered_at_home(
    const calls::Call& call, const std::string& request,
    const std::function<Result<void>(google::protobuf::Message& request, google::protobuf::Message& response,
                                     std::chrono::milliseconds wait)>& answer);

/// Other nodes are answered by `here`. Shape: before the node joins.
template <class Of>
void serve_calls(HomeCalls& homes, const calls::Calls<Of>& calls, Of& here) {
  for (const auto* row : calls) {
    if (row->at_home == nullptr) continue;
    homes.serve(row->at_home, [row, &here](const HomeCall& call) {
      return answered_at_home(*row, call.request, [&](auto& request, auto& response, std::chrono::milliseconds wait) {
        return row->answer(here, request, response, wait);
      });
    });
  }
}

}  // namespace evershard::cluster
