// The values of projections.proto.

#pragma once

#include "evershard/api/projections.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/projections.pb.h"

namespace evershard::messages {

void put(const ProjectionInfo& from, pb::ProjectionInfo& to);
void put(const IndexRead& from, pb::ReadIndexRequest& to);
void put(const ValueRead& from, pb::ReadValuesRequest& to);
void put(const IndexPage& from, pb::IndexPage& to);
void put(const ValuePage& from, pb::ValuePage& to);
void put(Projections::Ask from, pb::AskProjectionRequest& to);

/// Errors of all: invalid_argument
[[nodiscard]] Result<void> get(pb::ProjectionInfo& from, ProjectionInfo& to);
[[nodiscard]] Result<void> get(const pb::ReadIndexRequest& from, IndexRead& to);
[[nodiscard]] Result<void> get(const pb::ReadValuesRequest& from, ValueRead& to);
[[nodiscard]] Result<void> get(pb::IndexPage& from, IndexPage& to);
[[nodiscard]] Result<void> get(pb::ValuePage& from, ValuePage& to);
[[nodiscard]] Result<void> get(const pb::AskProjectionRequest& from, Projections::Ask& to);

}  // namespace evershard::messages
