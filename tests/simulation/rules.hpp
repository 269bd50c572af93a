// Rules: the ordering rules as the simulation plays them. One of them can be switched off, to see that its absence is
// found.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace evershard::simulation {

/// Each is a promise broken around the real classes: what they are told, or what is done with their actions.
enum class Off : std::uint8_t {
  nothing,
  log_epoch,         // 1: a put of an older epoch is taken
  log_sync,          // 1: a put is not synced
  empty_window,      // 2: a new coordinator pretends to know what came before
  refused_put_ends,  // 2: a refused put is taken for a good one
  tail_check,        // 3: a shard is opened whatever its disk has lost
  own_promise,       // 3: an opening for the node is taken by any process of it
  report_epoch,      // 4: a report counts under whatever epoch
  report_joins,      // 4: a report counts from wherever the last one ended
  one_put,           // 5, 8: the cut is told, and the next one made, before the put has returned
  verdict,           // 6: conditions are not judged
  unknown_digests,   // 7: an event without digests does not move the window
  durable_report,    // 9: what is not synced is reported
  whole_report,      // 9: parts of an append are reported as appends of their own
  report_again,      // 9: nothing is reported again
  cuts_in_order,     // 10: a cut is applied as it comes
  missing_cuts,      // 10: what is missing is not asked for
  log_end,           // 10: a coordinator that knows less is followed
  one_write,         // 11: n and w are written before what they stand for
  fence,             // 12: a newer epoch does not stop a writer, and its cuts are taken for one's own
  page_waits,        // 13: a page is answered before the cuts are applied
  page_of_opened,    // 13: a page is answered by a shard that was not opened
  // Of the writers, with the real ones:
  ids_looked_up,         // 14: nobody looks whether a request is stored
  conditions_looked_up,  // 16: `from` is raised without a query
  tail_recovered,        // 17: what was written and not ordered is forgotten at a start, and its offsets are used again
  sync_first,            // 17: what is written counts as durable
  refusal_confirmed,     // 18: a refusal by terms is taken for a match
  begins_synced,         // a writer begins before its opening is synced
  cut_since,             // 19: what is missing is missing as of any cut
  begins_anew,           // a writer whose shard goes on behind a loss goes on with what it remembers
  names_told,            // 14: the order is not told of ids
  builds_told,           // 15: the order is not told what builds on what
  // Of the cut log's checkpoints:
  fold_held,  // cuts are given up that their shards' owners do not hold
  held_sync,  // a node says that it holds what it has applied and not synced
  // Of snapshots:
  snapshot_waits,      // one is written with its append, before that has a place
  snapshot_named,      // nobody looks whether the version that one names is the one its append leaves
  snapshot_recovered,  // those of what was written and not ordered are forgotten at a start
  snapshot_over_loss,  // an aggregate is loaded over what was given up, and nobody is told
  // Of replicas:
  quorum_gate,     // 9: what only the writer has synced is reported
  shipped_sync,    // a follower says that it has what it has not synced
  take_off,        // 21: what the writer before left behind the cuts stays
  take_off_epoch,  // 21: what goes goes without the epoch
  shipped_epoch,   // what an older writer ships is taken
  shipped_joins,   // what does not join on is taken
  loss_opened,     // 22: whose disk lacks something is opened
  hello_since,     // 22: the next writer is chosen by what was said before the last one went
  known_first,     // 21: a cut that cannot be applied yet, and what is behind it, goes unnoticed
  ships_at_once,   // the next writer ships only once it is opened
  narrowed,        // a replica leaves whatever the others have
  named_process,   // 31: whoever has a node's number counts as it
  counted_again,   // 31: a report is taken though a replica that it counted is another process since
  rows_asked,      // 26: a new writer goes on with the row log that it has
  rows_whole,      // 26: a disk that was lost says that it has forgotten nothing
  rows_late,       // what one alone had is asked of nobody once a writer has asked a quorum
  rows_version,    // what one alone had takes the place of what was answered since
  rows_replaced,   // what a later entry took the place of counts as sent with the number behind it
  rows_owed,       // that a state is to be logged once more is in memory alone, and entries are sent meanwhile
  rows_anew,       // what was answered is not told to who had something else alone
  // Of timers, scheduled appends and processes:
  timer_condition,       // a timer fires though it was cancelled or set anew
  calendar_time,         // who fires a timer by calendar sets it an hour behind its next time
  due_clock,             // what is due is so by a clock that is not that of who does it
  command_ids,           // nobody looks whether a command was decided before
  process_taken,         // a rejection is reacted to though somebody else has taken the process over
  process_reads_first,   // who takes a process over sends commands before he knows which were rejected
  schedule_expectation,  // a scheduled append is made though its schedule has changed
  // Of the links between processes, with the real sessions:
  link_unknown,  // what was under way when a session ended is said not to have been sent
  link_again,    // what was under way when a session ended is sent again in the next one
  link_credit,   // what was done with is not given back
  link_silence,  // nobody notices that a peer is silent
  link_expiry,   // nobody's time is over
};

