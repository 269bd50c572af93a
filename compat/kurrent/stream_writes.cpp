#include "evershard/compat/kurrent/stream_writes.hpp"

#include <algorithm>
#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"

namespace evershard::kurrent {
namespace {

Event metadata_event(const AggregateId& stream, std::string json) {
  Event event;
  event.aggregate = AggregateId{std::string(metadata_type), name_of(stream)};
  event.type = metadata_event_type;
  event.payload = std::move(json);
  event.format = PayloadFormat::json;
  return event;
}

Refusal refusal_of(Error error) {
  Refusal refusal;
  refusal.error = std::move(error);
  return refusal;
}

constexpr std::uint32_t overtaken_most = 100;
/// Beyond it a condition costs more than to read what is missed.
constexpr std::uint64_t unknown_most = 4'096;

/// Whether what it expects of a stream holds for one that ended for good. To its metadata an end is no change.
bool may_follow_an_end(const StreamExpected& stream) {
  const auto kind = stream.expected.kind();
  return stream.written &&
         (is_metadata(stream.aggregate) || kind == ExpectedVersion::Kind::any || kind == ExpectedVersion::Kind::exists);
}

/// What the store is to expect of a stream that its clients see as deleted.
ExpectedVersion behind_delete(ExpectedVersion expected, SeqNr version) {
  return expected.kind() == ExpectedVersion::Kind::none ? ExpectedVersion::exactly(version) : expected;
}

}  // namespace

struct StreamWrites::Attempt {
  StreamWrite write;
  WriteDone done;
  bool looked = false;          ///< what is known of deletions was taken into account
  bool renamed = false;         ///< its events have ids of their own
  bool with_metadata = false;   ///< it is stored with metadata that take a deletion back
  GlobalPosition known{};       ///< what is decided of streams that ended is as of here, or later
  std::uint32_t overtaken = 0;  ///< so often one ended in between

