#include "evershard/actors/core/shard_log.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {
namespace {

sharding::ReportedAppend reported(const Written& written, const sharding::TermHasher& hasher,
                                  const ShardLog::Reporting& how) {
  const auto& place = written.place;
  sharding::ReportedAppend append;
  append.events = place.events();
  append.tentative = place.tentative;
  append.conditions = place.conditions;
  append.part = place.part;
  if (how.builds) {
    append.builds_on = written.builds_on;
  } else if (!written.builds_on.empty()) {
    append.part.reset();  // its siblings are refused for want of it
    append.conditions = {{sharding::TermQuery{true, {}}, GlobalPosition{0}}};
  }
  if (!how.digests_wanted && !place.tentative) return append;
  const auto& encoded = written.attempt->prepared.append;
  append.terms.reserve(append.events);
  for (const auto& event : encoded.events) {
    if (event.shard != place.shard) continue;
    const auto terms = encoded.terms_of(event);
    append.terms.emplace_back(terms.begin(), terms.end());
    if (event.id_given) append.terms.back().push_back(hasher.id(event.id));
  }
  if (encoded.request_key.given() && encoded.events.front().shard == place.shard)
    append.terms.front().push_back(hasher.id(encoded.request_key));
  return append;
}

// Of a part's next event, in the append's order: how many events of other shards stand before it.
void place_part(Written& written) {
  std::uint32_t before = 0;
  for (const auto& [shard, events] : written.place.part->runs) {
    for (std::uint32_t i = 0; i != events; ++i, ++before) {
      if (shard == written.place.shard) written.positions.push_back(written.first_position + before);
    }
  }
}

std::uint32_t events_before(const Written& written) {
  std::uint32_t before = 0;
  for (const auto& [shard, events] : written.place.part->runs) {
    if (shard == written.place.shard) break;
    before += events;
  }
  return before;
}

}  // namespace

void ShardLog::write(const std::shared_ptr<Written>& written) {
  written->place.first = end_;
  end_ = written->place.end();
  written_.push_back(written);
}

void ShardLog::recover(const std::shared_ptr<Written>& written) {
  EVERSHARD_CHECK(written->place.first == durable_, "what was recovered of a shard joins on");
  written->durable = true;
  durable_ = written->place.end();
  end_ = std::max(end_, durable_);
  written_.push_back(written);
}

void ShardLog::synced(Written& written) {
  written.durable = true;
  durable_ = written.place.end();
}

std::optional<sharding::Report> ShardLog::report(ShardId shard, Epoch epoch, const sharding::TermHasher& hasher,
                                                 const Reporting& how) {
  if (reported_ >= durable_) return std::nullopt;
  sharding::Report report{shard, epoch, reported_, {}};
  auto at = std::lower_bound(written_.begin(), written_.end(), reported_,
                             [](const auto& written, ShardOffset first) { return written->place.first < first; });
  for (std::size_t events = 0; at != written_.end() && (*at)->durable && events < how.events_max; ++at) {
    report.appends.push_back(reported(**at, hasher, how));
    events += (*at)->place.events();
    reported_ = (*at)->place.end();
  }
  return report;
}

// Reports hold whole appends: from the one that this offset lies in.
void ShardLog::report_from(ShardOffset first) {
  reported_ = ordered_;
  for (const auto& written : written_) {
    if (written->place.first > first || !written->durable) break;
    reported_ = written->place.first;
  }
}

std::optional<std::string> ShardLog::cover(const sharding::Segment& segment, GlobalPosition& next,
                                           std::vector<std::shared_ptr<Written>>& covered) {
  if (segment.first != ordered_ || segment.end > durable_) {
    return "a cut covers offsets " + std::to_string(segment.first.value) + " to " +
           std::to_string(segment.end.value - 1) + ", what is here lies from offset " + std::to_string(ordered_.value) +
           " to " + std::to_string(durable_.value - 1);
  }
  auto refused = segment.refused.begin();
  while (ordered_ < segment.end) {
    Written& written = *written_.front();
    const auto left = static_cast<std::uint32_t>(written.place.end() - ordered_);
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, segment.end - ordered_));
    while (refused != segment.refused.end() && *refused < ordered_) ++refused;
    written.refused = refused != segment.refused.end() && *refused == ordered_;
    if (written.covered == 0) {
      const bool placed_part = written.place.part && !written.refused;
      written.first_position = written.refused ? next - 1 : placed_part ? next - events_before(written) : next;
      if (placed_part) place_part(written);
    }
    if (!written.refused) next = next + here;
    written.covered += here;
    ordered_ = ordered_ + here;
    if (ordered_ < written.place.end()) break;  // a part whose other events stand behind another shard's
    covered.push_back(std::move(written_.front()));
    written_.pop_front();
  }
  reported_ = std::max(reported_, ordered_);
  return std::nullopt;
}

std::deque<std::shared_ptr<Written>> ShardLog::drop() {
  end_ = durable_ = reported_ = ordered_;
  return std::exchange(written_, {});
}

}  // namespace evershard::actors
