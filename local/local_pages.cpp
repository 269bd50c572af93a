#include "evershard/local/local_pages.hpp"

#include <algorithm>
#include <utility>

#include "evershard/storage/index/at_hand.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
constexpr auto renew_after = 1s;

/// Where an event stands.
struct Place {
  GlobalPosition position;
  SeqNr seq_nr;
};

void go_on_behind(const Place& last, ReadOptions& options) {
  if (options.direction == Direction::forwards) {
    options.after = last.position;
  } else {
    options.before = last.position;
  }
}

void go_on_behind(const Place& last, StreamOptions& options) {
  if (options.direction == Direction::forwards) {
    options.from = last.seq_nr + 1;
  } else if (last.seq_nr.value > 1) {
    options.from = last.seq_nr - 1;
  } else {
    options.limit = 0;  // `from` cannot say "before the first"
  }
}

std::optional<GlobalPosition> at_least_of(const ReadOptions& options) { return options.at_least; }
std::optional<GlobalPosition> at_least_of(const StreamOptions&) { return std::nullopt; }

}  // namespace

template <class Asked, class Options>
LocalPages<Asked, Options>::LocalPages(std::shared_ptr<Node> node, Asked asked, Options options,
                                       std::size_t page_events_max)
    : node_(std::move(node)),
      asked_(std::move(asked)),
      options_(std::move(options)),
      page_events_max_(page_events_max) {}

template <class Asked, class Options>
LocalPages<Asked, Options>::~LocalPages() {
  // A cursor that was given up already is no loss.
  (void)node_->held().take(ticket_);
}

template <class Asked, class Options>
Result<VisitedPage> LocalPages<Asked, Options>::visit(const RecordedVisitor& visitor, PageBudget budget) {
  if (!budget.at_hand()) return read(page_events_max_, visitor);
  if (at_least_of(options_)) return VisitedPage{};
  const storage::AtHand at_hand;
  return read(budget.events_max(page_events_max_), visitor);
}

/// The next page's events, up to so many.
template <class Asked, class Options>
Result<VisitedPage> LocalPages<Asked, Options>::read(std::size_t events_max, const RecordedVisitor& visitor) {
  if (!watermark_) EVERSHARD_TRY(wait_at_least());
  if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
  const auto use = node_->enter();
  if (!use) return refuse(use.error());

  auto cursor = node_->held().take(std::exchange(ticket_, 0));
  const auto now = std::chrono::steady_clock::now();
  if (!cursor || now - opened_ > renew_after) {
    const auto view = node_->store().view();
    if (!watermark_) {
      watermark_ = view.watermark;
      options_.up_to = std::min(options_.up_to.value_or(view.watermark), view.watermark);
    }
    cursor = node_->reader().open(view, asked_, options_);
    opened_ = now;
  }

  VisitedPage page{0, *watermark_, false};
  Place last;
  const auto read = cursor->visit(events_max, node_->limits().page_bytes_max, [&](const RecordedView& event) {
    ++page.events;
    last = {event.position, event.seq_nr};
    visitor(event);
  });
  // What was found before the damage is whole: it is given first, and the damage met again by the next page.
  if (!read && page.events == 0) return refuse(read.error());
  if (page.events == 0) {
    page.complete = true;
    return page;
  }
  if (options_.limit) *options_.limit -= page.events;
  go_on_behind(last, options_);
  if (read) page.complete = cursor->at_end() || options_.limit == std::uint64_t{0};
  // One that takes only what memory has does so for good.
  if (read && !page.complete && storage::MemoryOnly::current() == nullptr)
    ticket_ = node_->held().leave(std::move(cursor));
  return page;
}

template <class Asked, class Options>
void LocalPages<Asked, Options>::cancel() {
  cancelled_ = true;
  node_->watch().nudge();
}

template <class Asked, class Options>
Result<void> LocalPages<Asked, Options>::wait_at_least() {
  const auto at_least = at_least_of(options_);
  if (!at_least) return {};
  auto reached = node_->watch().wait_for(*at_least, node_->at_least_timeout(), &cancelled_);
  if (!reached) return refuse(std::move(reached).error());
  return {};
}

template class LocalPages<Query, ReadOptions>;
template class LocalPages<AggregateId, StreamOptions>;

}  // namespace evershard::cluster
