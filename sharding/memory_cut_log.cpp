#include "evershard/sharding/memory_cut_log.hpp"

namespace evershard::sharding {
namespace {

Refused failed_cut_log() { return refuse(ErrorCode::io, "the cut log has failed"); }

}  // namespace

Result<CutLogState> MemoryCutLog::lead() {
  if (failed_) return failed_cut_log();
  disk_.rules.leads({disk_.rules.next_epoch(), EventId::random()});
  return state();
}

Result<void> MemoryCutLog::put(const Cut& cut) {
  if (failed_) return failed_cut_log();
  EVERSHARD_TRY(disk_.rules.check_put(cut));
  disk_.rules.taken(cut);
  disk_.rows.emplace(cut.number, cut);
  return {};
}

Result<CutsFound> MemoryCutLog::cuts_after(CutNumber after, std::size_t bytes_max) const {
  CutsFound found;
  std::size_t bytes = 0;
  for (auto row = disk_.rows.upper_bound(after); row != disk_.rows.end(); ++row) {
    const std::size_t size = encode(row->second).size();
    if (!found.cuts.empty() && bytes + size > bytes_max) {
      found.more = true;
      break;
    }
    bytes += size;
    found.cuts.push_back(row->second);
  }
  const CutLogState& checkpoint = disk_.rules.checkpoint();
  if (after < checkpoint.last_cut) found.folded = checkpoint;
  return found;
}

Result<void> MemoryCutLog::fold(Epoch epoch, std::span<const HeldBy> held) {
  if (failed_) return failed_cut_log();
  const auto folding = disk_.rules.fold(epoch, held);
  if (!folding) return refuse(folding.error());
  for (const CutNumber number : folding->given_up) disk_.rows.erase(number);
  disk_.rules.folded(*folding);
  return {};
}

void MemoryCutLog::crash() {
  if (synced_) disk_ = *synced_;
}

}  // namespace evershard::sharding
