#include "evershard/storage/journal/latest_snapshot.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/snapshot_difference.hpp"
#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t state_bytes_max = Limits::most().snapshot_bytes_max;
constexpr int reads_in_between_max = 4;  ///< of rows that are written anew meanwhile

Refused corrupt_in_two_rows(const AggregateId& aggregate, std::string_view why) {
  return refuse(ErrorCode::corruption,
                "a snapshot of " + in_quotes(aggregate.text()) + " is damaged: " + std::string(why));
}

struct TwoRows {
  std::optional<std::string> slot;
  std::optional<std::string> base;
};

/// As of one moment, unless they are written just then.
Result<TwoRows> read_two_rows(const Rows& rows, const AggregateId& aggregate) {
  const auto base = snapshot_base_key(aggregate), slot = keys::snapshot(aggregate, std::nullopt);
  const std::string_view wanted[] = {base, slot};
  const auto found = rows.get(Family::state, wanted);
  if (!found) return refuse(found.error());
  TwoRows two;
  if ((*found)->found(0)) two.base = std::string((*found)->value(0));
  if ((*found)->found(1)) two.slot = std::string((*found)->value(1));
  return two;
}

Result<void> put_state_in(RecordedSnapshot& snapshot, const std::optional<std::string>& base_row) {
  const auto& aggregate = snapshot.aggregate;
  if (!base_row) return corrupt_in_two_rows(aggregate, "what it was told from is missing");
  const auto base = decode_snapshot_base(*base_row, aggregate);
  if (!base) return refuse(base.error());
  if (base->checksum != base_of_payload(aggregate, snapshot.payload))
    return corrupt_in_two_rows(aggregate, "what it was told from is another state");
  const auto sum = get_fixed<std::uint64_t>(snapshot.payload.data() + difference_mark.size() + sizeof(std::uint64_t));
  auto state =
      state_from_difference(base->payload, std::string_view(snapshot.payload).substr(difference_head), state_bytes_max);
  if (!state) return corrupt_in_two_rows(aggregate, state.error().what);
  if (checksum(*state) != sum) return corrupt_in_two_rows(aggregate, "its state is none that was written");
  snapshot.payload = *std::move(state);
  return {};
}

struct Latest {
  RecordedSnapshot snapshot;          ///< with the state itself
  std::optional<std::uint64_t> told;  ///< from this base; nothing: it lies in one row
  TwoRows rows;
};

/// Behind a row that was read before, which may have been written anew since.
Result<std::optional<Latest>> read_latest(const Rows& rows, const AggregateId& aggregate,
                                          std::optional<std::uint32_t>* keep) {
  std::optional<std::string> before;
  for (int n = 0;; ++n) {
    auto two = read_two_rows(rows, aggregate);
    if (!two) return refuse(std::move(two).error());
    if (!two->slot) return std::nullopt;
    auto snapshot = decode_snapshot_parts(*two->slot, aggregate, keep);
    if (!snapshot) return refuse(std::move(snapshot).error());
    const auto told = base_of_payload(aggregate, snapshot->payload);
    auto put = told ? put_state_in(*snapshot, two->base) : Result<void>();
    if (put) return std::optional(Latest{*std::move(snapshot), told, *std::move(two)});
    if (before == two->slot || n == reads_in_between_max) return refuse(std::move(put).error());
    before = std::move(two->slot);
  }
}

}  // namespace

std::string snapshot_base_key(const AggregateId& aggregate) {
  return keys::checkpoint(std::string(snapshot_base_prefix) + aggregate.text());
}

Result<SnapshotBase> decode_snapshot_base(std::string_view row, const AggregateId& aggregate) {
  auto snapshot = decode_snapshot(row, aggregate);
  if (!snapshot) return refuse(std::move(snapshot).error());
  return SnapshotBase{std::string(row), std::move(snapshot->payload),
                      get_fixed<std::uint64_t>(row.data() + row.size() - sizeof(std::uint64_t))};
}

std::size_t difference_bytes_max(const SnapshotBase& base) {
  constexpr std::size_t least = 4u << 10, part = 64;
  return std::max(least, base.payload.size() / part);
}

