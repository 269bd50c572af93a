#include "evershard/cluster/erasure/sealing.hpp"

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
  if (const auto* name = request_name(append)) return bytes_of_id(EventId::derived(*name, static_cast<std::uint32_t>(index)));
  return bytes_of_id(EventId::random());
}

std::string once_of(const Snapshot& snapshot) { return "snapshot " + std::to_string(snapshot.version.value); }

template <class Sealed>
Result<void> seal_one(SubjectKeys& keys, Sealed& what, const SealedFor& sealed_for, const std::string& once) {
  EVERSHARD_TRY(check_name("subject", what.subject, subject_bytes_max));
  EVERSHARD_TRY(check(what, Limits::most()));  // sealed, nobody could tell any more; and no key is made for what is refused
  auto key = keys.key_for(what.subject);
  if (!key) return refuse(std::move(key).error());
  what.payload = seal_payload(*key, sealed_for, once, {std::move(what.subject), std::move(what.payload), what.format});
  what.format = PayloadFormat::encrypted;
  what.subject.clear();
  return {};
}

/// What comes sealed already (a copy made without keys, say) has to be ours, or was: whoever reads it would try to open it.
Result<void> check_opens(SubjectKeys& keys, PayloadFormat format, std::string_view payload, const SealedFor& sealed_for) {
  const auto id = sealed_by(format, payload);
  if (!id) return {};
  auto key = keys.find(*id);
  const bool nothing_opens = !key && (key.error().code == ErrorCode::corruption || key.error().code == ErrorCode::not_found);
  if (!key && !nothing_opens) return refuse(std::move(key).error());
  if (key && (!*key || open_payload(**key, sealed_for, payload))) return {};
  return refuse(ErrorCode::invalid_argument, "a payload looks sealed, and no key here opens it");
}

/// Of what is stored: where there are no keys at all, they may be there again later.
Result<std::optional<PayloadKey>> key_that_opens(SubjectKeys& keys, const KeyId& id) {
  auto key = keys.find(id);
  if (!key && key.error().code == ErrorCode::not_found) return refuse(ErrorCode::unavailable, std::move(key).error().what);
  return key;
}

template <class Sealed>
bool is_at_hand(SubjectKeys& keys, const Sealed& what) {
  if (!what.subject.empty()) return keys.at_hand(what.subject);
  const auto id = sealed_by(what.format, what.payload);
  return !id || keys.at_hand(*id);
}

}  // namespace

bool Sealing::may_wait(const Append& append) const {
  const auto waits = [&](const auto& what) { return !is_at_hand(*keys_, what); };
  return std::ranges::any_of(append.events, waits) || std::ranges::any_of(append.snapshots, waits);
}

Result<void> Sealing::seal(Append& append) const {
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    auto& event = append.events[i];
    const auto aggregate = event.aggregate ? event.aggregate->text() : std::string();
    const SealedFor sealed_for{aggregate, event.type};
    auto done = event.subject.empty() ? check_opens(*keys_, event.format, event.payload, sealed_for) : seal_one(*keys_, event, sealed_for, once_of(append, i));
    if (!done) return done;
  }
  for (auto& snapshot : append.snapshots) EVERSHARD_TRY(seal(snapshot));
  return {};
}

Result<void> Sealing::seal(Snapshot& snapshot) const {
  const auto aggregate = snapshot.aggregate.text();
  if (snapshot.subject.empty()) return check_opens(*keys_, snapshot.format, snapshot.payload, {aggregate, {}});
  return seal_one(*keys_, snapshot, {aggregate, {}}, once_of(snapshot));
}

Result<void> Sealing::open(RecordedEvent& event) const {
  if (event.state != EventState::live) return {};
  const auto id = sealed_by(event.format, event.payload);
  if (!id) return {};
  const auto where = [&](Error error) {
    error.what = "event " + std::to_string(event.position.value) + ": " + error.what;
    return refuse(std::move(error));
  };
  auto key = key_that_opens(*keys_, *id);
  if (!key) return where(std::move(key).error());
  if (!*key) {
    event.payload.clear();
    event.state = EventState::erased;
    return {};
  }
  const auto aggregate = event.aggregate ? event.aggregate->text() : std::string();
  auto plain = open_payload(**key, {aggregate, event.type}, event.payload);
  if (!plain) return where(std::move(plain).error());
  event.payload = std::move(plain->payload);
  event.format = plain->format;
  event.subject = std::move(plain->subject);
  return {};
}

Result<void> Sealing::open(std::vector<RecordedEvent>& events) const {
  std::vector<KeyId> ids;
  for (const auto& event : events) {
    const auto id = event.state == EventState::live ? sealed_by(event.format, event.payload) : std::nullopt;
    if (id) ids.push_back(*id);
  }
  if (ids.size() > 1) keys_->fetch(std::move(ids));
  for (auto& event : events) EVERSHARD_TRY(open(event));
  return {};
}

Result<bool> Sealing::open(RecordedSnapshot& snapshot) const {
  const auto id = sealed_by(snapshot.format, snapshot.payload);
  if (!id) return true;
  auto key = key_that_opens(*keys_, *id);
  if (!key) return refuse(std::move(key).error());
  if (!*key) return false;
  auto plain = open_payload(**key, {snapshot.aggregate.text(), {}}, snapshot.payload);
  if (!plain) return refuse(std::move(plain).error());
  snapshot.payload = std::move(plain->payload);
  snapshot.format = plain->format;
  snapshot.subject = std::move(plain->subject);
  return true;
}

}  // namespace evershard::cluster
