#define XXH_INLINE_ALL
#include "evershard/storage/journal/encoded_append.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/event_body.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

/// Finds the aggregates of an append again, by id: never by a hash alone.
class AggregateFinder {
 public:
  AggregateFinder(std::vector<EncodedAggregate>& found, std::uint32_t shard_count, const sharding::TermHasher& hasher)
      : found_(found), shard_count_(shard_count), hasher_(hasher) {}

  /// The aggregate's place in the list, at the end of it if it is new; takes the id where it is.
  std::uint32_t add(AggregateId&& id) {
    const std::uint32_t known = find(id);
    if (known != EncodedEvent::no_aggregate) return last_ = known;
    EncodedAggregate& aggregate = found_.emplace_back();
    aggregate.text = id.text();
    aggregate.stream = hasher_.aggregate(aggregate.text);
    const std::uint64_t hash = sharding::stream_hash(aggregate.text);
    aggregate.shard = sharding::shard_of(hash, shard_count_);
    aggregate.id = std::move(id);
    last_ = static_cast<std::uint32_t>(found_.size() - 1);
    if (found_.size() > few) remember(hash);
    return last_;
  }

  [[nodiscard]] std::uint32_t find(const AggregateId& id) const {
    if (found_.empty()) return EncodedEvent::no_aggregate;
    if (found_[last_].id == id) return last_;
    if (found_.size() <= few) {
      for (std::uint32_t i = 0; i < found_.size(); ++i) {
        if (found_[i].id == id) return i;
      }
      return EncodedEvent::no_aggregate;
    }
    for (std::size_t slot = sharding::stream_hash(id);; ++slot) {
      const std::uint32_t i = slots_[slot & (slots_.size() - 1)];
      if (i == EncodedEvent::no_aggregate || found_[i].id == id) return i;
    }
  }

 private:
  static constexpr std::size_t few = 8;  // up to here, looking at all of them is faster than hashing

  void remember(std::uint64_t hash) {
    if (2 * found_.size() <= slots_.size()) return put(hash, last_);
    slots_.assign(std::bit_ceil(4 * found_.size()), EncodedEvent::no_aggregate);
    for (std::uint32_t i = 0; i < found_.size(); ++i) put(sharding::stream_hash(found_[i].text), i);
  }
  void put(std::uint64_t hash, std::uint32_t i) {
    std::size_t slot = hash;
    while (slots_[slot & (slots_.size() - 1)] != EncodedEvent::no_aggregate) ++slot;
    slots_[slot & (slots_.size() - 1)] = i;
  }

  std::vector<EncodedAggregate>& found_;
  std::uint32_t shard_count_;
  const sharding::TermHasher& hasher_;
  std::uint32_t last_ = 0;
  std::vector<std::uint32_t> slots_;  ///< in `found_`, by the hash of the text; a power of two
};

/// Each term once, but for the own aggregate's, which is last whatever stands before it.
void add_terms(const Event& event, const EncodedAggregate* own, const sharding::TermHasher& hasher,
               std::vector<sharding::Term>& terms) {
  const std::size_t begin = terms.size();
  const auto add = [&](sharding::Term term) {
    if (std::find(terms.begin() + static_cast<std::ptrdiff_t>(begin), terms.end(), term) == terms.end())
      terms.push_back(term);
  };
  terms.push_back(hasher.type(event.type));
  for (const Tag& tag : event.tags) add(hasher.tag(tag));
  for (const AggregateId& aggregate : event.also) add(hasher.aggregate(aggregate.text()));
  if (own) terms.push_back(own->stream);
}

/// The next link of the content hash: what the caller gave of one event, behind what it gave before.
std::uint64_t chained(std::uint64_t before, std::string_view content, const Event& event, bool id_given) {
  std::array<char, 8 + 8 + 1 + 16 + 8> link{};
  char* at = put_fixed(link.data(), before);
  at = put_fixed(at, checksum(content));
  at = put_fixed(at, static_cast<std::uint8_t>((id_given ? 1 : 0) | (event.occurred_at ? 2 : 0) |
                                               (event.aggregate ? 4 : 0) | (event.tags.empty() ? 0 : 8) |
                                               (event.also.empty() ? 0 : 16) | (event.metadata ? 32 : 0)));
  if (id_given) std::memcpy(at, event.id.bytes.data(), event.id.bytes.size());
  at += event.id.bytes.size();
  put_fixed(at, event.occurred_at ? event.occurred_at->micros : std::int64_t{0});
  return XXH3_64bits(link.data(), link.size());
}

class Encoder {
 public:
  Encoder(Append& append, std::span<const bool> ids_given, std::uint32_t shard_count,
          const sharding::TermHasher& hasher, Timestamp now)
      : append_(append),
        ids_given_(ids_given),
        shard_count_(shard_count),
        hasher_(hasher),
        now_(now),
        finder_(encoded_.aggregates, shard_count, hasher) {}

  EncodedAppend encode() {
    encoded_.appended_at = now_;
    encoded_.request = append_.request_id.value_or(append_.events.front().id);
    if (append_.request_id) encoded_.request_key = request_key(*append_.request_id, append_.events.front().id);
    place_events();
    if (append_.command) place_command();
    write_bodies();
    for (Snapshot& snapshot : append_.snapshots) {
      const std::uint32_t aggregate = finder_.find(snapshot.aggregate);
      EVERSHARD_CHECK(aggregate != EncodedEvent::no_aggregate,
                      "a snapshot is of an aggregate that the append writes to");
      encoded_.snapshots.push_back({aggregate, std::move(snapshot)});
    }
    return std::move(encoded_);
  }