std::optional<std::string> payload_of_difference(const SnapshotBase& base, std::string_view payload) {
  const auto difference = state_difference(base.payload, payload, difference_bytes_max(base));
  if (!difference) return std::nullopt;
  std::string of(difference_mark);
  append_fixed(of, base.checksum);
  append_fixed(of, checksum(payload));
  return of + *difference;
}

Result<RecordedSnapshot> whole_snapshot(const Rows& rows, const AggregateId& aggregate, std::string_view row,
                                        std::optional<std::uint32_t>* keep) {
  auto snapshot = decode_snapshot_parts(row, aggregate, keep);
  if (!snapshot || !base_of_payload(aggregate, snapshot->payload)) return snapshot;
  auto latest = read_latest(rows, aggregate, keep);
  if (!latest) return refuse(std::move(latest).error());
  if (!*latest) return corrupt_in_two_rows(aggregate, "it is gone");
  return std::move((*latest)->snapshot);
}

Result<std::string> whole_snapshot_row(const Rows& rows, const AggregateId& aggregate, std::string_view row) {
  std::optional<std::uint32_t> keep;
  const auto snapshot = decode_snapshot_parts(row, aggregate, &keep);
  // One that is damaged is given as it is: who decodes it says so.
  if (!snapshot || !base_of_payload(aggregate, snapshot->payload)) return std::string(row);
  const auto whole = whole_snapshot(rows, aggregate, row, &keep);
  if (!whole) return refuse(whole.error());
  return encode_latest_snapshot(*whole, keep);
}

Result<std::optional<RecordedSnapshot>> latest_snapshot_of(const Rows& rows, const AggregateId& aggregate) {
  auto latest = read_latest(rows, aggregate, nullptr);
  if (!latest) return refuse(std::move(latest).error());
  if (!*latest) return std::nullopt;
  return std::optional(std::move((*latest)->snapshot));
}

Result<std::optional<std::string>> latest_snapshot_row(const Rows& rows, const AggregateId& aggregate) {
  const auto slot = keys::snapshot(aggregate, std::nullopt);
  const std::string_view wanted[] = {slot};
  const auto found = rows.get(Family::state, wanted);
  if (!found) return refuse(found.error());
  if (!(*found)->found(0)) return std::nullopt;
  auto row = whole_snapshot_row(rows, aggregate, (*found)->value(0));
  if (!row) return refuse(std::move(row).error());
  return std::optional(*std::move(row));
}

Result<std::optional<SnapshotInTwoRows>> latest_snapshot_in_two_rows(const Rows& rows, const AggregateId& aggregate) {
  if (!may_lie_in_two_rows(aggregate)) return std::nullopt;
  auto latest = read_latest(rows, aggregate, nullptr);
  if (!latest) return refuse(std::move(latest).error());
  if (!*latest || !(*latest)->told) return std::nullopt;
  auto& [slot, base] = (*latest)->rows;
  return SnapshotInTwoRows{*std::move(slot), *std::move(base), *(*latest)->told};
}

Result<std::optional<TakenTwoRows>> take_two_rows(const Rows& rows, const AggregateId& aggregate, std::string_view base,
                                                  std::string_view latest) {
  auto snapshot = decode_snapshot_parts(latest, aggregate);
  if (!snapshot) return refuse(std::move(snapshot).error());
  const auto checksum = base_of_payload(aggregate, snapshot->payload);
  if (!checksum) return corrupt_in_two_rows(aggregate, "it came as two rows and is in one");
  auto here = read_two_rows(rows, aggregate);
  if (!here) return refuse(std::move(here).error());
  auto put = put_state_in(*snapshot, base.empty() ? here->base : std::optional(std::string(base)));
  if (!put && base.empty()) return std::nullopt;  // what is missing or damaged here comes anew
  EVERSHARD_TRY(std::move(put));
  TakenTwoRows taken{{}, *checksum};
  const auto now = here->slot ? decode_snapshot_parts(*here->slot, aggregate) : Result<RecordedSnapshot>();
  if (now && now->version > snapshot->version) return taken;  // one that is damaged here is written over
  if (!base.empty()) taken.rows.push_back({snapshot_base_key(aggregate), std::string(base)});
  taken.rows.push_back({keys::snapshot(aggregate, std::nullopt), std::string(latest)});
  return taken;
}

}  // namespace evershard::storage
