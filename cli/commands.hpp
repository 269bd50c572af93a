// The table of commands. Each of these functions lies in a file of its own.

#pragma once

#include <vector>

#include "evershard/cli/command.hpp"

namespace evershard::cli {

Command append_command();
Command read_command();
Command query_command();
Command tail_command();
Command snapshot_put_command();
Command snapshot_get_command();
Command snapshot_list_command();
Command import_command();
Command export_command();
Command init_command();
Command stats_command();
Command verify_command();
Command recover_command();
Command backup_command();
Command restore_command();
Command vacuum_command();
Command inspect_command();
Command bench_command();
Command aggregate_list_command();
Command aggregate_show_command();
Command aggregate_history_command();
Command aggregate_state_command();
Command types_add_command();
Command types_list_command();
Command types_remove_command();
Command serve_command();
Command node_command();
Command coordinator_command();
Command cluster_launch_command();
Command cluster_status_command();
Command cluster_assign_command();

/// In the order of --help, groups together.
[[nodiscard]] const std::vector<Command>& commands();

}  // namespace evershard::cli
