// Succession: when a coordinator that stands by leads, whom it follows until then, and when one that leads gives way.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Who led last, as the cut log says.
struct Leader {
  Epoch epoch;
  std::string address{};   ///< where it listens, HOST:PORT; empty: it has not said so yet
  std::uint64_t beat = 0;  ///< goes up as long as it leads and nodes are with it
  friend bool operator==(const Leader&, const Leader&) = default;
};

struct SuccessionOptions {
  std::string own_address{};  ///< where this process listens, as others are told
  /// A leader that is not reached has so long to be, from its last beat on.
  std::chrono::milliseconds answer_within{1'500};
  std::chrono::milliseconds beat_every{500};
  /// Whoever takes over waits a random part of it first, so that of several mostly one does.
  std::chrono::milliseconds turn{150};
  /// A leader of a cluster that has nodes gives way when none has been here for so long: it may be cut off from them.
  std::chrono::milliseconds nodes_within{3'000};
  /// Who gave way does not lead again for so long; twice as long each time, until nodes came to it.
  std::chrono::milliseconds rest_min{2'000}, rest_max{15'000};
};

/// Leading is safe at any time, since the cut log takes cuts of one leader only: everything here is for liveness.
///
/// Owner:  one thread, which has a clock and random numbers.
/// Source: docs/internals/ordering.md, "Several coordinators".
class Succession {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `random`, here and below: any 64 bits, of no use to anybody else.
  Succession(SuccessionOptions options, Time now, std::uint64_t random);

  // -- what comes in, while this process stands by

  /// As the cut log says now; absent: nobody has led yet.
  void leader_is(const std::optional<Leader>& leader, Time now, std::uint64_t random);
  /// The leader that follows() names is there.
  void reached();
  /// It is not there any more: it has ended, or was silent for too long.
  void lost(Time now, std::uint64_t random);

  // -- while it leads

  void began(Time now);
  /// How many nodes are here. `others_may`: some are missing that another coordinator, which stands by, might have.
  void nodes(std::size_t here, bool others_may, Time now);
  /// It leads no more. `gave_way`: because should_give_way() said so.
  void ended(bool gave_way, Time now, std::uint64_t random);

  // -- what follows from it

  /// Where a session is to be sought and kept. Absent: nowhere; this process led last itself, or nobody has.
  [[nodiscard]] const std::optional<std::string>& follows() const { return follows_; }
  [[nodiscard]] bool should_lead(Time now) const { return !leading_ && !reached_ && now >= lead_at_; }
  [[nodiscard]] bool should_give_way(Time now) const { return leading_ && now >= give_way_at_; }

 private:
  void lead_after(std::chrono::milliseconds wait, Time now, std::uint64_t random);

  const SuccessionOptions options_;
  std::optional<Leader> known_;  ///< as the log said last
  std::optional<std::string> follows_;
  bool reached_ = false;
  bool lost_since_ = false;  ///< since the log was read last
  bool leading_ = false;
  Time lead_at_;
  Time give_way_at_ = Time::max();
  Time rested_at_;
  std::chrono::milliseconds rest_;
};

}  // namespace evershard::cluster
