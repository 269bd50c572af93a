#include "evershard/cli/aggregates/exact_state.hpp"

#include "evershard/actors/entity/replay.hpp"
#include "evershard/api/json/own_events.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

constexpr const char* instead = "--no-replay shows the newest snapshot, and the events behind it as they are stored";

using actors::SnapshotUse;

/// Empty: it was used, or there is none.
std::string why_not_used(const std::optional<RecordedSnapshot>& snapshot, SnapshotUse use, std::uint32_t revision) {
  const std::string which =
      snapshot ? "the snapshot of version " + std::to_string(snapshot->version.value) : "the newest snapshot";
  switch (use) {
    case SnapshotUse::none:
    case SnapshotUse::used:
      return "";
    case SnapshotUse::other_revision:
      return which + " has schema revision " + std::to_string(snapshot->schema_revision) + ", this program has " +
             std::to_string(revision);
    case SnapshotUse::undecodable:
      return which + " is no state that this program can read";
    case SnapshotUse::damaged:
      return which + " is damaged";
    case SnapshotUse::ahead:
      return which + " does not stand where the aggregate's events do";
  }
  return which;
}

/// As an aggregate is loaded, from whatever store it is.
Result<actors::Replayed> replayed(actors::Replay& replay, EventStore& store, const AggregateId& aggregate,
                                  GlobalPosition up_to) {
  constexpr std::uint64_t page_events = 100;
  for (bool complete = false; !complete;) {
    Page page;
    auto stream = store.read(aggregate, StreamOptions{.from = replay.from(), .limit = page_events, .up_to = up_to});
    for (;;) {
      auto event = stream.next();
      if (!event) return refuse(std::move(event).error());
      if (!*event) break;
      page.events.push_back(std::move(**event));
    }
    page.complete = page.events.size() < page_events;
    auto done = replay.page(page);
    if (!done) return refuse(std::move(done).error());
    complete = *done;
  }
  return replay.take();
}

}  // namespace

tl::expected<ExactState, Failure> exact_state(const Invocation& invocation, EventStore& store,
                                              const AggregateId& aggregate, const Moment& at,
                                              const PayloadTypes& types) {
  const auto kind = invocation.program.kind(aggregate.type);
  auto newest = store.snapshot_as_of(aggregate, at.position);
  actors::Replay replay(*kind, aggregate);
  if (auto begun = replay.begin(newest); !begun) return Failed(Failure(std::move(begun).error()));
  auto state = replayed(replay, store, aggregate, at.position);
  if (!state) return Failed(Failure(std::move(state).error(), instead));
  if (state->version != at.version) {
    return Failed(Failure(ErrorCode::corruption,
                          "replaying " + in_quotes(aggregate.text(), 700) + " to position " +
                              std::to_string(at.position.value) + " leads to version " +
                              std::to_string(state->version.value) + ", not " + std::to_string(at.version.value),
                          instead));
  }
  auto bytes = kind->encode(*state->state);
  if (!bytes) return Failed(Failure(std::move(bytes).error(), instead));

  ExactState exact;
  if (newest) exact.snapshot = std::move(*newest);
  exact.snapshot_not_used = why_not_used(exact.snapshot, state->snapshot, kind->schema_revision());
  if (state->snapshot != SnapshotUse::used) exact.snapshot.reset();

  const bool as_stored = invocation.arguments.has("as-stored");
  if (invocation.program.is_of_process(aggregate.type) && !as_stored) {
    auto text = state_of_instance(aggregate.type, *bytes, types);
    if (!text) return Failed(Failure(std::move(text).error(), instead));
    exact.text = {std::move(text->json), std::move(text->message), text->base64, text->unknown_fields};
    return exact;
  }
  // A message of Protobuf's lite runtime cannot be shown but as its bytes.
  const bool describes_itself = types.of_state(aggregate.type).message_of_state(aggregate.type).has_value();
  auto text = state_text(aggregate.type, *bytes, kind->state_format(), types, as_stored || !describes_itself);
  if (!text) return Failed(Failure(std::move(text).error(), "--as-stored shows the bytes"));
  exact.text = std::move(*text);
  return exact;
}

}  // namespace evershard::cli
