#include "evershard/services/erasure/sealing.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/request_name.hpp"
#include "evershard/protocol/validate.hpp"

namespace evershard::cluster {
namespace {

std::string bytes_of_id(const EventId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

/// The id it is going to have, where that is known: a request that is sent again is to give the same bytes.
std::string once_of(const Append& append, std::size_t index) {
  const auto& event = append.events[index];
  if (event.id.given()) return bytes_of_id(event.id);
  if (const auto* name = request_name(append))
    return bytes_of_id(EventId::derived(*name, static_cast<std::uint32_t>(index)));
  return bytes_of_id(EventId::random());
}

std::string once_of(const Snapshot& snapshot) { return "snapshot " + std::to_string(snapshot.version.value); }

constexpr const char* sealed_too_late = "a key was destroyed since what is to be sealed was read";

template <class Sealed>
Result<void> check_to_seal(const Sealed& what) {
  EVERSHARD_TRY(check_name("subject", what.subject, subject_bytes_max));
  return check(what, Limits::most());  // sealed, nobody could tell any more; and no key is made for what is refused
}

template <class Sealed>
Result<void> seal_with(const HeldKey& key, std::optional<std::uint64_t> made_at, Sealed& what,
                       const SealedFor& sealed_for, const std::string& once) {
  if (made_at && key.erasures != *made_at) return refuse(ErrorCode::version_conflict, sealed_too_late);
  what.payload = seal_payload(*key, sealed_for, once, {std::move(what.subject), std::move(what.payload), what.format});
  what.format = PayloadFormat::encrypted;
  what.subject.clear();
  return {};
}

template <class Sealed>
Result<void> seal_one(SubjectKeys& keys, std::optional<std::uint64_t> made_at, Sealed& what,
                      const SealedFor& sealed_for, const std::string& once) {
  EVERSHARD_TRY(check_to_seal(what));
  const auto key = keys.key_for(what.subject);
  if (!key) return refuse(key.error());
  return seal_with(*key, made_at, what, sealed_for, once);
}

/// What comes sealed already (a copy made without keys, say) has to be ours, or was: whoever reads it would try to open
/// it.
Result<void> check_opens(const Result<std::optional<HeldKey>>& key, std::string_view payload,
                         const SealedFor& sealed_for) {
  const bool nothing_opens =
      !key && (key.error().code == ErrorCode::corruption || key.error().code == ErrorCode::not_found);
  if (!key && !nothing_opens) return refuse(key.error());
  if (key && (!*key || open_payload(***key, sealed_for, payload))) return {};
  return refuse(ErrorCode::invalid_argument, "a payload looks sealed, and no key here opens it");
}

Result<void> check_opens(SubjectKeys& keys, PayloadFormat format, std::string_view payload,
                         const SealedFor& sealed_for) {
  const auto id = sealed_by(format, payload);
  if (!id) return {};
  return check_opens(keys.find(*id), payload, sealed_for);
}

/// Of what is stored: where there are no keys at all, they may be there again later.
Result<std::optional<HeldKey>> key_that_opens(SubjectKeys& keys, const KeyId& id) {
  auto key = keys.find(id);
  if (!key && key.error().code == ErrorCode::not_found)
    return refuse(ErrorCode::unavailable, std::move(key).error().what);
  return key;
}

std::string aggregate_of(const Event& event) { return event.aggregate ? event.aggregate->text() : std::string(); }
SealedFor sealed_place(const Event& event, const std::string& aggregate) { return {aggregate, event.type}; }
std::string aggregate_of(const Snapshot& snapshot) { return snapshot.aggregate.text(); }
SealedFor sealed_place(const Snapshot&, const std::string& aggregate) { return {aggregate, {}}; }

/// Of one part of an append. False: the key is not at hand.
template <class Sealed>
Result<bool> take_key_at_hand(SubjectKeys& keys, const Sealed& what, std::optional<HeldKey>& taken) {
  if (what.subject.empty()) {
    const auto id = sealed_by(what.format, what.payload);
    if (!id) return true;
    const auto found = keys.found_at_hand(*id);
    if (!found) return false;
    const auto aggregate = aggregate_of(what);
    EVERSHARD_TRY(check_opens(*found, what.payload, sealed_place(what, aggregate)));
    return true;
  }
  EVERSHARD_TRY(check_to_seal(what));
  auto key = keys.key_at_hand(what.subject);
  if (!key) return false;
  if (!*key) return refuse(std::move(*key).error());
  taken = **std::move(key);
  return true;
}

}  // namespace

KeysWanted keys_wanted(const Append& append) {
  KeysWanted wanted;
  const auto note = [&](const auto& what) {
    if (!what.subject.empty()) {
      if (check_to_seal(what)) wanted.subjects.push_back(what.subject);
    } else if (const auto id = sealed_by(what.format, what.payload)) {
      wanted.ids.push_back(*id);
    }
  };
  std::ranges::for_each(append.events, note);
  std::ranges::for_each(append.snapshots, note);
  return wanted;
}

Result<void> Sealing::seal(Append& append, std::optional<std::uint64_t> made_at) const {
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    auto& event = append.events[i];
    const auto aggregate = aggregate_of(event);
    auto done = event.subject.empty()
                    ? check_opens(*keys_, event.format, event.payload, sealed_place(event, aggregate))
                    : seal_one(*keys_, made_at, event, sealed_place(event, aggregate), once_of(append, i));
    if (!done) return done;
  }
  for (auto& snapshot : append.snapshots) EVERSHARD_TRY(seal(snapshot, made_at));
  return {};
}

Result<void> Sealing::seal(Snapshot& snapshot, std::optional<std::uint64_t> made_at) const {
  const auto aggregate = aggregate_of(snapshot);
  if (snapshot.subject.empty())
    return check_opens(*keys_, snapshot.format, snapshot.payload, sealed_place(snapshot, aggregate));
  return seal_one(*keys_, made_at, snapshot, sealed_place(snapshot, aggregate), once_of(snapshot));
}

Result<bool> Sealing::seal_at_once(Append& append, std::optional<std::uint64_t> made_at) const {
  std::vector<std::optional<HeldKey>> of_events(append.events.size()), of_snapshots(append.snapshots.size());
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto there = take_key_at_hand(*keys_, append.events[i], of_events[i]);
    if (!there || !*there) return there;
  }
  for (std::size_t i = 0; i < append.snapshots.size(); ++i) {
    const auto there = take_key_at_hand(*keys_, append.snapshots[i], of_snapshots[i]);
    if (!there || !*there) return there;
  }
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    if (!of_events[i]) continue;
    auto& event = append.events[i];
    const auto aggregate = aggregate_of(event);
    EVERSHARD_TRY(seal_with(*of_events[i], made_at, event, sealed_place(event, aggregate), once_of(append, i)));
  }
  for (std::size_t i = 0; i < append.snapshots.size(); ++i) {
    if (!of_snapshots[i]) continue;
    auto& snapshot = append.snapshots[i];
    const auto aggregate = aggregate_of(snapshot);
    EVERSHARD_TRY(seal_with(*of_snapshots[i], made_at, snapshot, sealed_place(snapshot, aggregate), once_of(snapshot)));
  }
  return true;
}

