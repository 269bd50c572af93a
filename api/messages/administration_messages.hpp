// What an operator asks, as messages: a command's request and response, there and back.

#pragma once

#include "evershard/api/administration.hpp"
#include "evershard/v1/service.pb.h"

namespace evershard::messages {

inline void put(const StoreStats& from, v1::StatsResponse& to) {
  to.set_store_id(from.info.store_id);
  to.set_fork_id(from.info.fork_id);
  to.set_shards(from.info.shards);
  to.set_format(from.info.format);
  to.set_hash(from.info.hash);
  to.set_created_at_us(from.info.created_at.micros);
  to.set_watermark(from.watermark.value);
  to.set_sealed(from.sealed.value);
  to.set_tail_events(from.tail_events);
  to.set_commits(from.commits);
  to.set_appends(from.appends);
  to.set_refused(from.refused);
  to.set_disk_bytes(from.disk_bytes);
  to.set_disk_free_bytes(from.disk_free_bytes);
  to.set_memory_bytes(from.memory_bytes);
  to.set_backend_assertions(from.backend_assertions);
  for (const auto& [name, value] : from.details) {
    auto& detail = *to.add_details();
    detail.set_name(name);
    detail.set_value(value);
  }
}

[[nodiscard]] inline Result<void> get(const v1::StatsResponse& from, StoreStats& to) {
  to.info = {from.store_id(), from.shards(), from.format(), from.hash(), Timestamp{from.created_at_us()},
             from.fork_id()};
  to.watermark = GlobalPosition(from.watermark());
  to.sealed = GlobalPosition(from.sealed());
  to.tail_events = from.tail_events();
  to.commits = from.commits();
  to.appends = from.appends();
  to.refused = from.refused();
  to.disk_bytes = from.disk_bytes();
  to.disk_free_bytes = from.disk_free_bytes();
  to.memory_bytes = from.memory_bytes();
  to.backend_assertions = from.backend_assertions();
  for (const auto& detail : from.details()) to.details.emplace_back(detail.name(), detail.value());
  return {};
}

inline void put(const VerifyReport& from, v1::VerifyReport& to) {
  to.set_events(from.events);
  to.set_records(from.records);
  to.set_index_rows(from.index_rows);
  to.set_snapshots(from.snapshots);
  to.set_errors(from.errors);
  for (const auto& finding : from.findings) to.add_findings(finding);
}

[[nodiscard]] inline Result<void> get(const v1::VerifyReport& from, VerifyReport& to) {
  to = {from.events(),    from.records(), from.index_rows(),
        from.snapshots(), from.errors(),  {from.findings().begin(), from.findings().end()}};
  return {};
}

}  // namespace evershard::messages
