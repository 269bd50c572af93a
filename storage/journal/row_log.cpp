#include "evershard/storage/journal/row_log.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

constexpr char row_log_version = 1;
constexpr std::size_t shard_digits = 5;

std::string in_digits(std::uint64_t number, std::size_t digits) {
  auto text = std::to_string(number);
  return text.insert(0, digits - text.size(), '0');
}

/// Keys ascend as entries do.
void append_text(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}

bool flag_of(ByteReader& reader) {
  const auto flag = reader.fixed<std::uint8_t>();
  if (flag > 1) reader.fail();
  return flag == 1;
}

std::string text_of(ByteReader& reader) { return std::string(reader.bytes(reader.varint())); }

void append_offsets(std::string& out, const std::vector<ShardOffset>& offsets) {
  append_varint(out, offsets.size());
  std::uint64_t before = 0;
  for (const auto offset : offsets) append_varint(out, offset.value - std::exchange(before, offset.value));
}

std::vector<ShardOffset> offsets_of(ByteReader& reader) {
  std::vector<ShardOffset> offsets;
  const auto count = reader.varint(reader.left());  // a byte each, at least
  offsets.reserve(count);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i != count && reader.ok(); ++i) {
    const auto step = reader.varint(std::numeric_limits<std::uint64_t>::max() - before);
    if (step == 0) reader.fail();  // they ascend, from 1 on
    offsets.push_back(ShardOffset{before += step});
  }
  return offsets;
}

std::string encode_at(std::string_view key, RowLogAt at) {
  std::string row;
  append_fixed(row, at.epoch.value);
  append_fixed(row, at.number);
  append_fixed(row, checksum(std::string(key) + row));
  return row;
}

Refused damaged_log(ShardId shard, std::string_view row) {
  return corrupt("an entry of the row log of shard " + std::to_string(shard.value) + " is damaged: " + hex(row, 64));
}

}  // namespace

ShardOffset RowLogEntry::end() const {
  ShardOffset end{1};
  for (const auto* events : {&removed, &erased})
    if (!events->empty()) end = std::max(end, events->back() + 1);
  return end;
}

std::vector<AggregateId> RowLogEntry::needs_snapshots() const {
  auto needed = snapshots;
  const auto prefix = keys::checkpoint(removed_prefix);
  for (const auto& write : state) {
    if (!write.value || !write.key.starts_with(prefix)) continue;
    if (auto aggregate = AggregateId::parse(write.key.substr(prefix.size()))) needed.push_back(*std::move(aggregate));
  }
  return needed;
}

std::string row_log_of_key(const AggregateId& aggregate) {
  return keys::checkpoint(std::string(row_log_of_prefix) + aggregate.text());
}

Result<RowLogAt> decode_row_log_of(std::string_view key, std::string_view row) {
  ByteReader reader(row);
  RowLogAt at;
  at.epoch = Epoch{reader.fixed<std::uint64_t>()};
  at.number = reader.fixed<std::uint64_t>();
  if (!reader.ok() || encode_at(key, at) != row)
    return corrupt("the row that names an aggregate's entry of the row log is damaged: " + hex(row, 64));
  return at;
}

Result<std::optional<RowLogAt>> row_log_at_of(const Rows& rows, const AggregateId& aggregate) {
  const auto key = row_log_of_key(aggregate);
  const std::string_view wanted[] = {key};
  const auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(row.error());
  if (!(*row)->found(0)) return std::nullopt;
  const auto at = decode_row_log_of(key, (*row)->value(0));
  return at ? std::optional(*at) : std::nullopt;  // verify finds one that is damaged
}

Result<std::vector<StateWrite>> row_log_of(const Rows& rows, ShardId shard, const AggregateId& aggregate, RowLogAt at) {
  const auto key = row_log_of_key(aggregate);
  std::vector<StateWrite> writes{{key, encode_at(key, at)}};
  const auto before = row_log_at_of(rows, aggregate);
  if (!before) return refuse(before.error());
  if (!*before) return writes;  // where the row is damaged that entry stays: it does no harm
  const auto of = row_log_key(shard, **before);
  const std::string_view entry_wanted[] = {of};
  const auto entry_row = rows.get(Family::state, entry_wanted);
  if (!entry_row) return refuse(entry_row.error());
  if (!(*entry_row)->found(0)) return writes;
  const auto entry = decode_row_log(shard, (*entry_row)->value(0));
  if (entry && entry->snapshots.size() == 1 && entry->has_snapshots_alone()) writes.push_back({of, std::nullopt});
  return writes;
}