Result<void> Sealing::open(RecordedEvent& event) const {
  if (event.state != EventState::live) return {};
  const auto id = sealed_by(event.format, event.payload);
  if (!id) return {};
  const auto where = [&](const Error& error) {
    ErrorDetails details = error.details ? *error.details : ErrorDetails{};
    details.position = event.position;
    return refuse(error.code, "event " + std::to_string(event.position.value) + ": " + error.what, std::move(details));
  };
  auto key = key_that_opens(*keys_, *id);
  if (!key) return where(key.error());
  if (!*key) {
    event.payload.clear();
    event.state = EventState::erased;
    return {};
  }
  const auto aggregate = event.aggregate ? event.aggregate->text() : std::string();
  auto plain = open_payload(***key, {aggregate, event.type}, event.payload);
  if (!plain) return where(plain.error());
  event.payload = std::move(plain->payload);
  event.format = plain->format;
  event.subject = std::move(plain->subject);
  return {};
}

Result<void> Sealing::open(std::vector<RecordedEvent>& events) const {
  fetch_keys(events);
  for (auto& event : events) EVERSHARD_TRY(open(event));
  return {};
}

void Sealing::fetch_keys(const std::vector<RecordedEvent>& events) const {
  KeysWanted wanted;
  for (const auto& event : events) {
    const auto id = event.state == EventState::live ? sealed_by(event.format, event.payload) : std::nullopt;
    if (id) wanted.ids.push_back(*id);
  }
  if (wanted.ids.size() > 1) keys_->fetch(std::move(wanted));
}

bool Sealing::is_sealed(const RecordedView& event) {
  return event.state == EventState::live && sealed_by(event.format, event.payload).has_value();
}

bool Sealing::open_at_hand(const RecordedView& event, RecordedView& to, PlainPayload& plain) const {
  const auto id = sealed_by(event.format, event.payload);
  if (!id) return false;
  const auto key = keys_->found_at_hand(*id);
  if (!key || !*key) return false;
  if (!**key) {
    to = event;
    to.built = nullptr;
    to.payload = {};
    to.state = EventState::erased;
    return true;
  }
  const auto aggregate =
      event.aggregate_type.empty()
          ? std::string()
          : AggregateId{std::string(event.aggregate_type), std::string(event.aggregate_value)}.text();
  auto opened = open_payload(****key, {aggregate, event.type}, event.payload);
  if (!opened) return false;
  plain = *std::move(opened);
  to = event;
  to.built = nullptr;
  to.payload = plain.payload;
  to.format = plain.format;
  to.subject = plain.subject;
  return true;
}

Result<bool> Sealing::open(RecordedSnapshot& snapshot) const {
  const auto id = sealed_by(snapshot.format, snapshot.payload);
  if (!id) return true;
  auto key = key_that_opens(*keys_, *id);
  if (!key) return refuse(std::move(key).error());
  if (!*key) return false;
  auto plain = open_payload(***key, {snapshot.aggregate.text(), {}}, snapshot.payload);
  if (!plain) return refuse(std::move(plain).error());
  snapshot.payload = std::move(plain->payload);
  snapshot.format = plain->format;
  snapshot.subject = std::move(plain->subject);
  return true;
}

}  // namespace evershard::cluster
