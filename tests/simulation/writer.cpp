#include "tests/simulation/writer.hpp"

#include <algorithm>

namespace evershard::simulation {

using sharding::Report;
using sharding::ReportedAppend;

Writer::Actions ModelWriter::opened(const sharding::Opening& opening, const DiskShard& disk) {
  Shard shard;
  shard.epoch = opening.epoch;
  shard.tail = shard.durable = std::max(disk.tail, opening.tail);
  for (const auto& [first, record] : disk.records) {
    shard.seen.insert(record.append);
    if (first >= disk.covered) shard.undecided[first] = record;
  }
  open_[opening.shard] = std::move(shard);
  return {};
}

Writer::Actions ModelWriter::fenced(ShardId shard) {
  open_.erase(shard);
  return {};
}

Writer::Actions ModelWriter::submit(ShardId id, AppendId append) {
  Actions actions;
  const auto open = open_.find(id);
  if (open == open_.end() || !open->second.seen.insert(append).second) return actions;
  Shard& shard = open->second;
  const Request& request = history_.request(append);
  JournalRecord record{id, shard.epoch, shard.tail, append, {}};
  for (std::uint32_t i = 0; i != request.events.size(); ++i) {
    if (request.events[i].shard == id) record.events.push_back(i);
  }
  shard.undecided[record.first] = record;
  shard.tail = shard.tail + record.events.size();
  actions.write.push_back(std::move(record));
  if (off_ == Off::durable_report) {
    shard.durable = shard.tail;
    actions.reports.push_back(report(id, shard, actions.write.back().first));
  }
  return actions;
}

Writer::Actions ModelWriter::synced(ShardId id, ShardOffset until) {
  Actions actions;
  const auto open = open_.find(id);
  if (open == open_.end() || until <= open->second.durable) return actions;
  Shard& shard = open->second;
  const auto from = std::exchange(shard.durable, until);
  for (auto record = shard.undecided.lower_bound(from); record != shard.undecided.end() && record->first < until;
       ++record) {
    const Request& request = history_.request(record->second.append);
    if (request.durable) actions.answers.push_back({Actions::Answer::Kind::durable, record->second.append, {}, 0});
  }
  actions.reports.push_back(report(id, shard, from));
  return actions;
}

Writer::Actions ModelWriter::report_again(ShardId id, Epoch epoch, ShardOffset first) {
  Actions actions;
  const auto open = open_.find(id);
  if (open == open_.end() || open->second.epoch != epoch || off_ == Off::report_again) return actions;
  auto again = report(id, open->second, first);
  if (!again.appends.empty()) actions.reports.push_back(std::move(again));
  return actions;
}

Report ModelWriter::report(ShardId id, const Shard& shard, ShardOffset from) const {
  Report report{id, shard.epoch, from, {}};
  const auto begin = shard.undecided.lower_bound(from);
  if (begin != shard.undecided.end()) report.first = begin->first;
  for (auto record = begin; record != shard.undecided.end() && record->first < shard.durable; ++record) {
    auto append = reported(record->second);
    if (off_ != Off::whole_report) {
      report.appends.push_back(std::move(append));
      continue;
    }
    for (std::uint32_t i = 0; i != append.events; ++i) {
      ReportedAppend one;
      one.conditions = append.conditions;
      one.tentative = !one.conditions.empty();
      if (!append.terms.empty()) one.terms = {append.terms[i]};
      report.appends.push_back(std::move(one));
    }
  }
  return report;
}

ReportedAppend ModelWriter::reported(const JournalRecord& record) const {
  const Request& request = history_.request(record.append);
  ReportedAppend append;
  append.events = static_cast<std::uint32_t>(record.events.size());
  append.conditions = request.conditions;
  append.tentative = !append.conditions.empty() || request.shards().size() > 1;
  if (request.digests) {
    for (const auto event : record.events) append.terms.push_back(request.events[event].terms);
  }
  if (request.shards().size() > 1) {
    append.part.emplace();
    for (std::size_t i = 0; i != 8; ++i)
      append.part->append.bytes[15 - i] = static_cast<std::uint8_t>(record.append >> (8 * i));
    append.part->append.bytes[0] = 1;
    for (const auto& event : request.events) append.part->runs.emplace_back(event.shard, 1);
  }
  return append;
}

Writer::Actions ModelWriter::applied(const cluster::NodeStep::Apply& apply) {
  Actions actions;
  for (const auto& own : apply.own) {
    const auto open = open_.find(own.segment.shard);
    if (open == open_.end() || open->second.epoch != own.segment.epoch) continue;
    auto& undecided = open->second.undecided;
    auto position = own.first_position;
    for (auto offset = own.segment.first; offset < own.segment.end; ++offset) {
      const bool refused = std::ranges::count(own.segment.refused, offset) != 0;
      if (const auto record = undecided.find(offset); record != undecided.end()) {
        using Kind = Actions::Answer::Kind;
        actions.answers.push_back(
            {refused ? Kind::refused : Kind::placed, record->second.append, position, record->second.events.front()});
      }
      if (!refused) ++position;
    }
    undecided.erase(undecided.begin(), undecided.lower_bound(own.segment.end));
  }
  return actions;
}

}  // namespace evershard::simulation
