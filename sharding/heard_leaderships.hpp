// HeardLeaderships: whose order a client was answered by, so that it takes no answer of another history, or of an older
// leadership than it has heard of. Decisions only.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/leadership.hpp"

namespace evershard::sharding {

inline constexpr std::size_t leaderships_told = 8;  ///< the newest ones, with an answer: nodes are rarely further apart

/// `EPOCH:IDENTITY,EPOCH:IDENTITY`, epochs ascending; those without an identity are left out.
[[nodiscard]] std::string text_of(const Leaderships& all);
/// Errors: invalid_argument: it is not of that form
[[nodiscard]] Result<Leaderships> leaderships_from(std::string_view text);

/// Whether who was answered under `heard` may take what is answered under `there`. Where one is empty he may.
///
/// Errors: fenced: the two are of two histories; unavailable: `there` has not heard of the leadership that `heard` ends
///         with
[[nodiscard]] Result<void> check_heard(const Leaderships& heard, const Leaderships& there);

class HeardLeaderships {
 public:
  /// An answer came under these. Errors: those of check_heard: the answer is not to be taken, and nothing was learned;
  /// invalid_argument: malformed
  [[nodiscard]] Result<void> hear(std::string_view led);
  /// What was heard, for requests. Empty: nothing.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Leaderships heard_;
  std::string text_;
  std::string last_;  ///< the text that was heard last, and accepted
};

}  // namespace evershard::sharding
