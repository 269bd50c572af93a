#include "evershard/doors/kurrent/virtual_streams.hpp"

#include <algorithm>

#include "evershard/doors/kurrent/event_form.hpp"
#include "evershard/doors/kurrent/stream_metadata.hpp"
#include "evershard/doors/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::size_t tables_most = 10'000;  ///< then one is forgotten, and made again when it is asked for

}  // namespace

void MatchTable::add(GlobalPosition match) {
  if (match <= scanned_) return;
  if (count_ % marked_every == 0) marks_.push_back(match);
  ++count_;
  scanned_ = match;
}

void MatchTable::looked_at(GlobalPosition position) { scanned_ = std::max(scanned_, position); }

MatchTable::Mark MatchTable::before(std::uint64_t revision) const {
  const auto wanted = std::min(revision, count_);
  const auto mark = std::min<std::uint64_t>(wanted / marked_every, marks_.empty() ? 0 : marks_.size() - 1);
  if (marks_.empty()) return {};
  return {mark * marked_every, marks_[mark] - 1};
}

std::optional<Derived> Derived::from(std::string_view stream) {
  for (const auto& [mark, of] : {std::pair{category_mark, Of::category}, std::pair{event_type_mark, Of::event_type}}) {
    if (stream.size() > mark.size() && stream.starts_with(mark))
      return Derived{of, std::string(stream.substr(mark.size()))};
  }
  return std::nullopt;
}

Query Derived::query() const { return of == Of::event_type ? Query().types({value}) : Query::all(); }

bool Derived::takes(const RecordedEvent& event) const {
  if (of == Of::event_type) return event.type == value;
  return event.aggregate && event.aggregate->type == value && event.type != link_type &&
         event.type != stream_deleted_type;
}

std::shared_ptr<VirtualStreams::Table> VirtualStreams::table_of(const std::string& stream) {
  const std::lock_guard lock(mutex_);
  auto& table = tables_[stream];
  if (!table) table = std::make_shared<Table>();
  const auto kept = table;
  if (tables_.size() > tables_most)
    tables_.erase(tables_.begin()->first == stream ? std::prev(tables_.end()) : tables_.begin());
  return kept;
}

}  // namespace evershard::kurrent
