// Going on after a position that the store does not have: what is said of it, everywhere the same.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/error.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard {

/// Nothing that is appended from now on up to `after` would ever be given, or judged by a condition.
/// `fork`: of the store; empty: not named.
[[nodiscard]] inline Error beyond_head(GlobalPosition after, GlobalPosition head, std::string_view fork) {
  std::string what = "after: position " + std::to_string(after.value) + " lies beyond the head of the store, " +
                     std::to_string(head.value);
  if (!fork.empty()) what += ", fork " + std::string(fork);
  return {ErrorCode::invalid_argument,
          what + ": it is a position of another store, or of this one before it was restored"};
}

/// Who was answered by one fork asks another.
[[nodiscard]] inline Error another_fork(std::string_view before, std::string_view fork) {
  return {ErrorCode::invalid_argument,
          "the store is fork " + std::string(fork) + " now, and fork " + std::string(before) +
              " answered this client before: the store was restored, or another one is served here; what the client "
              "knows of its history may not be so any more: connect anew"};
}

/// A follower of one fork has come to another.
[[nodiscard]] inline Error other_fork(std::string_view followed, std::string_view fork, GlobalPosition at) {
  return {ErrorCode::invalid_argument,
          "the store is fork " + std::string(fork) + " now, and fork " + std::string(followed) +
              " was followed, up to position " + std::to_string(at.value) +
              ": the store was restored, or another one is served here; its history may be another one from some "
              "position on"};
}

}  // namespace evershard
