// The table of commands. Each of these functions lies in a file of its own.

#pragma once

#include <string_view>
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
Command copy_command();
Command init_command();
Command stats_command();
Command verify_command();
Command recover_command();
Command backup_command();
Command restore_command();
Command vacuum_command();
Command inspect_command();
Command bench_command();
Command group_create_command();
Command group_change_command();
Command group_list_command();
Command group_describe_command();
Command group_work_command();
Command group_parked_command();
Command group_replay_command();
Command group_discard_command();
Command group_reset_command();
Command group_drop_command();
Command aggregate_list_command();
Command aggregate_show_command();
Command aggregate_history_command();
Command aggregate_state_command();
Command index_create_command();
Command index_list_command();
Command index_read_command();
Command index_drop_command();
Command projection_create_command();
Command projection_change_command();
Command projection_list_command();
Command projection_describe_command();
Command projection_pause_command();
Command projection_resume_command();
Command projection_reset_command();
Command projection_rebuild_command();
Command projection_drop_command();
Command table_list_command();
Command table_describe_command();
Command table_select_command();
Command table_parked_command();
Command table_retry_command();
Command table_discard_command();
Command document_define_command();
Command document_definitions_command();
Command document_describe_command();
Command document_get_command();
Command document_list_command();
Command document_remove_command();
Command document_drop_command();
Command types_add_command();
Command types_list_command();
Command types_remove_command();
Command retention_truncate_command();
Command retention_remove_command();
Command retention_erase_command();
Command retention_policy_command();
Command retention_drop_command();
Command retention_policies_command();
Command retention_run_command();
Command retention_log_command();
Command serve_command();
Command node_command();
Command coordinator_command();
Command cluster_launch_command();
Command cluster_status_command();
Command cluster_assign_command();

Command completion_command();
Command version_command();

/// The commands of two words that begin with the same one.
struct CommandGroup {
  const char* word;
  const char* sentence;  ///< what they are for
  const char* example;
};
[[nodiscard]] const std::vector<CommandGroup>& command_groups();
/// Null: no command of two words begins with it.
[[nodiscard]] const CommandGroup* command_group(std::string_view word);

/// In the order of --help, groups together.
[[nodiscard]] const std::vector<Command>& commands();

}  // namespace evershard::cli
