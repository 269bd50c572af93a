// What the commands about projections have in common: how one is shown, listed and asked, which rows are read.

#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "evershard/api/projections.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {

/// A definition's text; `-` is standard input. Errors: not_found, io, too_large
[[nodiscard]] Result<std::string> read_definition(const std::string& path);

/// Of a create: --if-absent.
[[nodiscard]] inline IfThere if_there(const Arguments& arguments) {
  return arguments.has("if-absent") ? IfThere::give : IfThere::refuse;
}

/// --at-least, --version.
void add_rows_flags(Options& options);
[[nodiscard]] RowsAsked rows_asked(const Arguments& arguments);
/// How long rows are waited for: of a server --timeout; else this process builds them itself, and goes on until it has.
[[nodiscard]] std::chrono::milliseconds rows_timeout(const Invocation& invocation);
/// The same of a read that waits for `at_least`: what the store does not have nobody else writes.
[[nodiscard]] std::chrono::milliseconds rows_timeout(const Invocation& invocation, OpenedStore& store,
                                                     std::optional<GlobalPosition> at_least);

/// At once; then Ctrl-C is looked for.
inline constexpr std::chrono::milliseconds rows_wait{200};

/// Reads rows, waiting for them rows_timeout(), and hears Ctrl-C meanwhile.
///
/// Shape: `asked` has at_least and timeout; `read`: Result<T>(), with those
/// Errors: those of `read`; cancelled
template <class Asked, class Read>
[[nodiscard]] auto read_when_there(const Invocation& invocation, OpenedStore& store, Asked& asked, Read read) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + rows_timeout(invocation, store, asked.at_least);
  const bool elsewhere = invocation.server().has_value();
  for (;;) {
    const auto left =
        std::max(std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()), std::chrono::milliseconds(0));
    asked.timeout = elsewhere ? left : std::min<std::chrono::milliseconds>(left, rows_wait);
    auto rows = read();
    if (rows || rows.error().code != ErrorCode::timeout || asked.timeout == left) return rows;
    if (interrupted())
      return decltype(rows)(refuse(ErrorCode::cancelled, "stopped before the rows were there: " + rows.error().what));
  }
}
/// How something is: of a server at once; a process that has just opened the store looks until it no longer `begins`, a
/// moment at most: what stops a projection is found where it is worked on, not on the disk.
template <class Look, class Begins>
[[nodiscard]] auto once_looked_at(const Invocation& invocation, Look look, Begins begins) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  auto seen = look();
  while (!invocation.server() && seen && begins(*seen) && !interrupted() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    seen = look();
  }
  return seen;
}
/// Whether one of its versions is building, behind the store.
[[nodiscard]] bool is_building(const ProjectionInfo& info);
/// A list that was told to stop in its middle.
[[nodiscard]] Failed stopped_in_the_middle(ListPrinter& list);

/// Of one just made or changed: with --wait, once its newest version is read and has passed `head`.
[[nodiscard]] Outcome print_made(const Invocation& invocation, OpenedStore& store, Result<ProjectionInfo> made,
                                 GlobalPosition head);
void print_projection(const Invocation& invocation, const ProjectionInfo& info);
[[nodiscard]] Outcome list_projections(const Invocation& invocation,
                                       const std::function<bool(const ProjectionInfo&)>& which);
/// Of the one named NAME, if it is one of `which`.
[[nodiscard]] Outcome ask_projection(const Invocation& invocation, Projections::Ask what,
                                     const std::function<bool(const ProjectionInfo&)>& which);

}  // namespace evershard::cli
