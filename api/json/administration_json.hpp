// The JSON shapes of what an operator asks: which store it is, its figures, what verify found.

#pragma once

#include "evershard/api/administration.hpp"
#include "evershard/api/json/json_text.hpp"

namespace evershard {

/// The members of an object.
inline void write_info_members(JsonText& json, const StoreInfo& info) {
  json.key("store_id")
      .string(info.store_id)
      .key("fork_id")
      .string(info.fork_id)
      .key("shards")
      .number(info.shards)
      .key("format")
      .number(info.format);
  json.key("hash").number(info.hash).key("created_at").string(info.created_at.text());
}

/// One object, as `evershard stats` prints it. Source: docs/command-line.md
inline void write_stats(JsonText& json, const StoreStats& stats) {
  json.begin_object();
  write_info_members(json, stats.info);
  json.key("head").number(stats.watermark.value).key("sealed").number(stats.sealed.value);
  json.key("tail_events")
      .number(stats.tail_events)
      .key("commits")
      .number(stats.commits)
      .key("appends")
      .number(stats.appends);
  json.key("refused")
      .number(stats.refused)
      .key("disk_bytes")
      .number(stats.disk_bytes)
      .key("disk_free_bytes")
      .number(stats.disk_free_bytes);
  json.key("memory_bytes").number(stats.memory_bytes).key("backend_assertions").boolean(stats.backend_assertions);
  json.key("details").begin_object();
  for (const auto& [name, value] : stats.details) json.key(name).number(value);
  json.end_object().end_object();
}

/// The members of an object.
inline void write_verify_members(JsonText& json, const VerifyReport& report) {
  json.key("events").number(report.events).key("records").number(report.records);
  json.key("index_rows")
      .number(report.index_rows)
      .key("snapshots")
      .number(report.snapshots)
      .key("errors")
      .number(report.errors);
  json.key("findings").begin_array();
  for (const auto& finding : report.findings) json.string(finding);
  json.end_array();
}

inline void write_verify_report(JsonText& json, const VerifyReport& report) {
  json.begin_object();
  write_verify_members(json, report);
  json.end_object();
}

}  // namespace evershard
