// What becomes of a snapshot that a replica has.

#include <gtest/gtest.h>

#include "evershard/cluster/replication/taken_snapshots.hpp"

namespace evershard::cluster {
namespace {

constexpr SeqNr first{1}, later{2};

TEST(TakenSnapshots, ALaterOneIsTakenWhoeverHasIt) {
  for (const auto by : {RowLogBy::replica, RowLogBy::replica_late})
    for (const bool newer : {false, true}) {
      EXPECT_TRUE(takes_snapshot(by, later, first, newer));
      EXPECT_FALSE(takes_snapshot(by, first, later, newer));
    }
}

TEST(TakenSnapshots, OfOneVersionTheAnsweredOneStays) {
  EXPECT_TRUE(takes_snapshot(RowLogBy::replica, first, first, false));
  EXPECT_FALSE(takes_snapshot(RowLogBy::replica, first, first, true));
  EXPECT_FALSE(takes_snapshot(RowLogBy::replica_late, first, first, false));
  EXPECT_FALSE(takes_snapshot(RowLogBy::replica_late, first, first, true));
}

// The newer entry's is damaged here, and whole on other disks; or the aggregate was removed.
TEST(TakenSnapshots, AnOlderOneComesToNobodyWhoHasLostTheNewerOne) {
  for (const auto by : {RowLogBy::replica, RowLogBy::replica_late}) {
    EXPECT_FALSE(takes_snapshot(by, later, std::nullopt, true));
    EXPECT_TRUE(takes_snapshot(by, first, std::nullopt, false));
    EXPECT_FALSE(is_logged_anew(RowLogBy::replica_late, true, false)) << "nor is what is not there sent to others";
  }
}

}  // namespace
}  // namespace evershard::cluster
