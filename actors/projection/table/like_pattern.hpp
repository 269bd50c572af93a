// LikePattern: % for any text, _ for one character, \ before what stands for itself.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::actors {

class LikePattern {
 public:
  /// Errors: invalid_argument: it ends with a backslash
  [[nodiscard]] static Result<LikePattern> make(std::string_view pattern);

  /// Shape: `text` is UTF-8. Cost: at most text times the longest piece between two %; no recursion.
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  /// A character that stands for itself, byte by byte, or any one.
  struct Unit {
    char byte = 0;
    bool any = false;
  };
  using Piece = std::vector<Unit>;

  static std::size_t length_at(const Piece& piece, std::string_view text);

  std::vector<Piece> pieces_{1};  ///< between the %: one more than there are of those
};

}  // namespace evershard::actors
