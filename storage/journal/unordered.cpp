#include "evershard/storage/journal/unordered.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::storage {

void Unordered::add(const TailEvent& event) {
  if (bytes_ == nullptr) bytes_ = std::make_shared<Bytes>();
  Entry entry;
  entry.location = event.location;
  entry.id = event.id;
  entry.command = event.command;
  entry.request = event.request;
  entry.seq_nr = event.seq_nr;
  entry.stream = event.stream;
  entry.terms_begin = static_cast<std::uint32_t>(bytes_->terms.size());
  bytes_->terms.insert(bytes_->terms.end(), event.terms.begin(), event.terms.end());
  entry.terms_end = static_cast<std::uint32_t>(bytes_->terms.size());
  entry.text_begin = static_cast<std::uint32_t>(bytes_->texts.size());
  bytes_->texts.append(event.aggregate_text);
  entry.text_end = static_cast<std::uint32_t>(bytes_->texts.size());
  entry.bytes = bytes_;
  auto& entries = shards_.at(event.location.shard.value).entries;
  EVERSHARD_CHECK(entries.empty() || entries.back().location.offset() < event.location.offset(), "offsets ascend");
  entries.push_back(std::move(entry));
  ++events_;
}

void Unordered::take(const sharding::Segment& segment, std::vector<Placed>& placed) {
  auto& shard = shards_.at(segment.shard.value);
  for (auto offset = segment.first; offset < segment.end; ++offset) {
    EVERSHARD_CHECK(!shard.entries.empty() && shard.entries.front().location.offset() == offset,
                    "a cut covers what is durable, and goes on where the last one ended");
    Entry entry = std::move(shard.entries.front());
    shard.entries.pop_front();
    --events_;
    if (std::ranges::binary_search(segment.refused, offset)) continue;
    TailEvent event;
    event.location = entry.location;
    event.id = entry.id;
    event.command = entry.command;
    event.request = entry.request;
    event.seq_nr = entry.seq_nr;
    event.stream = entry.stream;
    event.terms = std::span(entry.bytes->terms).subspan(entry.terms_begin, entry.terms_end - entry.terms_begin);
    event.aggregate_text =
        std::string_view(entry.bytes->texts).substr(entry.text_begin, entry.text_end - entry.text_begin);
    placed.push_back({event, std::move(entry.bytes)});
  }
}

std::vector<Unordered::Waiting> Unordered::take_waiting(ShardId id, ShardOffset end) {
  auto& shard = shards_.at(id.value);
  std::vector<Waiting> taken;
  for (; !shard.waiting.empty() && shard.waiting.front().first < end; shard.waiting.pop_front())
    taken.push_back(std::move(shard.waiting.front()));
  return taken;
}

Unordered::GivenUp Unordered::give_up(ShardId id, ShardOffset from) {
  auto& shard = shards_.at(id.value);
  GivenUp given_up;
  const auto entries =
      std::ranges::lower_bound(shard.entries, from, {}, [](const Entry& e) { return e.location.offset(); });
  for (auto entry = entries; entry != shard.entries.end(); ++entry) {
    if (given_up.records.empty() || given_up.records.back() != entry->location.record)
      given_up.records.push_back(entry->location.record);
  }
  const auto waiting = std::ranges::lower_bound(shard.waiting, from, {}, &Waiting::first);
  for (auto row = waiting; row != shard.waiting.end(); ++row) given_up.waiting.push_back(row->first);
  events_ -= static_cast<std::size_t>(shard.entries.end() - entries);
  shard.entries.erase(entries, shard.entries.end());
  shard.waiting.erase(waiting, shard.waiting.end());
  return given_up;
}

}  // namespace evershard::storage
