#include "evershard/api/event_stream.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/page_forms.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard {

EventStream::EventStream(std::unique_ptr<PageSource> source)
    : source_(std::move(source)), cancelled_(std::make_unique<std::atomic<bool>>(false)) {}

Result<std::optional<RecordedEvent>> EventStream::next() {
  if (!fetch()) {
    if (error_) return refuse(*error_);
    return std::nullopt;
  }
  return std::move(page_.events[at_++]);
}

Result<Page> EventStream::next_page() {
  if (!fetch()) {
    if (error_) return refuse(*error_);
    return Page{{}, page_.watermark, true};
  }
  Page page{std::exchange(page_.events, {}), page_.watermark, page_.complete};
  page.events.erase(page.events.begin(), page.events.begin() + static_cast<std::ptrdiff_t>(std::exchange(at_, 0)));
  return page;
}

Result<VisitedPage> EventStream::visit(const RecordedVisitor& visitor, PageBudget budget) {
  if (!may_fetch()) {
    if (budget.at_hand()) return VisitedPage{};
    return refuse(*error_);
  }
  if (at_ != page_.events.size()) return visit_rest(visitor, budget);
  if (page_.complete || !source_) return VisitedPage{0, page_.watermark, true};
  auto page = source_->visit(visitor, budget);
  if (!page && budget.at_hand()) return VisitedPage{};
  if (!page) {
    error_ = std::move(page).error();
    return refuse(*error_);
  }
  if (budget.at_hand() && page->says_nothing()) return page;
  page_ = Page{{}, page->watermark, page->complete};
  at_ = 0;
  return page;
}

/// Of the page that next() has taken some of.
VisitedPage EventStream::visit_rest(const RecordedVisitor& visitor, PageBudget budget) {
  const auto left = page_.events.size() - at_;
  const auto events = budget.at_hand() ? std::min(left, budget.at_hand_max) : left;
  RecordedView view;
  for (const auto end = at_ + events; at_ != end; ++at_) {
    show_to_take(page_.events[at_], view);
    visitor(view);
  }
  return VisitedPage{events, page_.watermark, page_.complete && at_ == page_.events.size()};
}

void EventStream::cancel() {
  if (!source_) return;
  cancelled_->store(true);
  source_->cancel();
}

EventStream::iterator EventStream::begin() {
  iterator first;
  if (fetch()) first.stream_ = this;
  return first;
}

EventStream::iterator& EventStream::iterator::operator++() {
  ++stream_->at_;
  if (!stream_->fetch()) stream_ = nullptr;
  return *this;
}

bool EventStream::may_fetch() {
  if (!error_ && cancelled_ && cancelled_->load()) error_ = Error(ErrorCode::cancelled, "the read was cancelled");
  return !error_;
}

bool EventStream::fetch() {
  if (!may_fetch()) return false;
  while (at_ == page_.events.size()) {
    if (page_.complete || !source_) return false;
    auto page = built_page(*source_);
    at_ = 0;
    if (!page) {
      page_.events.clear();
      error_ = std::move(page).error();
      return false;
    }
    page_ = std::move(*page);
  }
  return true;
}

}  // namespace evershard
