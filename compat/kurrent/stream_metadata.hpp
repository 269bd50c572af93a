// A stream's metadata as clients write it, and what of the stream it leaves to be seen. Decisions only.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::kurrent {

inline constexpr std::string_view metadata_event_type = "$metadata";
/// The last event of a stream that is gone for good.
inline constexpr std::string_view stream_deleted_type = stream_ended_type;
/// `$tb` of a stream that was deleted and may be written again.
inline constexpr std::uint64_t deleted_mark = std::numeric_limits<std::int64_t>::max();

/// What of a stream's metadata says what is to be seen; all else in it (`$acl`, keys of an application's) is kept.
struct StreamMetadata {
  std::optional<std::uint64_t> count_max{};  ///< $maxCount
  std::optional<std::uint64_t> age_max_s{};  ///< $maxAge, seconds
  std::optional<std::uint64_t> from{};       ///< $tb: the first revision that is there

  [[nodiscard]] bool is_deleted() const { return from && *from >= deleted_mark; }
  friend bool operator==(const StreamMetadata&, const StreamMetadata&) = default;
};

/// Of the JSON in a `$metadata` event. What is no JSON, nests deeper than 100, or has another type than it should, says
/// nothing.
[[nodiscard]] StreamMetadata metadata_from(std::string_view json);
/// The same JSON with another `$tb`. What is no JSON object is replaced by one.
[[nodiscard]] std::string with_first_revision(std::string_view json, std::uint64_t from);

/// What of a stream is to be seen: events from `first` on that are not older than `not_before`.
struct Visible {
  SeqNr first{1};
  std::optional<Timestamp> not_before{};

  [[nodiscard]] bool shows(SeqNr seq_nr, Timestamp occurred_at) const {
    return seq_nr >= first && (!not_before || occurred_at >= *not_before);
  }
};

/// `version`: the stream's; `version_at_delete`: what it was when it was last deleted (0: never).
[[nodiscard]] Visible visible_of(const StreamMetadata& metadata, SeqNr version, SeqNr version_at_delete, Timestamp now);

}  // namespace evershard::kurrent
