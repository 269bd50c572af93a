#include "evershard/api/event_stream.hpp"

#include <utility>

#include "evershard/protocol/codec.hpp"
#include "evershard/protocol/shown_event.hpp"

namespace evershard {
namespace {

EncodedPage encoded(const Page& page) {
  return {codec::encode(page), page.events.size(), page.watermark, page.complete};
}

VisitedPage visited(const Page& page, const RecordedVisitor& visitor) {
  RecordedView view;
  for (const auto& event : page.events) {
    show(event, view);
    visitor(view);
  }
  return {page.events.size(), page.watermark, page.complete};
}

}  // namespace

Result<VisitedPage> PageSource::visit_page(const RecordedVisitor& visitor) {
  const auto page = next_page();
  if (!page) return refuse(page.error());
  return visited(*page, visitor);
}

Result<EncodedPage> PageSource::next_encoded_page() {
  const auto page = next_page();
  if (!page) return refuse(page.error());
  return encoded(*page);
}

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

template <class FromSource, class FromPage>
auto EventStream::page_as(const FromSource& from_source, const FromPage& from_page)
    -> decltype(from_source(std::declval<PageSource&>())) {
  if (!may_fetch()) return refuse(*error_);
  if (at_ != page_.events.size() || page_.complete || !source_) {
    const auto page = next_page();
    if (!page) return refuse(page.error());
    return from_page(*page);
  }
  auto page = from_source(*source_);
  if (!page) {
    error_ = std::move(page).error();
    return refuse(*error_);
  }
  page_ = Page{{}, page->watermark, page->complete};
  at_ = 0;
  return page;
}

Result<EncodedPage> EventStream::next_encoded_page() {
  return page_as([](PageSource& source) { return source.next_encoded_page(); }, encoded);
}

std::optional<EncodedPage> EventStream::page_at_hand(std::size_t events_max) {
  if (!source_ || !may_fetch()) return std::nullopt;
  auto page = source_->page_at_hand(events_max);
  if (page) page_ = Page{{}, page->watermark, page->complete};
  return page;
}

Result<VisitedPage> EventStream::visit_page(const RecordedVisitor& visitor) {
  return page_as([&](PageSource& source) { return source.visit_page(visitor); },
                 [&](const Page& page) { return visited(page, visitor); });
}

std::optional<VisitedPage> EventStream::visit_at_hand(std::size_t events_max, const RecordedVisitor& visitor) {
  if (!source_ || !may_fetch()) return std::nullopt;
  const auto page = source_->visit_at_hand(events_max, visitor);
  if (page) page_ = Page{{}, page->watermark, page->complete};
  return page;
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
    auto page = source_->next_page();
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
