// Command: one entry of the table of commands; Invocation: what it runs with.

#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "evershard/api/json/output.hpp"
#include "evershard/cli/failure.hpp"
#include "evershard/cli/opened_store.hpp"
#include "evershard/cli/options.hpp"
#include "evershard/cli/program.hpp"
#include "evershard/cli/terminal.hpp"

namespace evershard::cli {

struct Invocation {
  const Arguments& arguments;
  const Program& program;
  const Terminal& terminal;
  Format format;
  Output& out;

  [[nodiscard]] bool for_people() const { return format == Format::table; }
  /// --data, else EVERSHARD_DATA. Throws UsageError where neither is given.
  [[nodiscard]] std::filesystem::path data_dir() const;
  /// Whether there is anything at --data. Errors: not_found, with what creates it
  [[nodiscard]] Outcome look_for_store() const;
  /// The server to speak to: --server, else EVERSHARD_SERVER where no --data is given. Absent: none. Throws UsageError
  /// where both are given.
  [[nodiscard]] std::optional<RemoteOptions> server() const;
  enum class Keys : std::uint8_t {
    there,
    created
  };  ///< `created`: for commands that write payloads, which may be the first that are sealed

  /// The server's store, or the one in --data, which is there. Errors: not_found, with what creates it, or of the keys'
  /// directory; those of Local::open
  [[nodiscard]] tl::expected<OpenedStore, Failure> open(Keys keys = Keys::there, LocalOptions options = {}) const;
  /// The same, for commands that only read events: nothing in --data changes, and nothing that is due is done. Errors:
  /// as open()
  [[nodiscard]] tl::expected<OpenedStore, Failure> look() const;
};

/// A file a command. `sentence`, `example` and `details` are for --help.
struct Command {
  const char* name;  ///< one word or two
  const char* group;
  const char* sentence;
  const char* example;
  Options (*options)();  ///< without --format and --help, which all have
  Outcome (*run)(const Invocation& invocation);
  void (*options_with_aggregates)(Options& options) = nullptr;  ///< more, where the program has aggregates
  const char* details = "";                                     ///< what one sentence does not say
};

/// --data, for commands that need the store's directory to themselves.
Options data_options();
/// --data, or --server and what goes with it, for commands that work on a store wherever it is.
Options store_options();
/// How long a server may take to answer, unless --timeout says otherwise. A node answers an append before.
constexpr std::chrono::milliseconds answer_timeout = std::chrono::seconds(10);
/// Of flags that say how long to wait: a bare number is seconds, and a clock bears it.
[[nodiscard]] DurationRule wait_rule();
/// --timeout. Mistakes are UsageError.
[[nodiscard]] std::chrono::milliseconds server_timeout(const Arguments& arguments);

}  // namespace evershard::cli
