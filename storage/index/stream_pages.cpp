#include "evershard/storage/index/stream_pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/index/event_cursor.hpp"
#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/index/stream_walk.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t events_of_each_max = 256;
constexpr std::size_t bytes_max = 16u << 20;  // of all pages together
constexpr std::size_t batch_first = 16;
constexpr std::size_t batch_max = 1'024;
constexpr std::size_t batch_bytes = 4u << 20;  // of the records that a batch has in memory

/// What the index says of one stream, and what was read of it.
struct StreamRead {
  std::string text;
  std::size_t count = 0;  ///< that the index has given
  std::vector<RecordedEvent> events{};
  std::vector<bool> read{};      ///< of each: whether it was
  std::optional<Error> error{};  ///< behind the first `count`
  bool complete = false;
};
struct Slot {
  std::size_t stream;
  std::size_t at;
};

void look_up(const Rows& rows, const View& view, const sharding::TermHasher& hasher, const StreamToRead& asked,
             StreamRead& stream, std::vector<FoundEvent>& found) {
  stream.text = asked.aggregate.text();
  const auto up_to = std::min(asked.options.up_to.value_or(view.watermark), view.watermark);
  StreamWalk walk(rows, view, hasher.aggregate(stream.text), stream.text, up_to);
  auto next = std::max(asked.options.from.value_or(SeqNr{1}), SeqNr{1});
  std::vector<NumberedEntry> block;
  while (stream.count < events_of_each_max) {
    if (auto filled = walk.fill(next, Direction::forwards, block); !filled) {
      stream.error = std::move(filled).error();
      return;
    }
    stream.complete = block.empty();
    if (stream.complete) return;
    for (const auto& entry : block) {
      if (stream.count == events_of_each_max) return;
      found.push_back({entry.position, entry.location});
      ++stream.count;
    }
    next = block.back().seq_nr + 1;
  }
}

/// The record says whose event it is: what was found by a hash may be another's.
Result<RecordedEvent> read(const RecordFetch& fetch, std::size_t i, const FoundEvent& found, const StreamToRead& asked,
                           const StreamRead& stream, RecordedView& event) {
  auto view = fetch.event(i);
  if (!view) return refuse(std::move(view).error());
  to_view(*view, found.position, found.location, event);
  if (event.is_of(asked.aggregate)) return event.event();
  return damaged(event.shard, event.offset,
                 "the index has it under " + in_quotes(stream.text) + ", the record is another's");
}

Result<StreamPage> page_of(StreamRead& stream) {
  StreamPage page;
  const auto end =
      std::find(stream.read.begin(), stream.read.begin() + static_cast<std::ptrdiff_t>(stream.count), false);
  stream.events.resize(static_cast<std::size_t>(end - stream.read.begin()));
  page.events = std::move(stream.events);
  const bool whole = page.events.size() == stream.count;
  if (page.events.empty() && stream.error) return refuse(*std::move(stream.error));
  page.complete = whole && !stream.error && stream.complete;
  return page;
}

}  // namespace

std::vector<Result<StreamPage>> stream_pages(const Rows& rows, const View& view, const sharding::TermHasher& hasher,
                                             std::span<const StreamToRead> asked) {
  std::vector<StreamRead> streams(asked.size());
  std::vector<FoundEvent> found;
  std::vector<Slot> slots;
  for (std::size_t i = 0; i != asked.size(); ++i) {
    EVERSHARD_CHECK(asked[i].options.direction == Direction::forwards && !asked[i].options.limit,
                    "many streams are read forwards, without a limit");
    look_up(rows, view, hasher, asked[i], streams[i], found);
    streams[i].events.resize(streams[i].count);
    streams[i].read.resize(streams[i].count);
    for (std::size_t at = 0; at != streams[i].count; ++at) slots.push_back({i, at});
  }

  std::vector<std::size_t> order(found.size());
  for (std::size_t i = 0; i != order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return found[i].location; });
  RecordFetch fetch(rows);
  std::vector<FoundEvent> batch;
  RecordedView event_in_place;
  std::size_t batch_size = batch_first, bytes = 0;
  for (std::size_t done = 0; done != order.size() && bytes < bytes_max; done += batch.size()) {
    batch.clear();
    for (std::size_t i = done; i != order.size() && batch.size() != batch_size; ++i) batch.push_back(found[order[i]]);
    const auto fetched = fetch.fetch(batch);
    for (std::size_t i = 0; i != batch.size() && bytes < bytes_max; ++i) {
      const auto [number, at] = slots[order[done + i]];
      auto& stream = streams[number];
      auto event = fetched ? read(fetch, i, batch[i], asked[number], stream, event_in_place)
                           : Result<RecordedEvent>(refuse(Error(fetched.error())));
      if (event) {
        bytes += bytes_of(event_in_place);
        stream.events[at] = *std::move(event);
        stream.read[at] = true;
      } else if (at < stream.count) {
        stream.count = at;
        stream.error = std::move(event).error();
      }
    }
    const auto each = std::max<std::size_t>(fetch.bytes() / batch.size(), 1);
    batch_size = std::clamp<std::size_t>(batch_bytes / each, 1, std::min(batch_size * 4, batch_max));
  }

  std::vector<Result<StreamPage>> pages;
  pages.reserve(asked.size());
  for (auto& stream : streams) pages.push_back(page_of(stream));
  return pages;
}

}  // namespace evershard::storage
