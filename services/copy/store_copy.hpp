// StoreCopy: events of one store into another one, from a checkpoint that lies in the target; once, or going on live.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "evershard/api/event_store.hpp"
#include "evershard/services/copy/copy_checkpoint.hpp"
#include "evershard/services/copy/copy_filter.hpp"

namespace evershard::cluster {

struct StoreCopyOptions {
  std::string
      name{};  ///< of the copy: its checkpoint is that of `$copy-NAME`; empty: made of the source's id and the filter
  CopyFilter filter{};
  bool follow = false;   ///< goes on live; what cannot be reached is tried again until it is stopped
  bool restart = false;  ///< from the source's first event, whatever the checkpoint says; source and target are taken
                         ///< as they are now
  std::size_t in_flight = 256;
  std::chrono::milliseconds checkpoint_every = std::chrono::seconds(1);
};

struct CopyReport {
  std::string name;
  GlobalPosition from{};                 ///< of the source: what this run began behind
  GlobalPosition position{};             ///< everything up to here is in the target, and the checkpoint says so
  GlobalPosition head{};                 ///< of the source, as last heard
  std::uint64_t events_new = 0;          ///< by this run
  std::uint64_t events_known = 0;        ///< were there already
  std::uint64_t events_gone = 0;         ///< left out: removed or erased in the source
  bool stopped = false;                  ///< before it was done
  std::optional<FeedItem::Away> away{};  ///< the source is, just now
};

/// Kept: ids, aggregates, types, tags, payloads, metadata, times, which events are one append, the order of each
/// aggregate's events; with one append in flight the order of all. Not: positions, shards, snapshots, ids of commands.
///
/// Two runs of one copy at the same time: the older one ends with `fenced`.
class StoreCopy {
 public:
  struct Side {
    EventStore& store;
    StoreName name;
  };
  StoreCopy(Side source, Side target, StoreCopyOptions options)
      : source_(std::move(source)), target_(std::move(target)), options_(std::move(options)) {}

  /// Until everything that is there is copied, or for ever; `go_on` is asked often, with how far it is, and ends it
  /// cleanly.
  ///
  /// A source that goes away is waited for, with `follow` for ever, else for 5 seconds.
  ///
  /// Errors: as check_begin, check_resume; fenced; what reading and appending answers. What was copied before an error
  /// stays, and the next run knows it
  [[nodiscard]] Result<CopyReport> run(const std::function<bool(const CopyReport&)>& go_on);

 private:
  struct Run;
  Side source_;
  Side target_;
  StoreCopyOptions options_;
};

}  // namespace evershard::cluster
