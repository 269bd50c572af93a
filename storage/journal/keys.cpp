#include "evershard/storage/journal/keys.hpp"

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/hex.hpp"

namespace evershard::storage::keys {
namespace {

/// Big-endian: numbers sort as they count.
template <class T>
void put(std::string& key, T value) {
  for (unsigned shift = 8 * sizeof(T); shift != 0; shift -= 8) key += static_cast<char>(value >> (shift - 8));
}

template <class T>
T get(std::string_view key, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value << 8 | static_cast<unsigned char>(key[at + i]));
  return value;
}

template <class... Parts>
std::string joined(Parts... parts) {
  std::string key;
  key.reserve((sizeof(Parts) + ...));
  (put(key, parts), ...);
  return key;
}

Refused corrupt_key(std::string_view family, std::string_view key, std::string_view why) {
  return refuse(ErrorCode::corruption,
                "a key of " + std::string(family) + " is damaged: " + std::string(why) + ", in " + hex(key, 128));
}

Refused wrong_size(std::string_view family, std::string_view key, std::size_t expected) {
  return corrupt_key(family, key, std::to_string(key.size()) + " bytes instead of " + std::to_string(expected));
}

/// A name ends at its NUL, since no name has one: `a` sorts before `a!`, and no name is the beginning of another.
void put_name(std::string& key, std::string_view name) {
  EVERSHARD_CHECK(name.find('\0') == std::string_view::npos, "an aggregate's id was checked: it has no NUL");
  key += name;
  key += '\0';
}

constexpr char state_kind(StateKey::Kind kind) { return static_cast<char>(kind); }

}  // namespace

std::string journal(ShardId shard, ShardOffset first) { return joined(shard.value, first.value); }

std::string order(GlobalPosition first) { return joined(first.value); }

std::string posting(Term term, GlobalPosition first) { return joined(term, first.value); }

std::string posting_prefix(Term term) { return joined(term); }

std::string stream(Term stream, SeqNr first_seq_nr, GlobalPosition first) {
  return joined(stream, first_seq_nr.value, first.value);
}

std::string stream_prefix(Term stream) { return joined(stream); }

