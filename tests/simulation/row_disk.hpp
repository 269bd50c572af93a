// RowDisk: a node's row logs, and the states that are kept beside the journal. What is written is synced.

#pragma once

#include <cstdint>
#include <map>

#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/journal/row_log.hpp"

namespace evershard::simulation {

struct RowDisk {
  /// A snapshot: a group's, all of one version, or of an aggregate, with the version that it stands for.
  struct State {
    SeqNr version;
    std::uint64_t number = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  struct Shard {
    std::map<storage::RowLogAt, std::uint32_t> entries{};  ///< each of one state's key
    std::map<std::uint32_t, storage::RowLogAt> newest{};   ///< by key
    std::map<std::uint32_t, State> states{};               ///< by key
    bool whole = false;

    [[nodiscard]] storage::RowLogEnds ends() const {
      storage::RowLogEnds ends;
      for (const auto& [at, key] : entries) ends[at.epoch] = at.number;
      return ends;
    }
    /// An entry that is here is newer than that one.
    [[nodiscard]] bool has_newer(std::uint32_t key, storage::RowLogAt at) const {
      const auto found = newest.find(key);
      return found != newest.end() && found->second > at;
    }
    void log(std::uint32_t key, storage::RowLogAt at) {
      if (!has_newer(key, at)) {
        if (const auto before = newest.find(key); before != newest.end()) entries.erase(before->second);
        newest[key] = at;
      }
      entries[at] = key;
    }
    /// Takes the place of a newer one that is here.
    void log_instead(std::uint32_t key, storage::RowLogAt at) {
      entries.erase(newest.at(key));
      newest[key] = at;
      entries[at] = key;
    }
    void put(std::uint32_t key, State state) {
      const auto here = states.find(key);
      if (here == states.end() || here->second.version <= state.version) states[key] = state;
    }
  };
  std::map<ShardId, Shard> shards{};
};

}  // namespace evershard::simulation
