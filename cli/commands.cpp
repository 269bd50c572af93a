#include "evershard/cli/commands.hpp"

namespace evershard::cli {

// Each lies in the file of its command: named here, and listed below.
Command append_command();
Command read_command();
Command query_command();
Command tail_command();
Command position_command();
Command snapshot_put_command();
Command snapshot_get_command();
Command snapshot_list_command();
Command schedule_append_command();
Command schedule_list_command();
Command schedule_show_command();
Command schedule_cancel_command();
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
Command process_list_command();
Command process_describe_command();
Command process_instances_command();
Command process_parked_command();
Command process_stop_command();
Command process_resume_command();
Command process_retry_command();
Command process_skip_command();
Command process_replay_command();
Command timer_list_command();
Command timer_cancel_command();
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
Command cluster_log_command();
Command cluster_assign_command();
Command cluster_drain_command();
Command cluster_balance_command();
Command cluster_add_command();
Command cluster_remove_command();
Command cluster_move_command();
Command cluster_rebalance_command();
Command cluster_backup_command();
Command cluster_restore_command();
Command completion_command();
Command version_command();

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      append_command(),
      read_command(),
      query_command(),
      tail_command(),
      position_command(),
      snapshot_put_command(),
      snapshot_get_command(),
      snapshot_list_command(),
      schedule_append_command(),
      schedule_list_command(),
      schedule_show_command(),
      schedule_cancel_command(),
      import_command(),
      export_command(),
      copy_command(),
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
      index_create_command(),
      index_list_command(),
      index_read_command(),
      index_drop_command(),
      projection_create_command(),
      projection_change_command(),
      projection_list_command(),
      projection_describe_command(),
      projection_pause_command(),
      projection_resume_command(),
      projection_reset_command(),
      projection_rebuild_command(),
      projection_drop_command(),
      table_list_command(),
      table_describe_command(),
      table_select_command(),
      table_parked_command(),
      table_retry_command(),
      table_discard_command(),
      document_define_command(),
      document_definitions_command(),
      document_describe_command(),
      document_get_command(),
      document_list_command(),
      document_remove_command(),
      document_drop_command(),
      group_create_command(),
      group_change_command(),
      group_list_command(),
      group_describe_command(),
      group_work_command(),
      group_parked_command(),
      group_replay_command(),
      group_discard_command(),
      group_reset_command(),
      group_drop_command(),
      process_list_command(),
      process_describe_command(),
      process_instances_command(),
      process_parked_command(),
      process_stop_command(),
      process_resume_command(),
      process_retry_command(),
      process_skip_command(),
      process_replay_command(),
      timer_list_command(),
      timer_cancel_command(),
      types_add_command(),
      types_list_command(),
      types_remove_command(),
      retention_truncate_command(),
      retention_remove_command(),
      retention_erase_command(),
      retention_policy_command(),
      retention_drop_command(),
      retention_policies_command(),
      retention_run_command(),
      retention_log_command(),
      serve_command(),
      node_command(),
      coordinator_command(),
      cluster_launch_command(),
      cluster_status_command(),
      cluster_log_command(),
      cluster_assign_command(),
      cluster_drain_command(),
      cluster_balance_command(),
      cluster_add_command(),
      cluster_remove_command(),
      cluster_move_command(),
      cluster_rebalance_command(),
      cluster_backup_command(),
      cluster_restore_command(),
      completion_command(),
      version_command(),
  };
  return table;
}

const std::vector<CommandGroup>& command_groups() {
  static const std::vector<CommandGroup> table{
      {"snapshot", "Snapshots keep an aggregate's state, so that readers need not replay all of its events.",
       "evershard snapshot get order-1 --data shop"},
      {"schedule", "Scheduled appends store events at a later time, unless they are cancelled before.",
       "evershard schedule append --in 15min --data shop --aggregate order-1 --type Expired --expect 1"},
      {"aggregate", "Aggregates are the streams of a store: one for each order, account or customer.",
       "evershard aggregate list --data shop --type order --limit 20"},
      {"index", "Indexes find events by a query, or by a value in them, without reading the others.",
       "evershard index create by-city --data shop --type OrderPlaced --path '$.customer.city'"},
      {"projection", "Projections are tables and indexes that the store keeps up to date with its events.",
       "evershard projection create orders orders.json --data shop"},
      {"table", "Tables are projections whose rows have typed fields. Filters select rows.",
       "evershard table select orders --data shop --where \"total > 10\" --order -total --limit 20"},
      {"document", "Documents show the current state of aggregates as JSON, built from their events.",
       "evershard document define order order.json --data shop"},
      {"group", "Consumer groups let several workers share the events of one subscription.",
       "evershard group create billing --data shop --type OrderPlaced --from-now"},
      {"process", "Processes react to events with commands to aggregates. Here they are seen and mended.",
       "evershard process describe transfers --data shop"},
      {"timer", "Timers send aggregates commands at a later time.", "evershard timer list --data shop"},
      {"types", "Registered Protobuf types let the store show payloads as JSON.",
       "evershard types add bank.pb --data shop --alias deposited.v1=bank.Deposited"},
      {"retention", "Retention removes old events, whole aggregates and personal data, and logs what it removed.",
       "evershard retention policy carts --remove cart --keep 90d --data shop"},
      {"cluster", "A cluster is one store on several nodes.", "evershard cluster launch 3 --data cluster"},
  };
  return table;
}

const CommandGroup* command_group(std::string_view word) {
  for (const auto& group : command_groups()) {
    if (word == group.word) return &group;
  }
  return nullptr;
}

}  // namespace evershard::cli
