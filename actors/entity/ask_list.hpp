// AskList: what an entity has not done with: what is decided, in the order of its decisions; and what is not, in order
// of arrival but for what comes back from outside.

#pragma once

#include <cstddef>
#include <memory>

#include "evershard/actors/entity/ask.hpp"

namespace evershard::actors {

/// A list through its elements: 24 bytes when empty, and it empties itself.
class AskList {
 public:
  AskList() = default;
  ~AskList();
  AskList(const AskList&) = delete;
  AskList& operator=(const AskList&) = delete;

  [[nodiscard]] bool empty() const { return front_ == nullptr; }
  [[nodiscard]] Ask* front() const { return front_; }
  [[nodiscard]] Ask* back() const { return back_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  Ask& add(std::unique_ptr<Ask> ask);
  /// `ask` goes to the place directly behind `before`, which stands somewhere behind it. Its `order` is raised, so that
  /// orders ascend.
  void move_behind(Ask& ask, Ask& before);
  /// Ends the ask's life.
  void remove(Ask& ask);

 private:
  void link_out(Ask& ask);

  Ask* front_ = nullptr;
  Ask* back_ = nullptr;
  std::uint32_t size_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace evershard::actors
