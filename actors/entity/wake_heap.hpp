// WakeHeap: whose time comes first, of those that have a time.

#pragma once

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "evershard/actors/entity/ask.hpp"

namespace evershard::actors {

/// What an element of the heap is made of.
struct WakeLink {
  static constexpr std::size_t outside = std::numeric_limits<std::size_t>::max();
  SteadyTime wake = never;
  std::size_t wake_index = outside;
};

/// A binary heap whose elements know where they are, so that one can be moved or taken out.
///
/// Cost: 8 bytes an element; nothing for those without a time.
class WakeHeap {
 public:
  /// `never`: taken out.
  void set(WakeLink& element, SteadyTime at) {
    if (element.wake == at && (at == never) == (element.wake_index == WakeLink::outside)) return;
    element.wake = at;
    if (at == never) return remove(element);
    if (element.wake_index == WakeLink::outside) {
      element.wake_index = heap_.size();
      heap_.push_back(&element);
    }
    sift(element.wake_index);
  }
  void remove(WakeLink& element) {
    const std::size_t at = std::exchange(element.wake_index, WakeLink::outside);
    if (at == WakeLink::outside) return;
    WakeLink* const last = heap_.back();
    heap_.pop_back();
    if (last == &element) return;
    put(at, last);
    sift(at);
  }

  [[nodiscard]] WakeLink* first() const { return heap_.empty() ? nullptr : heap_.front(); }
  [[nodiscard]] SteadyTime next() const { return heap_.empty() ? never : heap_.front()->wake; }

 private:
  void put(std::size_t at, WakeLink* element) {
    heap_[at] = element;
    element->wake_index = at;
  }
  // Moves the element up as far as it goes, then down.
  void sift(std::size_t at) {
    WakeLink* const moved = heap_[at];
    for (; at > 0 && moved->wake < heap_[(at - 1) / 2]->wake; at = (at - 1) / 2) put(at, heap_[(at - 1) / 2]);
    for (;;) {
      std::size_t child = 2 * at + 1;
      if (child >= heap_.size()) break;
      if (child + 1 < heap_.size() && heap_[child + 1]->wake < heap_[child]->wake) ++child;
      if (moved->wake <= heap_[child]->wake) break;
      put(at, heap_[child]);
      at = child;
    }
    put(at, moved);
  }

  std::vector<WakeLink*> heap_;
};

}  // namespace evershard::actors
