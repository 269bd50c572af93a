// KeptReasons: why events were parked, as whoever keeps them keeps it: each text once, and bounded.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

namespace evershard {

/// Events may be parked by thousands for a few different reasons, or each for its own. A plain class.
class KeptReasons {
 public:
  using Id = std::uint64_t;  ///< 0: no reason was given

  /// `bytes_max`: of all different ones together.
  explicit KeptReasons(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// Of one more event. As kept_reason() shortens it; where there is no room for another text, it is replaced by a word
  /// that says so.
  [[nodiscard]] Id add(std::string_view reason);
  /// An event of this reason is parked no more.
  void remove(Id id);
  [[nodiscard]] std::string_view of(Id id) const;
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Of all that are there, in the order in which they came.
  template <class Each>
  void for_each(Each each) const {
    for (const auto& [id, reason] : reasons_) each(id, std::string_view(reason.text));
  }
  [[nodiscard]] std::size_t size() const { return reasons_.size(); }

 private:
  struct Reason {
    std::string text{};
    std::uint64_t users = 0;
  };
  std::size_t bytes_max_;
  std::map<Id, Reason> reasons_;
  std::unordered_map<std::string, Id> ids_;
  std::size_t bytes_ = 0;
  Id last_ = 0;
};

}  // namespace evershard
