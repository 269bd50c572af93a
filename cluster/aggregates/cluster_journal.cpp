#include "evershard/cluster/aggregates/cluster_journal.hpp"

#include <utility>

namespace evershard::cluster {
namespace {

/// The first page that has events, or ends it.
Result<Page> first_page(EventStream stream) {
  for (;;) {
    auto page = stream.next_page();
    if (!page || page->complete || !page->events.empty()) return page;
  }
}

}  // namespace

void ClusterJournal::append(Append append, AppendChain chain, std::uint64_t,
                            std::function<void(Result<Appended>)> done) {
  node_.committer().append_async(std::move(append), chain, std::move(done));
}

Result<std::optional<RecordedSnapshot>> ClusterJournal::snapshot(const AggregateId& aggregate,
                                                                 std::optional<GlobalPosition> up_to) const {
  if (up_to) return node_.snapshot_as_of(aggregate, *up_to);
  EVERSHARD_TRY(node_.committer().wait_settled(aggregate));
  NodeSnapshotsAsked asked{aggregate, NodeSnapshotsAsked::Which::latest, 0, watermark()};
  auto found = node_.committer().reader().snapshots(asked);
  if (!found) return refuse(std::move(found).error());
  if (found->empty()) return std::nullopt;
  return std::move(found->front());
}

Result<Page> ClusterJournal::stream(const AggregateId& aggregate, const StreamOptions& options) const {
  if (options.up_to) return first_page(node_.read(aggregate, options));
  const auto bound = watermark();
  auto read = node_.committer().reader().read_stream({aggregate, options, bound});
  if (!read) return refuse(std::move(read).error());
  Page page;
  page.watermark = bound;
  page.complete = read->end || read->events.empty();
  page.events = std::move(read->events);
  return page;
}

Result<Page> ClusterJournal::query(const Query& query, const ReadOptions& options) const {
  return first_page(node_.read(query, options));
}

Result<std::optional<actors::RecordedCommand>> ClusterJournal::command(const AggregateId& aggregate,
                                                                       std::string_view command_id) const {
  auto found = node_.committer().reader().command(aggregate, command_id, watermark());
  if (!found) return refuse(std::move(found).error());
  if (!*found) return std::nullopt;
  return actors::RecordedCommand{std::move((*found)->reply), (*found)->version, (*found)->position};
}

}  // namespace evershard::cluster
