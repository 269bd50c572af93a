// CarriedEvents: what a consumer has and has said when his subscription gets another home: it is not asked of him
// twice. Decisions only.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "evershard/compat/kurrent/persistent_subscription.hpp"
#include "evershard/protocol/event_id.hpp"

namespace evershard::kurrent {

/// A new home begins behind the last checkpoint of the old one, and gives out again what was out, and what was settled
/// since. What it gives to the consumer that had it stays with him; what he settled is settled again for him. One
/// thread at a time.
class CarriedEvents {
 public:
  static constexpr std::size_t said_max = 10'000;  ///< of those he settled last; older ones may come to him again

  enum class What : std::uint8_t {
    pass,       ///< he gets it
    keep_back,  ///< he has it
    say_again,  ///< he has settled it, and the home does not know
  };
  struct Said {
    std::optional<PersistentSubscription::Nack> refused{};  ///< absent: acknowledged
    std::string reason{};
  };
  struct Given {
    What what = What::pass;
    Said said{};  ///< of say_again
  };

  /// A home gives it.
  [[nodiscard]] Given given(const EventId& id);
  /// He said so, whether a home heard it or not.
  void said(const EventId& id, Said what);
  /// There is another home from here on.
  void moved();

 private:
  struct Kept {
    Said said{};
    std::uint64_t heard_in = 0;  ///< the home that may have heard it
  };
  struct Hash {
    std::size_t operator()(const EventId& id) const {
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
    }
  };
  std::uint64_t home_ = 1;
  std::unordered_set<EventId, Hash> has_;            ///< and has not settled
  std::unordered_set<EventId, Hash> to_come_again_;  ///< of those, what only an earlier home gave him
  std::unordered_map<EventId, Kept, Hash> said_;
  std::deque<EventId> said_in_order_;
};

}  // namespace evershard::kurrent
