// The JSON shapes of an append: what comes in, its answer, its refusal.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard {

/// An append from one line, and where its events stood when they were exported.
struct AppendLine {
  struct Place {
    GlobalPosition position;
    SeqNr seq_nr;
  };
  Append append;
  std::vector<Place> places;           ///< one an event; 0 where the line does not say
  bool expects_numbers = false;        ///< the append has the numbers of `places` as expectations
  std::optional<Snapshot> snapshot{};  ///< of an export: instead of an append
};

enum class LineRules : std::uint8_t {
  append,  ///< the place of an event is the store's to give: position, shard, offset, seq_nr are refused
  import,  ///< they are read; every event names its id, so that the line can be given again
};

/// `{"events":[...],"expect"?:[...],"fail_if"?:[...],"snapshots"?:[...],"request_id"?}`, or a bare event: an append of
/// one.
///
/// What is imported may be `{"snapshot":{...}}` too, a snapshot alone; and its events may be ones whose content is
/// gone.
///
/// Shape:  the append still has to pass protocol/validate.
/// Errors: invalid_argument, invalid_query, too_large, each with the path
/// Source: docs/json.md, "An append"
[[nodiscard]] Result<AppendLine> read_append(std::string_view line, LineRules rules);

/// `any`, `none`, `exists` or a number. Errors: invalid_argument
[[nodiscard]] Result<ExpectedVersion> read_expected(std::string_view text);

/// What read_append reads, with `expect`, `fail_if` and `snapshots` where there are some.
void write_append(JsonText& json, const Append& append);
void write_appended(JsonText& json, const Appended& appended);
/// code, message, line and the details: the members of an `error` object.
void write_error_members(JsonText& json, const Error& error, std::optional<std::uint64_t> line);

}  // namespace evershard
