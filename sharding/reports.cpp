#include "evershard/sharding/reports.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/several.hpp"

namespace evershard::sharding {

Reports::Reports(const std::vector<OrderState::Shard>& shards) : shards_(shards.size()) {
  for (std::size_t i = 0; i != shards.size(); ++i) shards_[i].end = shards[i].next;
}

Reports::~Reports() = default;

Reported Reports::take(Report report, Epoch epoch) {
  if (report.shard.value >= shards_.size() || report.first.value == 0) return Reported::malformed;
  if (report.epoch < epoch) return Reported::stale;
  if (report.epoch > epoch) return Reported::replaced;  // somebody else opened the shard
  Shard& shard = shards_[report.shard.value];
  if (report.first > shard.end) return Reported::gap;
  if (report.appends.empty()) {
    cut_asked_ = true;
    return Reported::taken;
  }

  // What was reported before is skipped; appends are whole, so a report joins on between two of them.
  ShardOffset offset = report.first;
  auto fresh = report.appends.begin();
  for (; fresh != report.appends.end() && offset < shard.end; ++fresh) offset = offset + fresh->events;
  if (offset > shard.end) return Reported::malformed;
  if (fresh == report.appends.end()) return Reported::stale;
  report.appends.erase(report.appends.begin(), fresh);
  if (const auto objected = objection(report)) return *objected;

  if (shard.waiting.empty()) active_.push_back(report.shard);
  for (ReportedAppend& append : report.appends) {
    Several* several = append.part ? join(append, report.shard, shard.end) : nullptr;
    const std::uint32_t events = append.events;
    shard.waiting.push_back({std::move(append), shard.end, several});
    shard.end = shard.end + events;
  }
  return Reported::taken;
}

std::optional<Reported> Reports::objection(const Report& report) const {
  std::vector<EventId> parts;
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - shards_[report.shard.value].end.value;
  for (const ReportedAppend& append : report.appends) {
    if (append.events > room) return Reported::malformed;
    room -= append.events;
    if (const auto objected = objection(append, report.shard)) return objected;
    if (append.part) parts.push_back(append.part->append);
  }
  std::sort(parts.begin(), parts.end());
  if (std::adjacent_find(parts.begin(), parts.end()) != parts.end()) return Reported::replaced;
  return std::nullopt;
}

std::optional<Reported> Reports::objection(const ReportedAppend& append, ShardId shard) const {
  if (append.events == 0) return Reported::malformed;
  if (!append.terms.empty() && append.terms.size() != append.events) return Reported::malformed;
  if (!append.tentative && (append.part || !append.conditions.empty() || !append.builds_on.empty()))
    return Reported::malformed;
  if (!append.part) return std::nullopt;

  std::uint64_t here = 0;
  bool elsewhere = false;
  for (const auto& [on, events] : append.part->runs) {
    if (on.value >= shards_.size() || events == 0) return Reported::malformed;
    if (on == shard) here += events;
    elsewhere |= on != shard;
  }
  if (here != append.events || !elsewhere) return Reported::malformed;
  const auto known = several_.find(append.part->append);
  if (known == several_.end()) return std::nullopt;
  Several& several = *known->second;
  if (several.runs != append.part->runs) return Reported::malformed;
  // Refused by a cut this coordinator does not know of, and tried again.
  if (several.part(shard).reported) return Reported::replaced;
  if (!several.conditions.empty() && !append.conditions.empty() &&
      several.conditions.size() != append.conditions.size()) {
    return Reported::malformed;
  }
  return std::nullopt;
}

Reports::Several* Reports::join(const ReportedAppend& append, ShardId shard, ShardOffset first) {
  std::unique_ptr<Several>& entry = several_[append.part->append];
  if (!entry) {
    entry = std::make_unique<Several>();
    entry->id = append.part->append;
    entry->runs = append.part->runs;
    for (const auto& [on, events] : entry->runs) {
      auto at = std::lower_bound(entry->parts.begin(), entry->parts.end(), on,
                                 [](const Several::Part& part, ShardId s) { return part.shard < s; });
      if (at == entry->parts.end() || at->shard != on) at = entry->parts.insert(at, Several::Part{on});
      at->events += events;
    }
  }
  Several::Part& part = entry->part(shard);
  part.reported = true;
  part.first = first;
  ++entry->reported;
  entry->cuts_held = 0;
  // Each `from` says that no match stands before it, whoever found out: the largest holds for all (rule 6).
  if (entry->conditions.empty()) {
    entry->conditions = append.conditions;
  } else {
    for (std::size_t i = 0; i != append.conditions.size(); ++i) {
      entry->conditions[i].from = std::max(entry->conditions[i].from, append.conditions[i].from);
    }
  }
  return entry.get();
}

void Reports::leave(Several& several, ShardId shard) {
  Several::Part& part = several.part(shard);
  part = Several::Part{shard, part.events};
  if (--several.reported == 0) several_.erase(several.id);
}

void Reports::forget(ShardId id, ShardOffset next) {
  Shard& shard = shards_[id.value];
  for (const Waiting& waiting : shard.waiting) {
    if (waiting.several != nullptr) leave(*waiting.several, id);
  }
  shard.waiting.clear();
  shard.refused.clear();
  shard.forgotten = ShardOffset{0};
  shard.end = next;
  std::erase(active_, id);
}

}  // namespace evershard::sharding