struct Mutant {
  Off off;
  std::string_view name;
  std::uint64_t seed;  ///< about where it is found
  bool real_writers = false;
  bool links = false;
  std::uint64_t steps = 10'000;
  bool aggregates = false;
  std::uint32_t replicas = 1;
  bool changing_sets = false;
  bool processes = false;
  bool row_logs = false;
};
inline constexpr std::array mutants{
    Mutant{Off::log_epoch, "log_epoch", 2},
    Mutant{Off::log_sync, "log_sync", 1},
    Mutant{Off::empty_window, "empty_window", 1},
    Mutant{Off::refused_put_ends, "refused_put_ends", 5},
    Mutant{Off::tail_check, "tail_check", 6},
    Mutant{Off::own_promise, "own_promise", 6},
    Mutant{Off::report_epoch, "report_epoch", 125},
    Mutant{Off::report_joins, "report_joins", 1},
    Mutant{Off::one_put, "one_put", 1},
    Mutant{Off::verdict, "verdict", 1},
    Mutant{Off::unknown_digests, "unknown_digests", 6},
    Mutant{Off::durable_report, "durable_report", 1},
    Mutant{Off::whole_report, "whole_report", 1},
    Mutant{Off::report_again, "report_again", 1},
    Mutant{Off::cuts_in_order, "cuts_in_order", 1},
    Mutant{Off::missing_cuts, "missing_cuts", 1},
    Mutant{Off::log_end, "log_end", 4},
    Mutant{Off::one_write, "one_write", 145},
    Mutant{Off::fence, "fence", 19},
    Mutant{Off::page_waits, "page_waits", 1},
    Mutant{Off::page_of_opened, "page_of_opened", 1},
    Mutant{Off::ids_looked_up, "ids_looked_up", 10, true},
    Mutant{Off::conditions_looked_up, "conditions_looked_up", 1, true},
    Mutant{Off::tail_recovered, "tail_recovered", 4, true},
    Mutant{Off::sync_first, "sync_first", 2, true},
    Mutant{Off::refusal_confirmed, "refusal_confirmed", 3, true},
    Mutant{Off::begins_synced, "begins_synced", 398, true},
    Mutant{Off::cut_since, "cut_since", 63, true},
    Mutant{Off::begins_anew, "begins_anew", 196, true},
    Mutant{Off::names_told, "names_told", 46, true},
    Mutant{Off::builds_told, "builds_told", 10, true},
    Mutant{Off::fold_held, "fold_held", 1},
    Mutant{Off::held_sync, "held_sync", 110},
    Mutant{Off::snapshot_waits, "snapshot_waits", 1, true, false, 10'000, true},
    Mutant{Off::snapshot_named, "snapshot_named", 1, true, false, 10'000, true},
    Mutant{Off::snapshot_recovered, "snapshot_recovered", 1, true, false, 10'000, true},
    Mutant{Off::snapshot_over_loss, "snapshot_over_loss", 4, true, false, 10'000, true},
    Mutant{Off::quorum_gate, "quorum_gate", 1, true, false, 20'000, false, 3},
    Mutant{Off::shipped_sync, "shipped_sync", 1, true, false, 20'000, false, 3},
    Mutant{Off::take_off, "take_off", 1, true, false, 20'000, false, 3},
    Mutant{Off::take_off_epoch, "take_off_epoch", 75, true, false, 20'000, false, 3},
    Mutant{Off::shipped_epoch, "shipped_epoch", 40, true, false, 20'000, false, 3},
    Mutant{Off::shipped_joins, "shipped_joins", 1, true, false, 20'000, false, 3},
    Mutant{Off::loss_opened, "loss_opened", 1, true, false, 20'000, false, 3},
    Mutant{Off::hello_since, "hello_since", 1, true, false, 20'000, false, 3},
    Mutant{Off::known_first, "known_first", 1, true, false, 20'000, false, 3},
    Mutant{Off::ships_at_once, "ships_at_once", 1, true, false, 20'000, false, 3},
    Mutant{Off::narrowed, "narrowed", 160, true, false, 20'000, false, 3, true},
    Mutant{Off::named_process, "named_process", 6, true, false, 20'000, false, 3},
    Mutant{Off::counted_again, "counted_again", 495, true, false, 20'000, false, 3},
    Mutant{Off::rows_asked, "rows_asked", 1, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_whole, "rows_whole", 38, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_late, "rows_late", 1, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_version, "rows_version", 1, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_replaced, "rows_replaced", 600, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_owed, "rows_owed", 325, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::rows_anew, "rows_anew", 30, true, false, 20'000, false, 3, false, false, true},
    Mutant{Off::timer_condition, "timer_condition", 1, true, false, 8'000, false, 3, false, true},
    Mutant{Off::due_clock, "due_clock", 1, true, false, 8'000, false, 3, false, true},
    Mutant{Off::calendar_time, "calendar_time", 1, true, false, 8'000, false, 3, false, true},
    Mutant{Off::process_reads_first, "process_reads_first", 24, true, false, 8'000, false, 1, false, true},
    Mutant{Off::process_taken, "process_taken", 290, true, false, 8'000, false, 1, false, true},
    Mutant{Off::command_ids, "command_ids", 1, true, false, 8'000, false, 3, false, true},
    Mutant{Off::schedule_expectation, "schedule_expectation", 1, true, false, 8'000, false, 3, false, true},
    Mutant{Off::link_unknown, "link_unknown", 1, true, true, 30'000},
    Mutant{Off::link_again, "link_again", 1, true, true, 30'000},
    Mutant{Off::link_credit, "link_credit", 1, true, true, 30'000},
    Mutant{Off::link_silence, "link_silence", 4, true, true, 30'000},
    Mutant{Off::link_expiry, "link_expiry", 1, true, true, 30'000},
};

}  // namespace evershard::simulation
