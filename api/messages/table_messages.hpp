// Tables' values <-> messages.

#pragma once

#include "evershard/api/tables.hpp"
#include "evershard/v1/tables.pb.h"

namespace evershard::messages {

namespace pb = evershard::v1;

void put(const TableSelect& from, pb::TableSelect& to);
void put(const TablePage& from, pb::SelectResponse& to);
void put(const TablePlan& from, pb::ExplainResponse& to);
void put(const TableInfo& from, pb::TableInfo& to);
void put(const ParkedRow& from, pb::ParkedRow& to);

[[nodiscard]] TableSelect get(const pb::TableSelect& from);
// Errors: invalid_argument: what no server of ours says
[[nodiscard]] Result<TablePage> get(const pb::SelectResponse& from);
[[nodiscard]] Result<TablePlan> get(const pb::ExplainResponse& from);
[[nodiscard]] Result<TableInfo> get(const pb::TableInfo& from);
[[nodiscard]] ParkedRow get(const pb::ParkedRow& from);

}  // namespace evershard::messages