std::string row_log_whole_key(ShardId shard) {
  return keys::checkpoint(std::string(row_log_whole_prefix) + in_digits(shard.value, shard_digits));
}

StateWrite row_log_whole(ShardId shard, Epoch under) {
  auto key = row_log_whole_key(shard);
  auto row = encode_at(key, {under, 0});
  return {std::move(key), std::move(row)};
}

Result<ShardId> decode_row_log_whole(std::string_view name, std::string_view value) {
  const auto digits = name.substr(row_log_whole_prefix.size());
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const ShardId shard{number};
  ByteReader reader(value);
  RowLogAt at;
  at.epoch = Epoch{reader.fixed<std::uint64_t>()};
  at.number = reader.fixed<std::uint64_t>();
  const auto key = row_log_whole_key(shard);
  if (error != std::errc() || end != digits.data() + digits.size() || keys::checkpoint(name) != key || !reader.ok() ||
      encode_at(key, at) != value)
    return corrupt("the row that says that a row log is whole is damaged: " + std::string(name));
  return shard;
}

Result<std::set<ShardId>> whole_row_logs(const Rows& rows) {
  std::set<ShardId> whole;
  const auto prefix = keys::checkpoint(row_log_whole_prefix);
  const auto cursor = rows.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto shard = decode_row_log_whole(cursor->key().substr(1), cursor->value());
    if (shard) whole.insert(*shard);  // a damaged one: as if it were not there
  }
  EVERSHARD_TRY(cursor->status());
  return whole;
}

std::string row_log_prefix_of(ShardId shard) {
  return keys::checkpoint(std::string(row_log_prefix) + in_digits(shard.value, shard_digits) + "/");
}

std::string row_log_key(ShardId shard, RowLogAt at) {
  constexpr std::size_t digits = 20;  // of any number
  return row_log_prefix_of(shard) + in_digits(at.epoch.value, digits) + "/" + in_digits(at.number, digits);
}

std::optional<ShardId> shard_of_row_log(std::string_view name) {
  if (!name.starts_with(row_log_prefix)) return std::nullopt;
  name.remove_prefix(row_log_prefix.size());
  std::uint16_t shard = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + std::min(name.size(), shard_digits), shard);
  if (error != std::errc() || end != name.data() + shard_digits) return std::nullopt;
  return ShardId{shard};
}

std::string encode_row_log(ShardId shard, const RowLogEntry& entry) {
  std::string body(1, row_log_version);
  append_varint(body, entry.at.epoch.value);
  append_varint(body, entry.at.number);
  append_offsets(body, entry.removed);
  append_offsets(body, entry.erased);
  append_varint(body, entry.state.size());
  for (const auto& [key, value] : entry.state) {
    append_text(body, key);
    body += static_cast<char>(value ? 1 : 0);
    if (value) append_text(body, *value);
  }
  append_varint(body, entry.snapshots_to_go.size());
  for (const auto& going : entry.snapshots_to_go) {
    append_text(body, going.aggregate.type);
    append_text(body, going.aggregate.value);
    append_varint(body, going.below.value);
    body += static_cast<char>(going.latest ? 1 : 0);
  }
  append_varint(body, entry.snapshots.size());
  for (const auto& aggregate : entry.snapshots) {
    append_text(body, aggregate.type);
    append_text(body, aggregate.value);
  }
  append_fixed(body, checksum(row_log_key(shard, entry.at) + body));
  return body;
}

