// What the commands about projections have in common: how one is shown, listed and asked, which rows are read.

#pragma once

#include <chrono>
#include <functional>

#include "evershard/cli/command.hpp"
#include "evershard/cluster/store/projections.hpp"

namespace evershard::cli {

/// A definition's text; `-` is standard input. Errors: not_found, io, too_large
[[nodiscard]] Result<std::string> read_definition(const std::string& path);

/// --at-least, --version.
void add_rows_flags(Options& options);
[[nodiscard]] RowsAsked rows_asked(const Arguments& arguments);
/// --timeout.
[[nodiscard]] std::chrono::milliseconds rows_timeout(const Arguments& arguments);

/// Of one just made or changed: with --wait, once its newest version is read and has passed `head`.
[[nodiscard]] Outcome print_made(const Invocation& invocation, OpenedStore& store, Result<ProjectionInfo> made, GlobalPosition head);
void print_projection(const Invocation& invocation, const ProjectionInfo& info);
[[nodiscard]] Outcome list_projections(const Invocation& invocation, const std::function<bool(const ProjectionInfo&)>& which);
/// Of the one named NAME, if it is one of `which`.
[[nodiscard]] Outcome ask_projection(const Invocation& invocation, Projections::Ask what, const std::function<bool(const ProjectionInfo&)>& which);

}  // namespace evershard::cli
