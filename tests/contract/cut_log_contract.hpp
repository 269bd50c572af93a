// CutLogContract: what every cut log promises. Instantiated with each implementation.

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "evershard/sharding/cut_log.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/sharding/cuts.hpp"

namespace evershard::storage {

/// One kind of cut log, in a folder that is the test's.
struct CutLogKind {
  std::string name;
  int seeds = 0;  ///< of the test that goes through all of it: what a put costs decides
  /// As after kill -9 of who had it: what was answered is there. `before`: that one's, to be taken from or let go.
  std::function<std::unique_ptr<sharding::CutLog>(const std::filesystem::path& folder, std::uint32_t shards,
                                                  std::unique_ptr<sharding::CutLog> before)>
      reopen;
};
inline std::ostream& operator<<(std::ostream& out, const CutLogKind& kind) { return out << kind.name; }

/// Shards 0 and 1 of nodes 1 and 2, opened by cut 1; cut 2 has events of both, cut 3 of shard 0, cut 4 of shard 1, cut
/// 5 of none.
inline void put_five(sharding::CutLog& log) {
  using sharding::next_cut;
  using sharding::opening_of;
  using sharding::segment_of;
  ASSERT_TRUE(log.lead());
  ASSERT_TRUE(log.put(next_cut(log.state(), {}, {opening_of(0, 1, 1, 1), opening_of(1, 1, 2, 1)})));
  ASSERT_TRUE(log.put(next_cut(log.state(), {segment_of(0, 1, 1, 4, {ShardOffset{2}}), segment_of(1, 1, 1, 3)})));
  ASSERT_TRUE(log.put(next_cut(log.state(), {segment_of(0, 1, 4, 5)})));
  ASSERT_TRUE(log.put(next_cut(log.state(), {segment_of(1, 1, 3, 9)})));
  ASSERT_TRUE(log.put(next_cut(log.state(), {})));
}

class CutLogContract : public ::testing::TestWithParam<CutLogKind> {
 protected:
  static constexpr std::uint32_t shards = 3;
  static constexpr std::size_t all_bytes = 1u << 20;

  void SetUp() override { reopen(); }
  void reopen() {
    log_ = GetParam().reopen(folder_.path(), shards, std::move(log_));
    ASSERT_NE(log_, nullptr);
  }
  sharding::CutLog& log() { return *log_; }

  TemporaryFolder folder_;
  std::unique_ptr<sharding::CutLog> log_;
};

}  // namespace evershard::storage
