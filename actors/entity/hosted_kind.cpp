#include "evershard/actors/entity/hosted_kind.hpp"

#include <utility>

#include "evershard/protocol/validate.hpp"

namespace evershard::actors {

Result<Snapshot> snapshot_of(const HostedKind& hosted, const AggregateId& aggregate, const AnyState& state,
                             SeqNr version) {
  auto payload = hosted.kind->encode(state);
  if (!payload) return refuse(std::move(payload).error());
  auto subject = hosted.kind->subject_of(state);
  if (!subject) return refuse(std::move(subject).error());
  Snapshot snapshot;
  snapshot.aggregate = aggregate;
  snapshot.version = version;
  snapshot.payload = std::move(*payload);
  snapshot.format = hosted.kind->state_format();
  snapshot.schema_revision = hosted.kind->schema_revision();
  snapshot.keep = hosted.kind->retention().keep;
  snapshot.ttl = hosted.kind->retention().ttl;
  snapshot.subject = *std::move(subject);
  EVERSHARD_TRY(check(snapshot, hosted.limits));
  return snapshot;
}

}  // namespace evershard::actors