std::string id_prefix(const EventId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

std::string id(const EventId& id, ShardId shard) {
  std::string key;
  key.reserve(id.bytes.size() + sizeof shard.value);
  key.append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
  put(key, shard.value);
  return key;
}

std::string run(ShardId shard, GlobalPosition first) { return joined(shard.value, first.value); }

std::string directory(const AggregateId& aggregate) {
  std::string key;
  key.reserve(aggregate.type.size() + 1 + aggregate.value.size());
  put_name(key, aggregate.type);
  EVERSHARD_CHECK(aggregate.value.find('\0') == std::string::npos, "an aggregate's id was checked: it has no NUL");
  key += aggregate.value;
  return key;
}

std::string directory_type_prefix(std::string_view type) {
  std::string key;
  put_name(key, type);
  return key;
}

std::string snapshot(const AggregateId& aggregate, std::optional<SeqNr> retained) {
  std::string key = snapshot_prefix(aggregate);
  put(key, retained ? retained->value : std::uint64_t{0});
  return key;
}

std::string snapshot_prefix(const AggregateId& aggregate) {
  std::string key;
  key.reserve(1 + aggregate.type.size() + 1 + aggregate.value.size() + 1 + sizeof(std::uint64_t));
  key += state_kind(StateKey::Kind::snapshot);
  put_name(key, aggregate.type);
  put_name(key, aggregate.value);
  return key;
}

std::string identity() { return std::string(1, state_kind(StateKey::Kind::identity)); }

std::string checkpoint(std::string_view name) {
  std::string key(1, state_kind(StateKey::Kind::checkpoint));
  key += name;
  return key;
}

std::string applied() { return std::string(1, state_kind(StateKey::Kind::applied)); }

std::string covered(ShardId shard) {
  std::string key(1, state_kind(StateKey::Kind::covered));
  put(key, shard.value);
  return key;
}

std::string waiting(ShardId shard, ShardOffset first) {
  std::string key(1, state_kind(StateKey::Kind::waiting));
  put(key, shard.value);
  put(key, first.value);
  return key;
}

Result<JournalKey> decode_journal(std::string_view key) {
  if (key.size() != 10) return wrong_size("journal", key, 10);
  return JournalKey{ShardId(get<std::uint16_t>(key, 0)), ShardOffset(get<std::uint64_t>(key, 2))};
}

Result<GlobalPosition> decode_order(std::string_view key) {
  if (key.size() != 8) return wrong_size("order", key, 8);
  return GlobalPosition(get<std::uint64_t>(key, 0));
}

Result<PostingKey> decode_posting(std::string_view key) {
  if (key.size() != 16) return wrong_size("postings", key, 16);
  return PostingKey{get<Term>(key, 0), GlobalPosition(get<std::uint64_t>(key, 8))};
}

Result<StreamKey> decode_stream(std::string_view key) {
  if (key.size() != 24) return wrong_size("streams", key, 24);
  return StreamKey{get<Term>(key, 0), SeqNr(get<std::uint64_t>(key, 8)), GlobalPosition(get<std::uint64_t>(key, 16))};
}

Result<IdKey> decode_id(std::string_view key) {
  IdKey decoded;
  if (key.size() != 18) return wrong_size("ids", key, 18);
  for (std::size_t i = 0; i < decoded.id.bytes.size(); ++i) decoded.id.bytes[i] = static_cast<std::uint8_t>(key[i]);
  decoded.shard = ShardId(get<std::uint16_t>(key, 16));
  return decoded;
}

Result<RunKey> decode_run(std::string_view key) {
  if (key.size() != 10) return wrong_size("runs", key, 10);
  return RunKey{ShardId(get<std::uint16_t>(key, 0)), GlobalPosition(get<std::uint64_t>(key, 2))};
}

Result<DirectoryKey> decode_directory(std::string_view key) {
  const std::size_t type_end = key.find('\0');
  if (type_end == std::string_view::npos) return corrupt_key("directory", key, "its type has no end");
  AggregateId aggregate{std::string(key.substr(0, type_end)), std::string(key.substr(type_end + 1))};
  if (const auto checked = AggregateId::check(aggregate); !checked)
    return corrupt_key("directory", key, checked.error().what);
  return DirectoryKey{std::move(aggregate)};
}

Result<StateKey> decode_state(std::string_view key) {
  if (key.empty()) return corrupt_key("state", key, "it is empty");
  StateKey decoded;
  decoded.kind = static_cast<StateKey::Kind>(key[0]);
  const std::string_view rest = key.substr(1);
  switch (decoded.kind) {
    case StateKey::Kind::identity:
    case StateKey::Kind::applied:
      if (!rest.empty()) return wrong_size("state", key, 1);
      return decoded;
    case StateKey::Kind::checkpoint:
      decoded.name = rest;
      return decoded;
    case StateKey::Kind::snapshot: {
      const std::size_t type_end = rest.find('\0');
      const std::size_t value_end = type_end == std::string_view::npos ? type_end : rest.find('\0', type_end + 1);
      if (value_end == std::string_view::npos) return corrupt_key("state", key, "its aggregate has no end");
      if (rest.size() != value_end + 1 + sizeof(std::uint64_t))
        return corrupt_key("state", key, "its slot has no 8 bytes");
      decoded.aggregate.type = rest.substr(0, type_end);
      decoded.aggregate.value = rest.substr(type_end + 1, value_end - type_end - 1);
      if (const auto checked = AggregateId::check(decoded.aggregate); !checked) {
        return corrupt_key("state", key, checked.error().what);
      }
      const SeqNr slot(get<std::uint64_t>(rest, value_end + 1));
      if (slot != SeqNr{0}) decoded.retained = slot;
      return decoded;
    }
    case StateKey::Kind::covered:
      if (rest.size() != sizeof(ShardId::rep)) return wrong_size("state", key, 1 + sizeof(ShardId::rep));
      decoded.shard = ShardId(get<ShardId::rep>(rest, 0));
      return decoded;
    case StateKey::Kind::waiting:
      if (rest.size() != sizeof(ShardId::rep) + sizeof(ShardOffset::rep)) {
        return wrong_size("state", key, 1 + sizeof(ShardId::rep) + sizeof(ShardOffset::rep));
      }
      decoded.shard = ShardId(get<ShardId::rep>(rest, 0));
      decoded.offset = ShardOffset(get<ShardOffset::rep>(rest, sizeof(ShardId::rep)));
      return decoded;
  }
  return corrupt_key("state", key, std::to_string(static_cast<unsigned char>(key[0])) + " is no kind");
}

}  // namespace evershard::storage::keys
