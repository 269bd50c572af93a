#include "evershard/actors/core/check_versions.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

Error conflict(const storage::EncodedAggregate& aggregate, ExpectedVersion expected, SeqNr actual) {
  ErrorDetails details;
  details.aggregate = aggregate.id;
  details.expected = expected;
  details.actual = actual;
  const std::string is = actual.value == 0 ? " does not exist" : " is at version " + std::to_string(actual.value);
  return {ErrorCode::version_conflict,
          "stream " + in_quotes(aggregate.text) + is + ", the append expects " + expected.text(), std::move(details)};
}

bool more_is_expected(ExpectedVersion expected, SeqNr actual) {
  switch (expected.kind()) {
    case ExpectedVersion::Kind::exists:
      return actual.value == 0;
    case ExpectedVersion::Kind::exactly:
      return actual < expected.number();
    case ExpectedVersion::Kind::any:
    case ExpectedVersion::Kind::none:
      return false;
  }
  return false;
}

}  // namespace

std::optional<VersionConflict> check_versions(const Prepared& prepared, std::span<const storage::StreamHead> heads,
                                              std::uint64_t last_writer, std::span<const std::uint8_t> elsewhere) {
  const auto skipped = [&](std::uint32_t aggregate) { return !elsewhere.empty() && elsewhere[aggregate] != 0; };
  const auto refused = [&](std::uint32_t aggregate, ExpectedVersion expected) {
    const SeqNr actual = heads[aggregate].version;
    return VersionConflict{aggregate, more_is_expected(expected, actual),
                           conflict(prepared.aggregate(aggregate), expected, actual)};
  };
  for (const auto& expected : prepared.expected) {
    if (skipped(expected.aggregate)) continue;
    if (!expected.version.holds_for(heads[expected.aggregate].version))
      return refused(expected.aggregate, expected.version);
    // The version holds, but perhaps over events that the writer never saw. One that memory has forgotten was long ago:
    // the same.
    if (prepared.chain.follows && last_writer != prepared.chain.writer) {
      auto decision = refused(expected.aggregate, expected.version);
      decision.error.what += " of events that its writer has seen";
      return decision;
    }
  }
  // A snapshot that names the version the append leaves expects the one before it.
  for (const auto& snapshot : prepared.append.snapshots) {
    const SeqNr named = snapshot.snapshot.version;
    if (named.value == 0 || skipped(snapshot.aggregate)) continue;
    const auto& events = prepared.append.events;
    const auto count = static_cast<std::uint64_t>(
        std::count_if(events.begin(), events.end(), [&](const auto& e) { return e.aggregate == snapshot.aggregate; }));
    if (named != heads[snapshot.aggregate].version + count) {
      return refused(snapshot.aggregate, ExpectedVersion::exactly(named.value - count));
    }
  }
  return std::nullopt;
}

}  // namespace evershard::actors
