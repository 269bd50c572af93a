#include "evershard/services/tables/like_pattern.hpp"

#include <cstring>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t no_match = std::string_view::npos;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::size_t character_bytes(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && is_continuation(text[bytes])) ++bytes;
  return bytes;
}

}  // namespace

Result<LikePattern> LikePattern::make(std::string_view pattern) {
  LikePattern made;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '%') {
      made.pieces_.emplace_back();
    } else if (c == '_') {
      add(made.pieces_.back(), {0, true});
    } else if (c == '\\') {
      if (++i == pattern.size())
        return refuse(
            ErrorCode::invalid_argument,
            "LIKE " + in_quotes(pattern) + ": it ends with a backslash, which stands before another character");
      add(made.pieces_.back(), {pattern[i]});
    } else {
      add(made.pieces_.back(), {c});
    }
  }
  return made;
}

void LikePattern::add(Piece& piece, Unit unit) {
  piece.units.push_back(unit);
  piece.literal += unit.byte;
  piece.any = piece.any || unit.any;
}

/// The bytes of `text` that a piece takes at its beginning.
std::size_t LikePattern::length_at(const Piece& piece, std::string_view text) {
  std::size_t at = 0;
  for (const Unit unit : piece.units) {
    if (at >= text.size()) return no_match;
    if (unit.any) {
      at += character_bytes(text.substr(at));
    } else if (text[at] == unit.byte) {
      ++at;
    } else {
      return no_match;
    }
  }
  return at;
}

Result<std::pair<std::size_t, std::size_t>> LikePattern::find(const Piece& piece, std::string_view text) {
  if (!piece.any) {
    EVERSHARD_TRY(storage::spend(text.size()));
    // In linear time, which string_view::find does not promise.
    const auto* found =
        static_cast<const char*>(::memmem(text.data(), text.size(), piece.literal.data(), piece.literal.size()));
    return std::pair(found == nullptr ? no_match : static_cast<std::size_t>(found - text.data()), piece.literal.size());
  }
  for (std::size_t at = 0;; at += character_bytes(text.substr(at))) {
    EVERSHARD_TRY(storage::spend(piece.units.size()));
    const std::size_t length = length_at(piece, text.substr(at));
    if (length != no_match) return std::pair(at, length);
    if (at == text.size()) return std::pair(no_match, no_match);
  }
}

Result<bool> LikePattern::matches(std::string_view text) const {
  const std::size_t begin = length_at(pieces_.front(), text);
  if (begin == no_match) return false;
  if (pieces_.size() == 1) return begin == text.size();
  text.remove_prefix(begin);
  // In between, the first place that fits leaves the most for the rest.
  for (std::size_t i = 1; i + 1 < pieces_.size(); ++i) {
    const auto found = find(pieces_[i], text);
    if (!found) return refuse(found.error());
    if (found->first == no_match) return false;
    text.remove_prefix(found->first + found->second);
  }
  // The last piece stands at the end: from there it is counted back, a character a unit.
  const Piece& last = pieces_.back();
  std::size_t at = text.size();
  for (std::size_t i = last.units.size(); i-- != 0;) {
    if (at == 0) return false;
    --at;
    if (!last.units[i].any) continue;
    while (at != 0 && is_continuation(text[at])) --at;
  }
  return length_at(last, text.substr(at)) == text.size() - at;
}

}  // namespace evershard::actors
