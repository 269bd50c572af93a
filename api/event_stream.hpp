// EventStream: the answer to a read, fetched page by page as one goes.

#pragma once

#include <atomic>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "evershard/protocol/read.hpp"
#include "evershard/protocol/recorded_view.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// A page as it goes over the wire: the bytes of codec::encode(Page).
struct EncodedPage {
  std::string bytes;
  std::size_t events = 0;
  GlobalPosition watermark;
  bool complete = false;
};

/// A page whose events were shown one by one, and not built.
struct VisitedPage {
  std::size_t events = 0;
  GlobalPosition watermark;
  bool complete = false;
};

/// Where an EventStream gets its pages from. One thread, but for cancel().
class PageSource {
 public:
  virtual ~PageSource() = default;
  /// A page may be empty and not complete; after a complete one, or an error, nothing more is asked.
  [[nodiscard]] virtual Result<Page> next_page() = 0;
  /// The same for the wire; whoever has the events' bytes need not build them.
  [[nodiscard]] virtual Result<EncodedPage> next_encoded_page();
  /// The first page, or its first events, where memory has them: soon, and without waiting for anything. Absent: the
  /// caller asks for this page as for any other.
  [[nodiscard]] virtual std::optional<EncodedPage> page_at_hand(std::size_t /*events_max*/) { return std::nullopt; }
  /// next_page() for who makes something else of its events: whoever has their bytes shows them where they lie.
  [[nodiscard]] virtual Result<VisitedPage> visit_page(const RecordedVisitor& visitor);
  /// page_at_hand() in the same way. Absent: nothing was shown.
  [[nodiscard]] virtual std::optional<VisitedPage> visit_at_hand(std::size_t /*events_max*/,
                                                                 const RecordedVisitor& /*visitor*/) {
    return std::nullopt;
  }
  /// A next_page() under way answers `cancelled` as soon as it can.
  virtual void cancel() = 0;
};

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
  [[nodiscard]] Result<EncodedPage> next_encoded_page();
  /// PageSource::page_at_hand(). Shape: nothing was read yet.
  [[nodiscard]] std::optional<EncodedPage> page_at_hand(std::size_t events_max);
  /// next_page(), its events shown one by one: PageSource::visit_page().
  [[nodiscard]] Result<VisitedPage> visit_page(const RecordedVisitor& visitor);
  /// PageSource::visit_at_hand(). Shape: nothing was read yet.
  [[nodiscard]] std::optional<VisitedPage> visit_at_hand(std::size_t events_max, const RecordedVisitor& visitor);
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
  /// A page in another form: of the source, or made of what next() has left of the current one.
  template <class FromSource, class FromPage>
  [[nodiscard]] auto page_as(const FromSource& from_source, const FromPage& from_page)
      -> decltype(from_source(std::declval<PageSource&>()));
  bool fetch();      ///< the current page has another event
  bool may_fetch();  ///< nobody has cancelled it, and there was no error

  std::unique_ptr<PageSource> source_;
  std::unique_ptr<std::atomic<bool>> cancelled_;  ///< on the heap: the stream can be moved
  Page page_;
  std::size_t at_ = 0;
  std::optional<Error> error_;
};

}  // namespace evershard
