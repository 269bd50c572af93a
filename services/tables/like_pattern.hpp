// LikePattern: % for any text, _ for one character, \ before what stands for itself.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::actors {

class LikePattern {
 public:
  /// Errors: invalid_argument: it ends with a backslash
  [[nodiscard]] static Result<LikePattern> make(std::string_view pattern);

  /// Shape: `text` is UTF-8. Cost: at most text times the longest piece with a _ between two %, else the text; no
  /// recursion. Errors: those of storage::spend
  [[nodiscard]] Result<bool> matches(std::string_view text) const;

 private:
  /// A character that stands for itself, byte by byte, or any one.
  struct Unit {
    char byte = 0;
    bool any = false;
  };
  struct Piece {
    std::vector<Unit> units{};
    std::string literal{};  ///< the same where it has no _
    bool any = false;       ///< it has one
  };

  static void add(Piece& piece, Unit unit);
  /// Where a piece fits first. Returns: its place and length; npos: nowhere
  static Result<std::pair<std::size_t, std::size_t>> find(const Piece& piece, std::string_view text);
  static std::size_t length_at(const Piece& piece, std::string_view text);

  std::vector<Piece> pieces_{1};  ///< the pieces between the %: one more than the number of %
};

}  // namespace evershard::actors
