// Failure: how a command ends that does not end well; the exit status of each class of failure.

#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::cli {

class Program;

/// Fixed: scripts stand on it. Source: docs/command-line.md, "Exit status".
enum class Exit : int {
  done = 0,
  usage = 2,     ///< the command line itself is wrong; nothing was done
  conflict = 3,  ///< version_conflict, condition_failed, duplicate_event
  not_found = 4,
  invalid = 5,      ///< invalid_argument, invalid_query, too_large
  unavailable = 6,  ///< unavailable, overloaded, wrong_shard, fenced
  timeout = 7,      ///< the outcome is unknown
  corruption = 8,
  io = 9,
  denied = 10,        ///< unauthenticated, permission_denied
  interrupted = 130,  ///< Ctrl-C, SIGTERM: stopped cleanly, and said how far it came
};

/// A mistake in the command line. Thrown and caught inside cli/ only.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& what, std::string hint_text = {})
      : std::runtime_error(what), hint(std::move(hint_text)) {}
  std::string hint;
};

/// A value on the command line that no store would take. Thrown and caught inside cli/ only.
struct RefusedValue : std::runtime_error {
  explicit RefusedValue(Error e) : std::runtime_error(e.what), error(std::move(e)) {}
  Error error;
};

/// For help and the man page: a word for each, in order.
struct ExitWord {
  Exit exit;
  const char* word;
};
[[nodiscard]] const std::vector<ExitWord>& exit_words();

struct Failure {
  Error error;
  std::string hint{};                   ///< what to do about it
  std::optional<std::uint64_t> line{};  ///< of the input
  std::vector<std::pair<std::string, std::uint64_t>>
      figures{};       ///< how far it came; in JSON only: `error.what` says it too
  bool quiet = false;  ///< prints nothing: the reader of the output went away

  Failure(Error e) : error(std::move(e)) {}  // NOLINT: an Error is a Failure wherever one is returned
  Failure(Error e, std::string h) : error(std::move(e)), hint(std::move(h)) {}
  Failure(ErrorCode code, std::string what, std::string h = {}) : error(code, std::move(what)), hint(std::move(h)) {}
};

/// How a command ends.
using Outcome = tl::expected<void, Failure>;
using Failed = tl::unexpected<Failure>;

[[nodiscard]] Exit exit_of(ErrorCode code);

/// The line on standard error, with its end. `evershard: line 17: version_conflict: ...`, or one JSON object.
[[nodiscard]] std::string text_of(const Failure& failure, const Program& program, bool as_json);
[[nodiscard]] std::string text_of(const UsageError& error, const Program& program, std::string_view command,
                                  bool as_json);

}  // namespace evershard::cli