Result<RowLogEntry> decode_row_log(ShardId shard, std::string_view row) {
  if (row.size() <= sizeof(std::uint64_t)) return damaged_log(shard, row);
  const auto body = row.substr(0, row.size() - sizeof(std::uint64_t));
  if (static_cast<unsigned char>(body.front()) > row_log_version)
    return refuse(ErrorCode::invalid_argument, "the row log of shard " + std::to_string(shard.value) +
                                                   " is in a form this program does not know: use a newer one");
  ByteReader reader(body.substr(1));
  RowLogEntry entry;
  entry.at.epoch = Epoch{reader.varint()};
  entry.at.number = reader.varint();
  entry.removed = offsets_of(reader);
  entry.erased = offsets_of(reader);
  for (auto left = reader.varint(reader.left()); left != 0 && reader.ok(); --left) {
    auto& write = entry.state.emplace_back();
    write.key = text_of(reader);
    if (flag_of(reader)) write.value = text_of(reader);
  }
  for (auto left = reader.varint(reader.left()); left != 0 && reader.ok(); --left) {
    auto& going = entry.snapshots_to_go.emplace_back();
    going.aggregate.type = text_of(reader);
    going.aggregate.value = text_of(reader);
    going.below = SeqNr{reader.varint()};
    going.latest = flag_of(reader);
  }
  for (auto left = reader.varint(reader.left()); left != 0 && reader.ok(); --left) {
    auto& aggregate = entry.snapshots.emplace_back();
    aggregate.type = text_of(reader);
    aggregate.value = text_of(reader);
  }
  if (body.front() != row_log_version || !reader.done() ||
      checksum(row_log_key(shard, entry.at) + std::string(body)) != get_fixed<std::uint64_t>(row.data() + body.size()))
    return damaged_log(shard, row);
  return entry;
}

std::map<ShardId, RowLogEntry> row_log_entries(
    const RowWrites& rows, const std::function<ShardId(const AggregateId&)>& of_aggregate,
    const std::function<std::optional<ShardId>(const StateWrite&)>& of_state) {
  std::map<ShardId, RowLogEntry> entries;
  for (const auto& rewrite : rows.rewrites) {
    auto& entry = entries[rewrite.shard];
    auto& events = rewrite.to == EventState::erased ? entry.erased : entry.removed;
    events.insert(events.end(), rewrite.stubs.begin(), rewrite.stubs.end());
  }
  for (auto& [shard, entry] : entries) {
    std::ranges::sort(entry.removed);
    std::ranges::sort(entry.erased);
  }
  for (const auto& write : rows.state)
    if (const auto shard = of_state(write)) entries[*shard].state.push_back(write);
  for (const auto& going : rows.snapshots_to_go)
    entries[of_aggregate(going.aggregate)].snapshots_to_go.push_back(going);
  for (const auto& aggregate : rows.stood_for) entries[of_aggregate(aggregate)].snapshots.push_back(aggregate);
  return entries;
}

std::uint64_t number_of(const RowLogEnds& ends, Epoch epoch) {
  const auto found = ends.find(epoch);
  return found == ends.end() ? 0 : found->second;
}

bool has_all(const RowLogEnds& ends, const RowLogEnds& other) {
  return std::ranges::all_of(other, [&](const auto& of) { return number_of(ends, of.first) >= of.second; });
}

// From the newest epoch to the oldest, one look each.
Result<RowLogEnds> row_log_ends(const Rows& rows, ShardId shard) {
  RowLogEnds ends;
  const auto prefix = row_log_prefix_of(shard);
  const auto cursor = rows.cursor(Family::state, {});
  for (auto before = prefix + "~";;) {  // behind any digit
    cursor->seek_for_prev(before);
    EVERSHARD_TRY(cursor->status());
    if (!cursor->valid() || !cursor->key().starts_with(prefix)) return ends;
    const auto entry = decode_row_log(shard, cursor->value());
    if (!entry) return refuse(entry.error());
    ends[entry->at.epoch] = entry->at.number;
    before = row_log_key(shard, {entry->at.epoch, 0});
  }
}

Result<RowLogRange> row_log_range(const Rows& rows, ShardId shard, RowLogAt after, ShardOffset until,
                                  std::size_t bytes_max) {
  RowLogRange range;
  const auto prefix = row_log_prefix_of(shard);
  std::size_t bytes = 0;
  const auto cursor = rows.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(row_log_key(shard, after)); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto entry = decode_row_log(shard, cursor->value());
    if (!entry) return refuse(entry.error());
    if (entry->at <= after) continue;
    if (entry->at.epoch != after.epoch || entry->end() > until) break;
    range.more = !range.rows.empty() && bytes + cursor->value().size() > bytes_max;
    if (range.more) break;
    bytes += cursor->value().size();
    range.rows.emplace_back(cursor->value());
  }
  EVERSHARD_TRY(cursor->status());
  return range;
}

