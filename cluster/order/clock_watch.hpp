// ClockWatch: how far the clocks of nodes are from the coordinator's.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "evershard/protocol/timestamp.hpp"

namespace evershard::cluster {

/// The time that a node's word of its clock needs counts as if that clock were behind. So of the words of the last
/// seconds the one is taken that needed least. Nothing but a warning rests on it.
class ClockWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds allowed{1'000};

  enum class Turn : std::uint8_t { none, differs, agrees };

  /// `here`: what the coordinator's clock says now. Returns: whether the node's begins, or ceases, to differ.
  Turn said(Time now, std::uint32_t node, Timestamp here, Timestamp there) {
    if (there == Timestamp{}) return Turn::none;
    auto& of = nodes_[node];
    const auto ahead_us = there.micros - here.micros;
    if (of.words.empty() || now - of.words.back().at >= step)
      of.words.push_back({now, ahead_us});
    else
      of.words.back().ahead_us = std::max(of.words.back().ahead_us, ahead_us);
    if (of.words.size() > words_most) of.words.pop_front();
    if (of.words.size() < words_least) return Turn::none;
    const bool differs = std::chrono::abs(least_late(of)) > allowed;
    if (differs == of.differs) return Turn::none;
    of.differs = differs;
    return differs ? Turn::differs : Turn::agrees;
  }
  /// It says no more, or another process of it does.
  void lost(std::uint32_t node) { nodes_.erase(node); }

  /// Absent: it has said nothing. Below 0: it is behind the coordinator's.
  [[nodiscard]] std::optional<std::chrono::milliseconds> ahead(std::uint32_t node) const {
    const auto of = nodes_.find(node);
    if (of == nodes_.end()) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::milliseconds>(least_late(of->second));
  }
  [[nodiscard]] bool differs(std::uint32_t node) const {
    const auto of = nodes_.find(node);
    return of != nodes_.end() && of->second.differs;
  }

 private:
  /// One word a step, that which needed least: many that were late together, as after a stall, are one.
  static constexpr std::chrono::milliseconds step{900};
  static constexpr std::size_t words_most = 8, words_least = 3;
  struct Word {
    Time at;
    std::int64_t ahead_us = 0;
  };
  struct Said {
    std::deque<Word> words;
    bool differs = false;
  };
  [[nodiscard]] static std::chrono::microseconds least_late(const Said& said) {
    return std::chrono::microseconds(std::ranges::max_element(said.words, {}, &Word::ahead_us)->ahead_us);
  }
  std::map<std::uint32_t, Said> nodes_;
};

}  // namespace evershard::cluster
