// EventStream: the answer to a read, fetched page by page as one goes.

#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>

#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Where an EventStream gets its pages from. One thread, but for cancel().
class PageSource {
 public:
  virtual ~PageSource() = default;
  virtual Result<Page> next_page() = 0;
  virtual void cancel() = 0;
};

/// Events in the order asked for, each once, bounded memory: at most two pages. Move-only; one thread, but for cancel().
///
///     for (const auto& event : store.read(Query::all())) ...
///     if (stream.error()) ...          // a loop that ended early
class EventStream {
 public:
  explicit EventStream(std::unique_ptr<PageSource> source);
  /// A stream that has only an error to tell.
  explicit EventStream(Error error);

  /// The next event, nothing at the end. Errors: corruption, io, unavailable, cancelled, invalid_query
  [[nodiscard]] Result<std::optional<RecordedEvent>> next();
  /// Whole pages, for those who want few calls.
  [[nodiscard]] Result<Page> next_page();
  /// Why the stream ended early, if it did.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// What the read is bounded by; known after the first page.
  [[nodiscard]] GlobalPosition watermark() const { return watermark_; }
  /// From any thread: the next call answers `cancelled`.
  void cancel();

  class iterator {
   public:
    using value_type = RecordedEvent;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    const RecordedEvent& operator*() const;
    const RecordedEvent* operator->() const { return &**this; }
    iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& i, std::default_sentinel_t) { return i.stream_ == nullptr; }

   private:
    friend class EventStream;
    EventStream* stream_ = nullptr;
  };
  iterator begin();
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  bool fetch();  ///< the current page has another event
  std::unique_ptr<PageSource> source_;
  Page page_;
  std::size_t at_ = 0;
  bool started_ = false;
  GlobalPosition watermark_;
  std::optional<Error> error_;
};

}  // namespace evershard
