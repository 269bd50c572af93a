#include "evershard/storage/index/tail_index.hpp"

#include <algorithm>
#include <cstring>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::storage {
namespace {

// Ids may be sequential or chosen: both halves decide every bit (the end of MurmurHash3).
std::uint64_t key_of(const EventId& id) {
  std::uint64_t a, b;
  std::memcpy(&a, id.bytes.data(), 8);
  std::memcpy(&b, id.bytes.data() + 8, 8);
  std::uint64_t h = a ^ (b * 0x9E3779B97F4A7C15u);
  h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCDu;
  h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53u;
  return h ^ (h >> 33);
}

}  // namespace

TailIndex::TailIndex(GlobalPosition first, std::size_t events_hint)
    : first_(first),
      term_table_(events_hint / 2),
      stream_table_(events_hint / 4),
      id_table_(events_hint),
      key_table_(0) {}

std::size_t TailIndex::bytes() const {
  return sizeof(*this) + arena_.bytes() + places_.bytes() + ids_.bytes() + terms_.bytes() + streams_.bytes() +
         keys_.bytes() + term_table_.bytes() + stream_table_.bytes() + id_table_.bytes() + key_table_.bytes();
}

std::uint32_t TailIndex::find_term_number(sharding::Term term) const {
  return term_table_.find(term, [&](std::uint32_t n) { return terms_[n].term == term; });
}

std::uint32_t TailIndex::find_stream_number(sharding::Term term, std::string_view aggregate_text) const {
  return stream_table_.find(
      term, [&](std::uint32_t n) { return streams_[n].term == term && streams_[n].aggregate_text == aggregate_text; });
}

const PositionList* TailIndex::find_term(sharding::Term term) const {
  const std::uint32_t n = find_term_number(term);
  return n == TailTable::none ? nullptr : &terms_[n].events;
}

const TailIndex::StreamEntries* TailIndex::find_stream(sharding::Term term, std::string_view aggregate_text) const {
  const std::uint32_t n = find_stream_number(term, aggregate_text);
  return n == TailTable::none ? nullptr : &streams_[n];
}

std::optional<std::uint32_t> TailIndex::find_id(const EventId& id, ShardId shard) const {
  const std::uint32_t n = id_table_.find(
      key_of(id), [&](std::uint32_t event) { return ids_[event] == id && places_[event].shard == shard; });
  if (n == TailTable::none) return std::nullopt;
  return n;
}

std::optional<std::uint32_t> TailIndex::find_named(const EventId& id, ShardId near) const {
  const std::uint32_t n = id_table_.find(key_of(id), [&](std::uint32_t event) { return ids_[event] == id; });
  if (n == TailTable::none) return find_key(id, IdKind::request);
  if (places_[n].shard == near) return n;
  const auto there = find_id(id, near);
  return there ? there : n;
}

std::optional<std::uint32_t> TailIndex::find_key(const EventId& key, IdKind kind) const {
  const std::uint32_t n =
      key_table_.find(key_of(key), [&](std::uint32_t i) { return keys_[i].key == key && keys_[i].kind == kind; });
  if (n == TailTable::none) return std::nullopt;
  return keys_[n].event;
}

std::optional<std::uint32_t> TailIndex::find_command(const EventId& key) const {
  return find_key(key, IdKind::command);
}

std::uint32_t TailIndex::add_stream(const TailEvent& event) {
  auto* text = static_cast<char*>(arena_.allocate(event.aggregate_text.size()));
  std::memcpy(text, event.aggregate_text.data(), event.aggregate_text.size());
  const std::uint32_t n = streams_.size();
  streams_.add(event.stream, std::string_view(text, event.aggregate_text.size()), event.seq_nr);
  stream_table_.insert(event.stream, n);
  return n;
}

void TailIndex::add_key(const EventId& key, std::uint32_t event, IdKind kind) {
  if (!key.given()) return;
  const std::uint32_t n = keys_.size();
  keys_.add(key, event, kind);
  key_table_.insert(key_of(key), n);
}

// In rounds, so that memory is waited for once a round by a whole group: slots, entries, ends of lists.
void TailIndex::add(std::span<const TailEvent> events) {
  constexpr std::size_t group_max = 16;
  while (!events.empty()) {
    const auto group = events.first(std::min(events.size(), group_max));
    events = events.subspan(group.size());
    for (const TailEvent& event : group) prefetch_slots(event);
    for (const TailEvent& event : group) prefetch_entries(event);
    for (const TailEvent& event : group) prefetch_ends(event);
    for (const TailEvent& event : group) insert(event);
  }
}

void TailIndex::skip(std::uint64_t positions) {
  for (; positions != 0; --positions) {
    ids_.add(EventId{});
    places_.add(Place{ShardOffset{0}, 0, 0, ShardId{0}, 0});
  }
}

void TailIndex::prefetch_slots(const TailEvent& event) const {
  for (const sharding::Term term : event.terms) term_table_.prefetch(term);
  if (event.stream != 0) stream_table_.prefetch(event.stream);
  id_table_.prefetch(key_of(event.id));
}

void TailIndex::prefetch_entries(const TailEvent& event) const {
  for (const sharding::Term term : event.terms) {
    if (const std::uint32_t n = term_table_.candidate(term); n != TailTable::none) terms_.prefetch(n);
  }
  if (event.stream == 0) return;
  if (const std::uint32_t n = stream_table_.candidate(event.stream); n != TailTable::none) streams_.prefetch(n);
}

void TailIndex::prefetch_ends(const TailEvent& event) const {
  for (const sharding::Term term : event.terms) {
    if (const std::uint32_t n = term_table_.candidate(term); n != TailTable::none) terms_[n].events.prefetch();
  }
  if (event.stream == 0) return;
  if (const std::uint32_t n = stream_table_.candidate(event.stream); n != TailTable::none) {
    streams_[n].events.prefetch();
    __builtin_prefetch(streams_[n].aggregate_text.data());
  }
}

void TailIndex::insert(const TailEvent& event) {
  EVERSHARD_CHECK(event.position == next(), "a tail's positions are dense");
  EVERSHARD_CHECK(!event.terms.empty() && event.terms.size() <= 1 + tags_max + also_max, "type, tags and also");
  const std::uint32_t number = places_.size();
  for (const sharding::Term term : event.terms) {
    std::uint32_t n = find_term_number(term);
    if (n == TailTable::none) {
      n = terms_.size();
      terms_.add(term);
      term_table_.insert(term, n);
    }
    terms_[n].events.append(number, arena_);
  }

  std::uint32_t stream = 0;
  if (event.stream != 0) {
    stream = find_stream_number(event.stream, event.aggregate_text);
    if (stream == TailTable::none) stream = add_stream(event);
    StreamEntries& entries = streams_[stream];
    EVERSHARD_CHECK(event.seq_nr == entries.first_seq_nr + entries.events.size(), "a stream's seq_nrs are dense");
    entries.events.append(number, arena_);
    ++stream;
  }

  ids_.add(event.id);
  add_key(event.command, number, IdKind::command);
  add_key(event.request, number, IdKind::request);
  places_.add(event.location.record, event.terms.front(), stream, event.location.shard, event.location.index);
  if (event.id.given()) id_table_.insert(key_of(event.id), number);
}

}  // namespace evershard::storage
