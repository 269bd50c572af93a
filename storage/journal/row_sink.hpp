// RowSink: takes the rows of one commit.

#pragma once

#include <string_view>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void put(Family family, std::string_view key, std::string_view value) = 0;
  /// Of a record that is there, whose events it has, some of them as stubs.
  virtual void put_again(ShardId shard, ShardOffset first, std::string_view record) {
    put(Family::journal, keys::journal(shard, first), record);
  }
  virtual void erase(Family family, std::string_view key) = 0;
};

}  // namespace evershard::storage