Result<void> RowLogWrites::add(const RowLogEntry& entry) {
  EVERSHARD_TRY(look_behind(entry.at));
  std::map<ShardOffset, Record> changed;
  EVERSHARD_TRY(stub(entry.removed, EventState::removed, changed));
  EVERSHARD_TRY(stub(entry.erased, EventState::erased, changed));
  std::vector<StateWrite> state;
  for (const auto& write : entry.state)
    if (!newer_.keys.contains(write.key)) state.push_back(write);
  state.push_back({row_log_key(shard_, entry.at), encode_row_log(shard_, entry)});
  for (const auto& aggregate : entry.snapshots) {
    if (newer_.snapshots.contains(aggregate)) continue;
    auto rows = row_log_of(rows_, shard_, aggregate, entry.at);
    if (!rows) return refuse(std::move(rows).error());
    std::ranges::move(*rows, std::back_inserter(state));
  }
  for (auto& [first, record] : changed) records_.insert_or_assign(first, std::move(record));
  std::ranges::move(state, std::back_inserter(writes_.state));
  writes_.snapshots_to_go.insert(writes_.snapshots_to_go.end(), entry.snapshots_to_go.begin(),
                                 entry.snapshots_to_go.end());
  return {};
}

Result<bool> RowLogWrites::is_superseded(const RowLogEntry& entry) {
  if (!entry.has_snapshots_alone()) return false;
  EVERSHARD_TRY(look_behind(entry.at));
  return std::ranges::all_of(entry.snapshots,
                             [&](const auto& aggregate) { return newer_.snapshots.contains(aggregate); });
}

// None, as a rule: entries come in their sequence but for those of a writer whom another one did not hear.
Result<void> RowLogWrites::look_behind(RowLogAt first) {
  if (looked_behind_) return {};
  Newer newer;
  const auto prefix = row_log_prefix_of(shard_);
  const auto cursor = rows_.cursor(Family::state, {.prefix = prefix});
  for (cursor->seek(row_log_key(shard_, {first.epoch, first.number + 1}));
       cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto entry = decode_row_log(shard_, cursor->value());
    if (!entry) return refuse(entry.error());
    for (const auto& write : entry->state) newer.keys.insert(write.key);
    for (auto& aggregate : entry->needs_snapshots()) newer.snapshots.insert(std::move(aggregate));
  }
  EVERSHARD_TRY(cursor->status());
  newer_ = std::move(newer);
  looked_behind_ = true;
  return {};
}

Result<void> RowLogWrites::stub(const std::vector<ShardOffset>& events, EventState to,
                                std::map<ShardOffset, Record>& changed) const {
  const auto journal = rows_.cursor(Family::journal, {});
  for (auto at = events.begin(); at != events.end();) {
    journal->seek_for_prev(keys::journal(shard_, *at));
    EVERSHARD_TRY(journal->status());
    const auto key = journal->valid() ? keys::decode_journal(journal->key()) : Result<keys::JournalKey>();
    if (!key) return refuse(key.error());
    const auto not_here = [&] {
      return corrupt("offset " + std::to_string(at->value) + " of shard " + std::to_string(shard_.value) +
                     " is not in the journal, and was removed or erased by its writer");
    };
    if (!journal->valid() || key->shard != shard_) return not_here();
    const auto found = changed.find(key->offset);
    const auto earlier = records_.find(key->offset);
    const auto* kept = found != changed.end() ? &found->second : earlier != records_.end() ? &earlier->second : nullptr;
    const std::string bytes(kept == nullptr ? journal->value() : std::string_view(kept->bytes));
    const auto view = RecordView::open(bytes, shard_, key->offset);
    if (!view) return refuse(view.error());
    if (key->offset + view->size() <= *at) return not_here();
    std::vector<std::pair<std::uint16_t, EventState>> stubs;
    for (; at != events.end() && *at < key->offset + view->size(); ++at) {
      const auto index = *at - key->offset;
      const auto event = view->event(index);
      if (!event) return refuse(event.error());
      if (event->state != EventState::removed && event->state != to)
        stubs.emplace_back(static_cast<std::uint16_t>(index), to);
    }
    if (stubs.empty()) continue;
    auto record = with_stubs(bytes, shard_, key->offset, stubs);
    if (!record) return refuse(std::move(record).error());
    const auto before = kept == nullptr ? bytes.size() : kept->bytes_before;
    changed.insert_or_assign(key->offset, Record{*std::move(record), before});
  }
  return {};
}

RowWrites RowLogWrites::take() {
  for (auto& [first, record] : std::exchange(records_, {}))
    writes_.rewrites.push_back({shard_, first, std::move(record.bytes), record.bytes_before});
  return std::exchange(writes_, {});
}

}  // namespace evershard::storage
