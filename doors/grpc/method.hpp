// Method: the RPCs of the door, as they are counted.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace evershard::door {

enum class Method : std::uint8_t {
  append, append_many, read, subscribe,
  head, get_event, get_aggregate, list_aggregates, get_state, put_snapshot, get_snapshot, list_snapshots, get_types, members,
  stats, flush, verify, vacuum, backup, cluster_status, cluster_assign,
  create_group, change_group, reset_group, drop_group, list_groups, describe_group, list_parked, replay_parked, discard_parked, work,
  define_documents, drop_documents, document_definitions, describe_documents, get_document, list_documents, remove_document,
  select, explain, describe_table, list_tables, list_parked_rows, settle_parked_rows,
  create_index, create_value_index, create_projection, change_projection, ask_projection, list_projections, describe_projection, read_index, read_values, wait_for_projection,
  truncate_aggregate, remove_aggregate, erase_subject, apply_retention, set_retention_policy, drop_retention_policy, list_retention_policies, read_retention_log,
};

/// In the order of Method. Source: protocol/v1/service.proto, groups.proto, documents.proto, tables.proto, projections.proto, retention.proto
inline constexpr std::array<std::string_view, 62> method_names{
    "Append", "AppendMany", "Read", "Subscribe",
    "Head", "GetEvent", "GetAggregate", "ListAggregates", "GetState", "PutSnapshot", "GetSnapshot", "ListSnapshots", "GetTypes", "Members",
    "Stats", "Flush", "Verify", "Vacuum", "Backup", "ClusterStatus", "ClusterAssign",
    "CreateGroup", "ChangeGroup", "ResetGroup", "DropGroup", "ListGroups", "DescribeGroup", "ListParked", "ReplayParked", "DiscardParked", "Work",
    "DefineDocuments", "DropDocuments", "DocumentDefinitions", "DescribeDocuments", "GetDocument", "ListDocuments", "RemoveDocument",
    "Select", "Explain", "DescribeTable", "ListTables", "ListParkedRows", "SettleParkedRows",
    "CreateIndex", "CreateValueIndex", "CreateProjection", "ChangeProjection", "AskProjection", "ListProjections", "DescribeProjection", "ReadIndex", "ReadValues", "WaitForProjection",
    "TruncateAggregate", "RemoveAggregate", "EraseSubject", "ApplyRetention", "SetRetentionPolicy", "DropRetentionPolicy", "ListRetentionPolicies", "ReadRetentionLog",
};

}  // namespace evershard::door
