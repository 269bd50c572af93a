#include "evershard/cli/commands.hpp"

namespace evershard::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      append_command(),
      read_command(),
      query_command(),
      tail_command(),
      snapshot_put_command(),
      snapshot_get_command(),
      snapshot_list_command(),
      import_command(),
      export_command(),
      init_command(),
      stats_command(),
      verify_command(),
      recover_command(),
      backup_command(),
      restore_command(),
      vacuum_command(),
      inspect_command(),
      bench_command(),
      aggregate_list_command(),
      aggregate_show_command(),
      aggregate_history_command(),
      aggregate_state_command(),
      types_add_command(),
      types_list_command(),
      types_remove_command(),
      serve_command(),
      node_command(),
      coordinator_command(),
      cluster_launch_command(),
      cluster_status_command(),
      cluster_assign_command(),
  };
  return table;
}

}  // namespace evershard::cli
