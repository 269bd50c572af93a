// Steps: the names under which StoreOptions::at_step is called. Tests stop, fail or kill the process there.

#pragma once

namespace evershard::storage::steps {

// Opening, in this order.
inline constexpr const char* open_locked = "open.locked";    ///< RocksDB is open, its log replayed and flushed
inline constexpr const char* open_created = "open.created";  ///< a new store: before its identity is written
inline constexpr const char* open_identified = "open.identified";
inline constexpr const char* open_learned =
    "open.learned";  ///< only where something was learned: between two parts of taking it in, and behind the last
inline constexpr const char* open_given_up =
    "open.given_up";  ///< only where something was given up: between two parts of taking it off, and behind the last
inline constexpr const char* open_clearing =
    "open.clearing";  ///< only where indexes are dropped: the mark is, they are not
inline constexpr const char* open_cleared = "open.cleared";  ///< dropped, not yet rebuilt
inline constexpr const char* open_rebuilt = "open.rebuilt";  ///< the tail is back

// Staging and committing.
inline constexpr const char* stage_done = "stage.done";
inline constexpr const char* commit_begin = "commit.begin";      ///< before the write
inline constexpr const char* commit_written = "commit.written";  ///< synced, not in MARK
inline constexpr const char* commit_marked = "commit.marked";    ///< in MARK, not shown to readers
inline constexpr const char* commit_shown = "commit.shown";

// Sealing.
inline constexpr const char* seal_begin = "seal.begin";
inline constexpr const char* seal_sorting = "seal.sorting";    ///< between two steps of sorting
inline constexpr const char* seal_rows = "seal.rows";          ///< between two steps of writing rows
inline constexpr const char* seal_file = "seal.file";          ///< a family's file is complete and synced
inline constexpr const char* seal_written = "seal.written";    ///< all files are, and the mark's
inline constexpr const char* seal_ingested = "seal.ingested";  ///< in the families, the tail still shown
inline constexpr const char* seal_shown = "seal.shown";        ///< the tail is gone

// Recovering.
inline constexpr const char* recover_made = "recover.made";      ///< the copy is there, and was not opened yet
inline constexpr const char* recover_opened = "recover.opened";  ///< it opens; nothing has taken its place yet

}  // namespace evershard::storage::steps
