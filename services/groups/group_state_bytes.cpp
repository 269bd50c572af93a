#include "evershard/services/groups/group_state_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace evershard::actors {
namespace {

constexpr std::uint8_t group_state_version = 1;

class GroupBytesOut {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void number(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<std::uint8_t>(value | 0x80));
    byte(static_cast<std::uint8_t>(value));
  }
  void fixed(std::uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) byte(static_cast<std::uint8_t>(value >> shift));
  }
  void raw(const void* from, std::size_t size) { bytes_.append(static_cast<const char*>(from), size); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// After the first thing that is not there everything is zero, and good() false.
class GroupBytesIn {
 public:
  explicit GroupBytesIn(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return bytes_.empty(); }
  std::uint8_t byte() {
    const auto one = part(1);
    return one.empty() ? 0 : static_cast<std::uint8_t>(one[0]);
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto next = byte();
      if (!good_) return 0;
      if (shift == 63 && next > 1) break;
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if ((next & 0x80) == 0) return value;
    }
    good_ = false;
    return 0;
  }
  std::uint64_t fixed() {
    std::uint64_t value = 0;
    for (const char c : part(8)) value = value << 8 | static_cast<std::uint8_t>(c);
    return value;
  }
  std::string_view part(std::size_t size) {
    good_ = good_ && size <= bytes_.size();
    if (!good_) return {};
    const auto found = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return found;
  }
  std::string_view text() { return part(number()); }
  /// Ascending ones, as what each adds to the one before; 0 or too much is none.
  bool next_position(std::uint64_t& position) {
    const auto step = number();
    good_ = good_ && step != 0 && position + step > position;
    position += step;
    return good_;
  }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace

std::string GroupStateBytes::encode(const GroupState& state, const GroupKept& kept, GroupTime now,
                                    std::int64_t wall_ms) {
  auto end = state.entries_.end();
  while (end != state.entries_.begin() && std::prev(end)->first > state.settled_to_.value)
    --end;  // what failed once is not behind it
  const auto read_to = end == state.entries_.end() ? state.read_to_.value : end->first - 1;

  GroupBytesOut out;
  out.byte(group_state_version);
  out.number(kept.incarnation);
  out.text(kept.fork_id);
  out.number(state.start_.value);
  out.number(read_to);
  const auto& counters = state.counters_;
  for (const auto count : {counters.acknowledged, counters.rejected, counters.expired, counters.parked,
                           counters.replayed, counters.discarded})
    out.number(count);

  out.number(static_cast<std::uint64_t>(std::distance(state.entries_.begin(), end)));
  std::uint64_t before = 0;
  for (auto entry = state.entries_.begin(); entry != end; ++entry) {
    out.number(entry->first - std::exchange(before, entry->first));
    out.fixed(entry->second.lane);
    out.number(entry->second.attempts);
    // 0: at once. The moment by the caller's clock otherwise, which is never 0.
    out.number(entry->second.waits
                   ? static_cast<std::uint64_t>(std::max<std::int64_t>(wall_ms + entry->second.due - now, 1))
                   : 0);
  }

  const auto reasons = state.reasons_.texts();
  out.number(reasons.size());
  for (const auto text : reasons) out.text(text);
  out.number(state.parked_.size());
  before = 0;
  for (const auto& [position, parked] : state.parked_) {
    out.number(position - std::exchange(before, position));
    out.fixed(parked.lane);
    out.number(parked.attempts);
    out.byte(parked.behind ? 1 : 0);
    out.number(parked.reason);
    out.number(static_cast<std::uint64_t>(std::max<std::int64_t>(parked.parked_at_ms, 0)));
  }

  const auto place = state.place_.up_to(GlobalPosition(read_to));
  out.number(place.marks().size());
  before = 0;
  for (const auto& mark : place.marks()) {
    out.number(mark.position.value - std::exchange(before, mark.position.value));
    out.raw(mark.event.bytes.data(), mark.event.bytes.size());
  }
  return out.take();
}

Result<GroupStateBytes::Decoded> GroupStateBytes::decode(std::string_view bytes, const GroupSettings& settings,
                                                         GroupTime now, std::int64_t wall_ms, std::uint64_t seed,
                                                         std::uint64_t deliveries_from) {
  const auto damaged = [] {
    return refuse(ErrorCode::corruption,
                  "the kept state of the group is damaged: its bytes are none that were written");
  };
  GroupBytesIn in(bytes);
  const auto version = in.byte();
  if (version == 0) return damaged();
  if (version > group_state_version) {
    return refuse(ErrorCode::invalid_argument, "the kept state of the group has format " + std::to_string(version) +
                                                   ": this program knows " + std::to_string(group_state_version));
  }
  GroupKept kept;
  kept.incarnation = in.number();
  kept.fork_id = std::string(in.text());
  Decoded decoded{GroupState(settings, GlobalPosition(in.number()), seed, deliveries_from), std::move(kept)};
  auto& state = decoded.state;
  state.now_ = now;
  state.read_to_ = GlobalPosition(in.number());
  state.settled_to_ = state.read_to_;
  auto& counters = state.counters_;
  for (auto* count : {&counters.acknowledged, &counters.rejected, &counters.expired, &counters.parked,
                      &counters.replayed, &counters.discarded})
    *count = in.number();

  const auto wait_most =
      settings.retry_most.count() * (100 + static_cast<std::int64_t>(settings.retry_jitter_percent)) / 100;
  std::uint64_t position = 0;
  for (auto left = in.number(); left > 0 && in.good(); --left) {
    if (!in.next_position(position)) break;
    GroupState::Entry entry{.lane = in.fixed(), .attempts = static_cast<std::uint32_t>(in.number())};
    const auto due_at = static_cast<std::int64_t>(in.number());
    if (!in.good()) break;
    entry.waits = due_at != 0;
    const auto placed = state.entries_.emplace(position, entry).first;
    state.lanes_[entry.lane].positions.insert(position);
    if (entry.waits) state.set_timer(placed, now + 1 + std::clamp<std::int64_t>(due_at - wall_ms, 0, wait_most));
  }
  if (position > state.read_to_.value) return damaged();

  std::vector<std::string> reasons;
  for (auto left = in.number(); left > 0 && in.good(); --left) reasons.emplace_back(in.text());
  state.reasons_.restore(reasons);
  position = 0;
  for (auto left = in.number(); left > 0 && in.good(); --left) {
    if (!in.next_position(position)) break;
    GroupParked parked{.lane = in.fixed(), .attempts = static_cast<std::uint32_t>(in.number())};
    parked.behind = in.byte() != 0;
    const auto reason = in.number();
    parked.parked_at_ms = static_cast<std::int64_t>(in.number());
    if (!in.good()) break;
    if (reason > reasons.size() || state.entries_.contains(position)) return damaged();
    const auto counted = counters.parked;
    state.put_parked(position, parked, reason == 0 ? std::string_view() : std::string_view(reasons[reason - 1]));
    counters.parked = counted;
  }
  state.reasons_.drop_unused();
  if (position > state.read_to_.value) return damaged();

  position = 0;
  const auto marks = in.number();
  for (auto left = marks; left > 0 && in.good(); --left) {
    if (!in.next_position(position)) break;
    EventId id;
    const auto raw = in.part(id.bytes.size());
    if (raw.size() == id.bytes.size()) std::memcpy(id.bytes.data(), raw.data(), raw.size());
    state.place_.add({GlobalPosition(position), id});
  }
  if (!in.good() || !in.at_end() || position > state.read_to_.value || marks > KeptPlace::marks_max ||
      state.start_ > state.read_to_)
    return damaged();
  state.revision_ = 0;
  state.refresh_all();
  return decoded;
}

}  // namespace evershard::actors
