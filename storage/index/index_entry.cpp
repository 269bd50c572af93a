#include "evershard/storage/index/index_entry.hpp"

#include <algorithm>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/sort_once_each.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

std::string hex_of(std::uint64_t number) {
  std::string bytes;
  for (unsigned shift = 64; shift != 0; shift -= 8) bytes += static_cast<char>(number >> (shift - 8));
  return hex(bytes);
}

std::uint64_t half(const EventId& id, std::size_t from) {
  std::uint64_t number = 0;
  for (std::size_t i = from; i < from + 8; ++i) number = number << 8 | id.bytes[i];
  return number;
}

IndexEntry id_entry(const EventId& id, IdKind kind, GlobalPosition position, const EventLocation& location) {
  return {Family::ids, position, location, half(id, 0), half(id, 8), static_cast<std::uint32_t>(kind)};
}

IndexEntry run_entry(ShardId shard, ShardOffset offset, GlobalPosition position) {
  return {Family::runs, position, {shard, offset, 0}, 0, 0, 0};
}

IndexEntry directory_entry(std::string_view type, std::string_view value, sharding::Term term, ShardId shard,
                           GlobalPosition position) {
  std::string text(type);
  text.append(1, '-').append(value);
  return {Family::directory, position, {shard, ShardOffset{0}, 0}, term, hash_of_text(text), 0};
}

Refused unlike(std::string_view what) {
  return refuse(ErrorCode::corruption, "its key does not fit its " + std::string(what));
}

}  // namespace

std::uint64_t hash_of_text(std::string_view text) { return checksum(text); }

FamilySet FamilySet::indexes() {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < family_count; ++i)
    if (is_index(static_cast<Family>(i))) bits |= 1u << i;
  return FamilySet(bits);
}

std::uint64_t IndexEntry::hash() const {
  auto at = family == Family::directory ? GlobalPosition{0} : position;  // a directory's row does not know
  std::array<std::uint64_t, 6> parts{static_cast<std::uint64_t>(family) | std::uint64_t{location.shard.value} << 16 |
                                         std::uint64_t{location.index} << 32,
                                     at.value,
                                     location.record.value,
                                     key,
                                     more,
                                     number};
  return checksum({reinterpret_cast<const char*>(parts.data()), sizeof parts});
}

std::string IndexEntry::described() const {
  auto place = " at position " + std::to_string(position.value) + " (shard " + std::to_string(location.shard.value) +
               ", offset " + std::to_string(location.offset().value) + ")";
  switch (family) {
    case Family::postings:
      return "the posting of term " + hex_of(key) + place;
    case Family::streams:
      return "seq_nr " + std::to_string(number) + " of stream " + hex_of(key) + place;
    case Family::ids:
      return (number == 1 ? "the command key " : "the event id ") + hex_of(key) + hex_of(more) + place;
    default:
      return "the entry" + place;
  }
}

void EventEntries::give(const EventView& event, GlobalPosition position, const EventLocation& location,
                        FamilySet families, const EntrySink& sink) {
  bool has_aggregate = !event.aggregate_type.empty();
  text_.assign(event.aggregate_type);
  if (has_aggregate) text_.append(1, '-').append(event.aggregate_value);
  // The tags of what was removed are gone; its postings go with the next rebuild.
  if (families.has(Family::postings) && event.state != EventState::removed) {
    auto type = hasher_.type(event.type);
    terms_.assign(1, type);
    for_each_tag(event, [&](std::string_view tag) { terms_.push_back(hasher_.tag(tag)); });
    std::string also;
    for_each_also(event, [&](std::string_view kind, std::string_view value) {
      also.assign(kind).append(1, '-').append(value);
      terms_.push_back(hasher_.aggregate(also));
    });
    sort_once_each(terms_);
    for (auto term : terms_) sink({Family::postings, position, location, term, type, 0});
  }
  if (families.has(Family::ids)) {
    if (event.id.given()) sink(id_entry(event.id, IdKind::event, position, location));
    if (event.command_id)
      sink(id_entry(
          command_key({std::string(event.aggregate_type), std::string(event.aggregate_value)}, *event.command_id),
          IdKind::command, position, location));
  }
  if (families.has(Family::runs)) sink(run_entry(location.shard, location.offset(), position));
  if (!has_aggregate) return;
  auto term = hasher_.aggregate(text_);
  if (families.has(Family::streams))
    sink({Family::streams, position, location, term, hash_of_text(text_), event.seq_nr.value});
  if (families.has(Family::directory) && event.seq_nr == SeqNr{1})
    sink(directory_entry(event.aggregate_type, event.aggregate_value, term, location.shard, position));
}

