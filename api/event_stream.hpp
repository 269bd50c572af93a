// EventStream: the answer to a read, fetched page by page as one goes.

#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "evershard/api/page_source.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Events in the order asked for, each once, bounded memory: at most two pages. Move-only; one thread, but for
/// cancel().
///
///     auto stream = store.read(Query::all());
///     for (const auto& event : stream) ...
///     if (stream.error()) ...          // a loop that ended early
class EventStream {
 public:
  explicit EventStream(std::unique_ptr<PageSource> source);
  /// A stream that has only an error to tell.
  explicit EventStream(Error error) : error_(std::move(error)) {}

  /// The next event, nothing at the end. Errors: corruption, io, unavailable, timeout, cancelled, invalid_query;
  /// once there was one, every further call answers it
  [[nodiscard]] Result<std::optional<RecordedEvent>> next();
  /// Whole pages, for those who want few calls; the rest of the current one, where next() has taken some of it.
  [[nodiscard]] Result<Page> next_page();
  /// The events of the next page, shown one by one and not built; of one that next() has taken some of, the rest.
  /// Errors: as next(); of what is at hand there are none: a page that says nothing stands for each.
  [[nodiscard]] Result<VisitedPage> visit(const RecordedVisitor& visitor, PageBudget budget = {});
  /// Why the stream ended early, if it did.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// What the read is bounded by; known after the first page.
  [[nodiscard]] GlobalPosition watermark() const { return page_.watermark; }
  /// From any thread: the next call answers `cancelled`, and one that is waiting does soon.
  void cancel();

  class iterator {
   public:
    using value_type = RecordedEvent;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;
    const RecordedEvent& operator*() const { return stream_->page_.events[stream_->at_]; }
    const RecordedEvent* operator->() const { return &**this; }
    iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.stream_ == nullptr; }

   private:
    friend class EventStream;
    EventStream* stream_ = nullptr;
  };
  /// Goes on where next() stopped. The stream outlives its iterators.
  [[nodiscard]] iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  [[nodiscard]] VisitedPage visit_rest(const RecordedVisitor& visitor, PageBudget budget);
  bool fetch();      ///< the current page has another event
  bool may_fetch();  ///< nobody has cancelled it, and there was no error

  std::unique_ptr<PageSource> source_;
  std::unique_ptr<std::atomic<bool>> cancelled_;  ///< on the heap: the stream can be moved
  Page page_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

}  // namespace evershard
