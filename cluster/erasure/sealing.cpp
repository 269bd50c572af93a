#include "evershard/cluster/erasure/sealing.hpp"

#include <string>
#include <utility>

#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"

namespace evershard::cluster {
namespace {

std::string bytes_of_id(const EventId& id) { return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}; }

/// The id it is going to have, where that is known: a request that is sent again is to give the same bytes.
std::string once_of(const Append& append, std::size_t index) {
  const auto& event = append.events[index];
  if (event.id.given()) return bytes_of_id(event.id);
  if (append.request_id) return bytes_of_id(EventId::derived(*append.request_id, static_cast<std::uint32_t>(index)));
  return bytes_of_id(EventId::random());
}

std::string once_of(const Snapshot& snapshot) { return "snapshot " + std::to_string(snapshot.version.value); }

template <class Sealed>
Result<void> seal_one(SubjectKeys& keys, Sealed& what, const SealedFor& sealed_for, const std::string& once) {
  EVERSHARD_TRY(check_name("subject", what.subject, subject_bytes_max));
  auto key = keys.key_for(what.subject);
  if (!key) return refuse(std::move(key).error());
  what.payload = seal_payload(*key, sealed_for, once, {std::move(what.subject), std::move(what.payload), what.format});
  what.format = PayloadFormat::encrypted;
  what.subject.clear();
  return {};
}

}  // namespace

Result<void> Sealing::seal(Append& append) const {
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    auto& event = append.events[i];
    if (event.subject.empty()) continue;
    const auto aggregate = event.aggregate ? event.aggregate->text() : std::string();
    EVERSHARD_TRY(seal_one(*keys_, event, {aggregate, event.type}, once_of(append, i)));
  }
  for (auto& snapshot : append.snapshots) EVERSHARD_TRY(seal(snapshot));
  return {};
}

Result<void> Sealing::seal(Snapshot& snapshot) const {
  if (snapshot.subject.empty()) return {};
  return seal_one(*keys_, snapshot, {snapshot.aggregate.text(), {}}, once_of(snapshot));
}

Result<void> Sealing::open(RecordedEvent& event) const {
  if (event.state != EventState::live) return {};
  const auto id = sealed_by(event.format, event.payload);
  if (!id) return {};
  const auto where = [&](Error error) {
    error.what = "event " + std::to_string(event.position.value) + ": " + error.what;
    return refuse(std::move(error));
  };
  auto key = keys_->find(*id);
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
  for (auto& event : events) EVERSHARD_TRY(open(event));
  return {};
}

Result<bool> Sealing::open(RecordedSnapshot& snapshot) const {
  const auto id = sealed_by(snapshot.format, snapshot.payload);
  if (!id) return true;
  auto key = keys_->find(*id);
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