Result<void> RowEntries::give(Family family, std::string_view key, std::string_view value, GlobalPosition up_to,
                              const EntrySink& sink, StreamRow* stream) {
  const auto take = [&](const IndexEntry& entry) {
    if (entry.position <= up_to) sink(entry);
  };
  switch (family) {
    case Family::postings: {
      auto decoded = keys::decode_posting(key);
      if (!decoded) return refuse(std::move(decoded).error());
      postings_.clear();
      EVERSHARD_TRY(decode_postings(value, postings_));
      if (postings_.empty() || postings_.front().position != decoded->first) return unlike("first position");
      for (const auto& posting : postings_)
        take({family, posting.position, posting.location, decoded->term, posting.type, 0});
      return {};
    }
    case Family::streams: {
      auto decoded = keys::decode_stream(key);
      if (!decoded) return refuse(std::move(decoded).error());
      EVERSHARD_TRY(decode_stream(value, chunk_));
      if (chunk_.entries.empty() || chunk_.entries.front().position != decoded->first) return unlike("first position");
      auto text = hash_of_text(chunk_.aggregate_text);
      auto seq_nr = decoded->first_seq_nr.value;
      for (const auto& entry : chunk_.entries)
        take({family, entry.position, entry.location, decoded->stream, text, seq_nr++});
      if (stream)
        *stream = {decoded->stream,       chunk_.aggregate_text, decoded->first_seq_nr,
                   chunk_.entries.size(), decoded->first,        chunk_.entries.back().position};
      return {};
    }
    case Family::ids: {
      auto decoded = keys::decode_id(key);
      if (!decoded) return refuse(std::move(decoded).error());
      auto entry = decode_id_entry(value);
      if (!entry) return refuse(std::move(entry).error());
      if (entry->location.shard != decoded->shard) return unlike("shard");
      // Stores of before ids were unique have none of requests: nothing can be said of one that is missing.
      if (entry->kind != IdKind::request) take(id_entry(decoded->id, entry->kind, entry->position, entry->location));
      return {};
    }
    case Family::directory: {
      auto decoded = keys::decode_directory(key);
      if (!decoded) return refuse(std::move(decoded).error());
      auto entry = decode_directory_entry(value);
      if (!entry) return refuse(std::move(entry).error());
      take(directory_entry(decoded->aggregate.type, decoded->aggregate.value, entry->stream, entry->shard,
                           GlobalPosition{0}));
      return {};
    }
    case Family::runs: {
      auto decoded = keys::decode_run(key);
      if (!decoded) return refuse(std::move(decoded).error());
      runs_.clear();
      EVERSHARD_TRY(decode_runs(decoded->shard, value, runs_));
      if (runs_.empty() || runs_.front().position != decoded->first) return unlike("first position");
      for (const auto& run : runs_)
        for (std::uint64_t i = 0; i < run.count && run.position + i <= up_to; ++i)
          sink(run_entry(run.shard, run.offset + i, run.position + i));
      return {};
    }
    case Family::journal:
    case Family::order:
    case Family::state:
      break;
  }
  return {};
}

void give_entries(const TailIndex& tail, GlobalPosition up_to, Family family, const EntrySink& sink) {
  if (up_to < tail.first()) return;
  auto events = static_cast<std::uint32_t>(std::min<std::uint64_t>(tail.events(), up_to - tail.first() + 1));
  auto position = [&](std::uint32_t event) { return tail.first() + event; };
  auto location = [&](std::uint32_t event) { return tail.place(event).location(); };
  auto each = [&](const PositionList& list, auto give) {
    constexpr std::uint32_t step = 128;
    std::array<std::uint32_t, step> numbers;
    for (std::uint32_t from = 0, end = list.lower_bound(events, list.size()); from < end; from += step) {
      auto n = std::min(step, end - from);
      list.read(from, n, numbers.data());
      for (std::uint32_t i = 0; i < n; ++i) give(from + i, numbers[i]);
    }
  };
  switch (family) {
    case Family::postings:
      for (std::uint32_t i = 0, n = tail.terms().size(); i < n; ++i)
        each(tail.terms()[i].events, [&](std::uint32_t, std::uint32_t event) {
          sink({family, position(event), location(event), tail.terms()[i].term, tail.place(event).type, 0});
        });
      return;
    case Family::streams:
      for (std::uint32_t i = 0, n = tail.streams().size(); i < n; ++i) {
        const auto& stream = tail.streams()[i];
        auto text = hash_of_text(stream.aggregate_text);
        each(stream.events, [&](std::uint32_t nth, std::uint32_t event) {
          sink({family, position(event), location(event), stream.term, text, stream.first_seq_nr.value + nth});
        });
      }
      return;
    case Family::ids:
      for (std::uint32_t event = 0; event < events; ++event)
        if (tail.id(event).given()) sink(id_entry(tail.id(event), IdKind::event, position(event), location(event)));
      for (std::uint32_t i = 0, n = tail.keys().size(); i < n; ++i)
        if (const auto& key = tail.keys()[i]; key.event < events && key.kind != IdKind::request)
          sink(id_entry(key.key, key.kind, position(key.event), location(key.event)));
      return;
    case Family::runs:
      for (std::uint32_t event = 0; event < events; ++event)
        if (!tail.place(event).is_elsewhere())
          sink(run_entry(tail.place(event).shard, location(event).offset(), position(event)));
      return;
    case Family::directory:  // in a tail, it is its streams
    case Family::journal:
    case Family::order:
    case Family::state:
      return;
  }
}

}  // namespace evershard::storage