  void refused(Refusal refusal, std::size_t which) {
    refusal.which = which;
    done(std::move(refusal));
  }
};

std::variant<Append, Refusal> plan_of(const StreamWrite& write, const std::vector<LookedAt>& looked) {
  Append append;
  append.events = write.events;
  const auto refused = [](Refusal refusal, std::size_t which) {
    refusal.which = which;
    return refusal;
  };
  for (std::size_t i = 0; i < write.streams.size(); ++i) {
    const auto& stream = write.streams[i];
    const auto& is = looked[i];
    if (is.state && is.state->tombstoned) {
      if (stream.written) return refused(stream_deleted(stream.name), i);
      const auto kind = stream.expected.kind();
      if (kind != ExpectedVersion::Kind::none && kind != ExpectedVersion::Kind::any)
        return refused(wrong_version(stream.name, stream.expected, SeqNr{0}), i);
      continue;
    }
    auto expected = stream.expected;
    if (is.is_deleted()) {
      if (expected.kind() == ExpectedVersion::Kind::exists)
        return refused(wrong_version(stream.name, expected, SeqNr{0}), i);
      expected = behind_delete(expected, is.version);
    }
    if (stream.written && is.state && is.state->metadata.is_deleted()) {
      append.events.push_back(
          metadata_event(stream.aggregate, with_first_revision(is.state->json, is.version_at_delete.value)));
      append.expectations.push_back(
          {*append.events.back().aggregate, ExpectedVersion::exactly(is.state->metadata_version)});
    }
    if (expected.kind() != ExpectedVersion::Kind::any) append.expectations.push_back({stream.aggregate, expected});
  }
  return append;
}

void StreamWrites::write(StreamWrite write, WriteDone done) {
  auto attempt = std::make_shared<Attempt>(Attempt{std::move(write), std::move(done)});
  attempt->known = states_.applied();
  if (!knows_enough() || !is_ordinary(attempt->write) || attempt->write.events.empty())
    return calls_.served.pool.run([this, attempt] { look_first(attempt); });
  begin(attempt);
}

bool StreamWrites::knows_enough() const {
  if (!states_.is_current()) return false;
  if (!others_write_) return true;
  const auto head = events_.head();
  return head && head->value <= states_.applied().value + unknown_most;
}

bool StreamWrites::is_ordinary(const StreamWrite& write) const {
  return std::ranges::none_of(write.streams, [this](const StreamExpected& stream) {
    if (is_metadata(stream.aggregate)) {
      const auto of = stream_of_metadata(stream.aggregate);
      const auto state = of ? states_.find(*of) : std::nullopt;
      return state && state->tombstoned;
    }
    const auto state = states_.find(stream.aggregate);
    return state && (state->tombstoned || state->deleted_at);
  });
}

/// In the caller's thread: what it sends one after the other is decided in that order.
void StreamWrites::begin(const AttemptPtr& attempt) {
  auto plan = plan_of(attempt->write, std::vector<LookedAt>(attempt->write.streams.size()));
  send(attempt, std::move(std::get<Append>(plan)));
}

Result<SeqNr> StreamWrites::version_of(const AggregateId& aggregate, const std::optional<StreamState>& state,
                                       std::optional<GlobalPosition> up_to) const {
  const auto info = events_.aggregate(aggregate, up_to);
  if (info) return info->version;
  if (info.error().code == ErrorCode::not_found) return state ? state->removed_version : SeqNr{0};
  return refuse(info.error());
}

/// In the pool.
void StreamWrites::look_first(const AttemptPtr& attempt) {
  attempt->looked = true;
  if (const auto there = states_.catch_up(); !there) return attempt->done(refusal_of(there.error()));
  attempt->known = states_.applied();
  const auto& write = attempt->write;
  std::vector<LookedAt> looked(write.streams.size());
  for (std::size_t i = 0; i < looked.size(); ++i) {
    const auto& stream = write.streams[i];
    if (is_metadata(stream.aggregate)) {
      const auto of = stream_of_metadata(stream.aggregate);
      const auto state = of ? states_.find(*of) : std::nullopt;
      if (state && state->tombstoned) return attempt->refused(stream_deleted(name_of(*of)), i);
    }
    looked[i].state = states_.find(stream.aggregate);
    const bool deleted = looked[i].state && looked[i].state->deleted_at;
    if (!deleted && !write.events.empty()) continue;
    const auto version = version_of(stream.aggregate, looked[i].state);
    if (!version) return attempt->done(refusal_of(version.error()));
    looked[i].version = *version;
    if (!deleted) continue;
    const auto at_delete = version_of(stream.aggregate, looked[i].state, looked[i].state->deleted_at);
    if (!at_delete) return attempt->done(refusal_of(at_delete.error()));
    looked[i].version_at_delete = *at_delete;
  }
  auto plan = plan_of(write, looked);
  if (auto* refused = std::get_if<Refusal>(&plan)) return attempt->done(std::move(*refused));
  if (!write.events.empty()) return send(attempt, std::move(std::get<Append>(plan)));
  StreamsWritten nothing;
  for (std::size_t i = 0; i < looked.size(); ++i) {
    const auto& stream = write.streams[i];
    const auto seen = looked[i].is_deleted() ? SeqNr{0} : looked[i].version;
    if (!stream.expected.holds_for(seen)) return attempt->refused(wrong_version(stream.name, stream.expected, seen), i);
    nothing.versions.push_back(looked[i].version);
  }
  attempt->done(nothing);
}

void StreamWrites::send(const AttemptPtr& attempt, Append append) {
  attempt->with_metadata = append.events.size() != attempt->write.events.size();
  // By the index of types: none at all, nearly always.
  if (others_write_ && std::ranges::any_of(attempt->write.streams, may_follow_an_end))
    append.fail_if(Query().types({std::string(stream_deleted_type)}), attempt->known);
  calls_.append(std::move(append), [this, attempt](const Result<Appended>& result) { answered(attempt, result); });
}

void StreamWrites::answered(const AttemptPtr& attempt, const Result<Appended>& result) {
  if (!result) {
    const auto code = result.error().code;
    if (code == ErrorCode::version_conflict)
      return calls_.served.pool.run([this, attempt, error = result.error()] { conflicting(attempt, error); });
    if (code == ErrorCode::condition_failed)
      return calls_.served.pool.run([this, attempt, error = result.error()] { ended_elsewhere(attempt, error); });
    if (code == ErrorCode::duplicate_event)
      return calls_.served.pool.run([this, attempt, error = result.error()] { known_already(attempt, error); });
    return attempt->done(refusal_of(result.error()));
  }
  StreamsWritten written;
  written.position = result->last_position;
  states_.answered_at(written.position);
  for (const auto& stream : attempt->write.streams) {
    const auto found = std::ranges::find(result->versions, stream.aggregate, &AggregateVersion::aggregate);
    written.versions.push_back(found == result->versions.end() ? SeqNr{0} : found->version);
    if (stream.written && is_metadata(stream.aggregate)) states_.changed_at(written.position);
  }
  const auto ends = [](const Event& event) { return event.type == stream_deleted_type; };
  if (attempt->with_metadata || std::ranges::any_of(attempt->write.events, ends)) states_.changed_at(written.position);
  attempt->done(written);
}

/// In the pool. A stream ended that this door knows nothing of yet, this one or another.
void StreamWrites::ended_elsewhere(const AttemptPtr& attempt, const Error& error) {
  if (++attempt->overtaken > overtaken_most) return attempt->done(refusal_of(error));
  if (error.details && error.details->position) states_.changed_at(*error.details->position);
  look_first(attempt);
}

/// In the pool. It may have been refused for a stream that was deleted and not known to be.
void StreamWrites::conflicting(const AttemptPtr& attempt, const Error& error) {
  if (!attempt->looked) {
    if (const auto there = states_.catch_up(); !there) return attempt->done(refusal_of(there.error()));
    if (!is_ordinary(attempt->write)) return look_first(attempt);
  }
  const auto& streams = attempt->write.streams;
  const auto* details = error.details.get();
  const auto which = static_cast<std::size_t>(
      std::ranges::find_if(
          streams, [&](const StreamExpected& s) { return details != nullptr && s.aggregate == details->aggregate; }) -
      streams.begin());
  if (which == streams.size()) return attempt->done(refusal_of(error));
  attempt->refused(wrong_version(streams[which].name, streams[which].expected, details->actual.value_or(SeqNr{0})),
                   which);
}

/// In the pool. Ids of theirs are unique in a stream only, and a part of what was written together may come again.
void StreamWrites::known_already(const AttemptPtr& attempt, const Error& error) {
  const auto& streams = attempt->write.streams;
  const auto& events = attempt->write.events;
  if (!error.details || !error.details->position) return attempt->done(refusal_of(error));
  const auto first = events_.event_at(*error.details->position);
  if (!first) return attempt->done(refusal_of(first.error()));
  const bool own = std::ranges::any_of(streams, [&](const auto& s) { return s.aggregate == first->aggregate; });
  if (!own) {
    if (attempt->renamed) return attempt->done(refusal_of(error));
    attempt->renamed = true;
    for (auto& event : attempt->write.events) rename_id(event);
    return attempt->looked ? look_first(attempt) : begin(attempt);
  }
  if (streams.size() == 1) {
    auto stored = events_.read(*first->aggregate, {.from = first->seq_nr, .limit = events.size()});
    StreamsWritten written;
    std::size_t same = 0;
    for (const auto& event : stored) {
      if (same < events.size() && event.id == events[same].id) ++same;
      written.position = event.position;
      written.versions.assign(1, event.seq_nr);
    }
    if (stored.error()) return attempt->done(refusal_of(*stored.error()));
    if (same == events.size()) return attempt->done(written);
  }
  const auto version = version_of(*first->aggregate, states_.find(*first->aggregate));
  if (!version) return attempt->done(refusal_of(version.error()));
  const auto which = static_cast<std::size_t>(
      std::ranges::find_if(streams, [&](const auto& s) { return s.aggregate == first->aggregate; }) - streams.begin());
  attempt->refused(wrong_version(streams[which].name, streams[which].expected, *version), which);
}

Result<std::vector<SeqNr>> StreamWrites::seen_now(const std::vector<StreamExpected>& streams) {
  EVERSHARD_TRY(states_.catch_up());
  std::vector<SeqNr> seen;
  for (const auto& stream : streams) {
    const auto state = states_.find(stream.aggregate);
    auto version = state && state->tombstoned ? Result<SeqNr>(SeqNr{0}) : version_of(stream.aggregate, state);
    if (!version) return refuse(std::move(version).error());
    if (state && state->deleted_at) {
      const auto at_delete = version_of(stream.aggregate, state, state->deleted_at);
      if (!at_delete) return refuse(at_delete.error());
      if (*at_delete == *version) *version = SeqNr{0};
    }
    seen.push_back(*version);
  }
  return seen;
}

void StreamWrites::remove(StreamExpected stream, WriteDone done) {
  calls_.served.pool.run([this, stream = std::move(stream), done = std::move(done)] {
    const auto failed = [&](const Error& error) { done(refusal_of(error)); };
    if (const auto there = states_.catch_up(); !there) return failed(there.error());
    const auto known = states_.applied();
    const auto state = states_.find(stream.aggregate);
    if (state && state->tombstoned) return done(stream_deleted(stream.name));
    const auto version = version_of(stream.aggregate, state);
    if (!version) return failed(version.error());
    SeqNr at_delete;
    if (state && state->deleted_at) {
      const auto was = version_of(stream.aggregate, state, state->deleted_at);
      if (!was) return failed(was.error());
      at_delete = *was;
    }
    const bool gone = at_delete.value != 0 && at_delete == *version;
    if (gone && stream.expected.kind() == ExpectedVersion::Kind::exists)
      return done(stream_deleted_already(stream.name));
    auto expected = gone ? behind_delete(stream.expected, *version) : stream.expected;
    // One that never was is no stream to be deleted, whatever is expected; one that has metadata is there.
    if ((version->value == 0 && !state) || !expected.holds_for(*version))
      return done(wrong_version(stream.name, stream.expected, *version));
    StreamWrite marked;
    auto metadata = metadata_of(stream.aggregate);
    if (!metadata) return failed(metadata.error());
    marked.streams.push_back(
        {name_of(*metadata), *metadata, ExpectedVersion::exactly(state ? state->metadata_version : SeqNr{0}), true});
    marked.streams.push_back({stream.name, stream.aggregate, ExpectedVersion::exactly(*version), false});
    if (stream.expected.kind() == ExpectedVersion::Kind::any) marked.streams.pop_back();
    marked.events.push_back(
        metadata_event(stream.aggregate, with_first_revision(state ? state->json : std::string(), deleted_mark)));
    auto attempt = std::make_shared<Attempt>(Attempt{std::move(marked), done});
    attempt->looked = true;
    attempt->known = known;
    begin(attempt);
  });
}

void StreamWrites::end(StreamExpected stream, WriteDone done) {
  StreamWrite last;
  Event event;
  event.aggregate = stream.aggregate;
  event.type = stream_deleted_type;
  event.format = PayloadFormat::json;
  event.payload = "{}";
  last.events.push_back(std::move(event));
  last.streams.push_back(std::move(stream));
  write(std::move(last), std::move(done));
}

}  // namespace evershard::kurrent
