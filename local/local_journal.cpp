#include "evershard/local/local_journal.hpp"

#include <algorithm>
#include <utility>

namespace evershard::cluster {

Result<Gate::Pass> LocalJournal::enter() const {
  auto pass = parts_.gate.enter();
  if (!pass) return refuse(ErrorCode::unavailable, "the store is closed");
  return pass;
}

void LocalJournal::append(Append append, AppendChain chain, std::uint64_t, std::function<void(Result<Appended>)> done) {
  const auto use = enter();
  if (!use) return done(refuse(use.error()));
  parts_.committer.append_async(std::move(append), chain, std::move(done));
}

Result<std::optional<RecordedSnapshot>> LocalJournal::snapshot(const AggregateId& aggregate,
                                                               std::optional<GlobalPosition> up_to) const {
  const auto use = enter();
  if (!use) return refuse(use.error());
  auto found = up_to ? parts_.reader.snapshot_as_of(aggregate, *up_to, Timestamp::now())
                     : parts_.reader.latest_snapshot(aggregate);
  if (!found || !*found) return found;
  // Snapshot rows are shown by the write itself, events by the watermark a moment later.
  auto shown = parts_.committer.watch().wait_for((*found)->position, parts_.at_least_timeout);
  if (!shown) return refuse(std::move(shown).error());
  return found;
}

template <class Asked, class Options>
Result<Page> LocalJournal::page(const Asked& asked, Options options) const {
  const auto use = enter();
  if (!use) return refuse(use.error());
  const auto view = parts_.store.view();
  options.up_to = std::min(options.up_to.value_or(view.watermark), view.watermark);
  auto cursor = parts_.reader.open(view, asked, options);
  Page page{{}, view.watermark, false};
  const auto read = cursor->next(parts_.limits.page_events_max, parts_.limits.page_bytes_max, page.events);
  if (!read && page.events.empty()) return refuse(read.error());
  page.complete = read && (page.events.empty() || cursor->at_end());
  return page;
}

Result<Page> LocalJournal::stream(const AggregateId& aggregate, const StreamOptions& options) const {
  return page(aggregate, options);
}

std::vector<Result<Page>> LocalJournal::streams(std::span<const StreamRead> reads) const {
  const auto use = enter();
  if (!use) return std::vector<Result<Page>>(reads.size(), Result<Page>(refuse(use.error())));
  const auto view = parts_.store.view();
  std::vector<storage::StreamToRead> streams;
  for (const auto& read : reads) streams.push_back({read.aggregate, read.options});
  std::vector<Result<Page>> pages;
  for (auto& page : parts_.reader.pages(view, streams)) {
    if (page)
      pages.push_back(Page{std::move(page->events), view.watermark, page->complete});
    else
      pages.push_back(refuse(std::move(page).error()));
  }
  return pages;
}

Result<Page> LocalJournal::query(const Query& query, const ReadOptions& options) const {
  EVERSHARD_TRY(query.check());
  if (options.at_least) {
    auto reached = parts_.committer.watch().wait_for(*options.at_least, parts_.at_least_timeout);
    if (!reached) return refuse(std::move(reached).error());
  }
  return page(query, options);
}

// The record lies with the command's first event; its last one is the append's last.
Result<std::optional<actors::RecordedCommand>> LocalJournal::command(const AggregateId& aggregate,
                                                                     std::string_view command_id) const {
  const auto use = enter();
  if (!use) return refuse(use.error());
  const auto view = parts_.store.view();
  auto found = parts_.reader.find_command(view, aggregate, command_id);
  if (!found) return refuse(std::move(found).error());
  if (!*found) return std::nullopt;
  auto event = parts_.reader.event_at(view, (*found)->position);
  if (event && *event && (*event)->append_index + 1 < (*event)->append_events) {
    event = parts_.reader.event_at(view, (*found)->position + ((*event)->append_events - (*event)->append_index - 1));
  }
  if (!event) return refuse(std::move(event).error());
  if (!*event) return refuse(ErrorCode::corruption, "the append of a command record ends before its last event");
  return actors::RecordedCommand{std::move((*found)->reply), (*event)->seq_nr, (*event)->position};
}

Result<void> LocalJournal::put_snapshot(Snapshot snapshot, std::uint64_t) {
  const auto use = enter();
  if (!use) return refuse(use.error());
  return parts_.committer.put_snapshot(std::move(snapshot));
}

}  // namespace evershard::cluster
