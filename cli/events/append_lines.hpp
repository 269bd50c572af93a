// AppendLines: a file of appends into a store; one line is one append. What `append --jsonl` and `import` share.

#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/append_pipeline.hpp"
#include "evershard/cli/events/line_reader.hpp"
#include "evershard/protocol/limits.hpp"

namespace evershard::cli {

/// What became of the lines so far.
struct LineTally {
  std::uint64_t lines_stored = 0;
  std::uint64_t events_stored = 0;
  std::uint64_t events_known = 0;  ///< stored already, by an earlier run
  std::uint64_t snapshots_stored = 0;
  std::uint64_t snapshots_known = 0;  ///< of this version, or a later one
  std::uint64_t lines_refused = 0;
  std::uint64_t last_line = 0;  ///< answered
  std::optional<Failure> first_refusal;
  std::uint64_t lines_stored_before_refusal = 0;
};

class AppendLines {
 public:
  struct Settings {
    LineRules rules = LineRules::append;
    Limits limits{};
    bool go_on = false;         ///< after a bad line
    bool keep_numbers = false;  ///< an event that says its number in its aggregate gets that one, or is refused
    AppendPipeline::Bounds in_flight{};
    std::size_t line_bytes_max = line_bytes_max_default;
  };

  /// Looks at an answer before it is counted; may turn a refusal into an answer.
  using Settle = std::function<Result<Appended>(const AppendLine& input, Result<Appended> result)>;

  /// Looks at a line before it is sent; an answer where it need not be.
  using Known = std::function<std::optional<Appended>(const AppendLine& input)>;

  AppendLines(const Invocation& invocation, EventStore& store, Settings settings, Settle settle = {}, Known known = {})
      : invocation_(invocation),
        store_(store),
        settings_(settings),
        settle_(std::move(settle)),
        known_(std::move(known)) {}

  /// Reads to the end, to the first bad line, or to Ctrl-C; everything sent is answered before it returns.
  /// Errors: the first refusal, with how far it came; io
  Outcome run(const std::string& path, const AppendPipeline::OnAnswer& on_answer);
  [[nodiscard]] const LineTally& tally() const { return tally_; }

 private:
  [[nodiscard]] Result<void> check_line(AppendLine& input) const;
  void count(std::uint64_t line, const AppendLine& input, const Result<Appended>& result);
  Result<void> put_snapshot(Snapshot snapshot);
  Result<void> feed(LineReader& reader, std::uint64_t total_bytes, AppendPipeline& pipeline,
                    const AppendPipeline::OnAnswer& on_answer);
  [[nodiscard]] Outcome outcome() const;

  const Invocation& invocation_;
  EventStore& store_;
  Settings settings_;
  Settle settle_;
  Known known_;
  LineTally tally_;
  std::atomic<bool> stop_{false};
};

/// The flags of both: --in-flight, --line-bytes-max, --continue.
void add_line_flags(Options& options);
[[nodiscard]] AppendLines::Settings line_settings_of(const Arguments& arguments);

}  // namespace evershard::cli
