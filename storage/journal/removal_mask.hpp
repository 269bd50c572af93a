// RemovalMask: what is removed from an aggregate's history is so for all readers at once, long before its last byte is
// gone.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::storage {

/// Events that readers are shown as stubs whatever their records say. Any thread.
///
/// A cursor that was opened before a record was rewritten may still have its old bytes: so what is done stays known for
/// a while. Cost: nothing while nothing is removed, else one look-up an event.
class RemovalMask {
 public:
  static constexpr std::size_t done_max = 4'096;

  /// The aggregate's events below `before`. Two of one aggregate: the higher one counts.
  void hide(const AggregateId& aggregate, SeqNr before);
  /// Every record of it was rewritten.
  void done(const AggregateId& aggregate);
  [[nodiscard]] bool empty() const { return empty_.load(std::memory_order_acquire); }
  [[nodiscard]] bool hides(const EventView& event) const;
  /// Records were written again: some of their events are stubs now.
  void rewritten() { changes_.fetch_add(1, std::memory_order_acq_rel); }
  /// Another number each time events that were shown before are not shown any more: who keeps events in memory looks at
  /// them again.
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(std::memory_order_acquire); }
  /// Makes a stub of it where it is hidden: the same as its record will give.
  void apply(EventView& event) const {
    if (!empty() && hides(event)) make_removed(event);
  }

 private:
  struct ByName {
    using is_transparent = void;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      const int types = std::string_view(a.first).compare(std::string_view(b.first));
      return types != 0 ? types < 0 : std::string_view(a.second) < std::string_view(b.second);
    }
  };
  mutable std::shared_mutex mutex_;
  std::map<std::pair<std::string, std::string>, SeqNr, ByName> before_;
  std::deque<std::pair<std::string, std::string>> done_;  // the oldest first
  std::atomic<bool> empty_{true};
  std::atomic<std::uint64_t> changes_{0};
};

}  // namespace evershard::storage