 private:
  void place_events() {
    std::size_t terms = 0;
    for (const Event& event : append_.events)
      terms += 1 + event.tags.size() + event.also.size() + (event.aggregate ? 1 : 0);
    encoded_.terms.reserve(terms);
    encoded_.events.resize(append_.events.size());
    const ShardId without_aggregate = sharding::shard_of(sharding::event_hash(append_.events.front().id), shard_count_);
    for (std::size_t i = 0; i < append_.events.size(); ++i) {
      Event& event = append_.events[i];
      EncodedEvent& placed = encoded_.events[i];
      EVERSHARD_CHECK(event.id.given(), "every event has an id when it is encoded");
      placed.id = event.id;
      placed.id_given = ids_given_[i];
      placed.state = event.state;
      placed.shard = without_aggregate;
      if (event.aggregate) {
        placed.aggregate = finder_.add(std::move(*event.aggregate));
        placed.shard = encoded_.aggregates[placed.aggregate].shard;
      }
      placed.terms_begin = static_cast<std::uint32_t>(encoded_.terms.size());
      add_terms(event, own_aggregate(placed), hasher_, encoded_.terms);
      placed.terms_end = static_cast<std::uint32_t>(encoded_.terms.size());
    }
  }

  void place_command() {
    const std::uint32_t aggregate = finder_.find(append_.command->aggregate);
    EVERSHARD_CHECK(aggregate != EncodedEvent::no_aggregate, "a command is of an aggregate that the append writes to");
    const auto first = std::find_if(encoded_.events.begin(), encoded_.events.end(),
                                    [&](const EncodedEvent& event) { return event.aggregate == aggregate; });
    encoded_.command = command_key(append_.command->aggregate, append_.command->id);
    encoded_.command_event = static_cast<std::uint32_t>(first - encoded_.events.begin());
  }

  void write_bodies() {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < encoded_.events.size(); ++i) {
      encoded_.events[i].body_begin = static_cast<std::uint32_t>(bytes);
      bytes += body_size(parts_of(i));
      EVERSHARD_CHECK(bytes <= std::numeric_limits<std::uint32_t>::max(), "an append is under 4 GiB");
      encoded_.events[i].body_end = static_cast<std::uint32_t>(bytes);
    }
    encoded_.bodies.resize(bytes);

    std::uint64_t content_hash = encoded_.events.size();
    for (std::size_t i = 0; i < encoded_.events.size(); ++i) {
      EncodedEvent& event = encoded_.events[i];
      const WrittenBody written = write_body(parts_of(i), encoded_.bodies.data() + event.body_begin);
      EVERSHARD_CHECK(written.end == encoded_.bodies.data() + event.body_end,
                      "a body has the size that was computed for it");
      const std::string_view content(written.content, static_cast<std::size_t>(written.end - written.content));
      content_hash = chained(content_hash, content, append_.events[i], ids_given_[i]);
      if (i > 0) event.body_hash = checksum(encoded_.body_of(event));
    }
    // The first body holds the hash of all: it is finished last.
    encoded_.content_hash = content_hash;
    put_fixed(encoded_.bodies.data() + content_hash_at, content_hash);
    encoded_.events.front().body_hash = checksum(encoded_.body_of(encoded_.events.front()));
  }

  [[nodiscard]] const EncodedAggregate* own_aggregate(const EncodedEvent& event) const {
    return event.aggregate == EncodedEvent::no_aggregate ? nullptr : &encoded_.aggregates[event.aggregate];
  }

  [[nodiscard]] BodyParts parts_of(std::size_t i) const {
    const Event& event = append_.events[i];
    BodyParts parts{.id = event.id,
                    .occurred_at = event.state == EventState::removed ? Timestamp{} : event.occurred_at.value_or(now_),
                    .index = static_cast<std::uint32_t>(i),
                    .count = static_cast<std::uint32_t>(append_.events.size())};
    if (i == 0) {
      parts.content_hash = 0;
      if (encoded_.request != event.id) parts.request = encoded_.request;
    }
    if (append_.command && encoded_.command_event == i) {
      parts.command_id = append_.command->id;
      parts.reply = append_.command->reply;
    }
    if (const EncodedAggregate* const own = own_aggregate(encoded_.events[i])) {
      parts.aggregate_type = own->id.type;
      parts.aggregate_value = own->id.value;
    }
    parts.type = event.type;
    parts.tags = event.tags;
    parts.also = event.also;
    parts.format = event.format;
    parts.metadata = event.metadata;
    parts.payload = event.payload;
    return parts;
  }

  Append& append_;
  std::span<const bool> ids_given_;
  std::uint32_t shard_count_;
  const sharding::TermHasher& hasher_;
  Timestamp now_;
  EncodedAppend encoded_;
  AggregateFinder finder_;
};

}  // namespace

EventId command_key(const AggregateId& aggregate, std::string_view command_id) {
  std::string bytes = aggregate.text();
  bytes += '\0';  // no aggregate has one: two pairs never make the same bytes
  bytes += command_id;
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes.data(), bytes.size()));
  EventId key;
  static_assert(sizeof hash.digest == sizeof key.bytes);
  std::memcpy(key.bytes.data(), hash.digest, sizeof hash.digest);
  if (!key.given()) key.bytes.back() = 1;
  return key;
}

EventId request_key(const RequestId& request, const EventId& first) {
  const auto key = EventId::derived(request, 0);
  return key == first ? EventId{} : key;
}

EncodedAppend encode_append(Append&& append, std::span<const bool> ids_given, std::uint32_t shard_count,
                            const sharding::TermHasher& hasher, Timestamp now) {
  EVERSHARD_CHECK(!append.events.empty() && ids_given.size() == append.events.size(), "an append was checked before");
  EVERSHARD_CHECK(shard_count > 0, "a store has at least one shard");
  return Encoder(append, ids_given, shard_count, hasher, now).encode();
}

}  // namespace evershard::storage
