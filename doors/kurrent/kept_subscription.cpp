#include "evershard/doors/kurrent/kept_subscription.hpp"

#include <utility>

namespace evershard::kurrent {
namespace {

constexpr const char* defined_type = "$PersistentSubscription";
constexpr const char* dropped_type = "$PersistentSubscriptionDeleted";
constexpr std::uint32_t progress_revision = 1;

}  // namespace

Result<std::optional<KeptSubscription>> load_subscription(EventStore& events, const AggregateId& kept_in,
                                                          SeqNr& version) {
  KeptSubscription kept;
  SeqNr created;
  version = SeqNr{0};
  auto stream = events.read(kept_in, {});
  for (const auto& event : stream) {
    version = event.seq_nr;
    if (event.type == dropped_type) {
      created = SeqNr{0};
      continue;
    }
    if (!kept.definition.ParseFromString(event.payload))
      return refuse(ErrorCode::corruption, "the persistent subscription in " + kept_in.text() + " cannot be read");
    if (created.value == 0) created = event.seq_nr;
  }
  if (stream.error()) return refuse(*stream.error());
  if (created.value == 0) return std::optional<KeptSubscription>();
  kept.version = version;
  const auto snapshot = events.snapshot(kept_in);
  if (!snapshot) return refuse(snapshot.error());
  // What was kept of one of the same name that was deleted is not this one's.
  if (*snapshot && (*snapshot)->version >= created) {
    esps::KeptProgress progress;
    if ((*snapshot)->schema_revision != progress_revision || !progress.ParseFromString((*snapshot)->payload))
      return refuse(ErrorCode::corruption,
                    "how far the persistent subscription in " + kept_in.text() + " is cannot be read");
    if (progress.has_checkpoint()) kept.progress.checkpoint = progress.checkpoint();
    kept.progress.settled.insert(progress.settled().begin(), progress.settled().end());
    for (const auto& parked : progress.parked()) kept.progress.parked[parked.key()] = parked.reason();
  }
  return std::optional(std::move(kept));
}

Result<SeqNr> write_subscription(EventStore& events, const AggregateId& kept_in, SeqNr expected,
                                 const std::optional<esps::KeptDefinition>& definition) {
  EVERSHARD_TRY(AggregateId::check(kept_in));
  Event event;
  event.id = EventId::random();
  event.aggregate = kept_in;
  event.type = definition ? defined_type : dropped_type;
  if (definition) event.payload = definition->SerializeAsString();
  Append append;
  append.events.push_back(std::move(event));
  append.expectations.push_back(
      {kept_in, expected.value == 0 ? ExpectedVersion::none() : ExpectedVersion::exactly(expected)});
  const auto appended = events.append(std::move(append));
  if (!appended) return refuse(appended.error());
  return appended->versions.front().version;
}

Snapshot snapshot_of(const AggregateId& kept_in, SeqNr version, const PersistentSubscription::Progress& progress) {
  esps::KeptProgress message;
  if (progress.checkpoint) message.set_checkpoint(*progress.checkpoint);
  for (const auto key : progress.settled) message.add_settled(key);
  for (const auto& [key, reason] : progress.parked) {
    auto& parked = *message.add_parked();
    parked.set_key(key);
    parked.set_reason(reason);
  }
  return {kept_in, version, message.SerializeAsString(), PayloadFormat::unspecified, progress_revision, {}, {}};
}

}  // namespace evershard::kurrent
