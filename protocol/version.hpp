// What an append expects of an aggregate's version.

#pragma once

#include <cstdint>
#include <string>

#include "evershard/protocol/numbers.hpp"

namespace evershard {

/// any, none (the aggregate must not exist), exists, exactly(n). exactly(0) is none.
class ExpectedVersion {
 public:
  enum class Kind : std::uint8_t { any, none, exists, exactly };

  static constexpr ExpectedVersion any() { return {Kind::any, SeqNr{0}}; }
  static constexpr ExpectedVersion none() { return {Kind::none, SeqNr{0}}; }
  static constexpr ExpectedVersion exists() { return {Kind::exists, SeqNr{0}}; }
  static constexpr ExpectedVersion exactly(SeqNr n) {
    return n.value == 0 ? none() : ExpectedVersion{Kind::exactly, n};
  }
  static constexpr ExpectedVersion exactly(std::uint64_t n) { return exactly(SeqNr{n}); }

  constexpr ExpectedVersion() = default;
  [[nodiscard]] constexpr Kind kind() const { return kind_; }
  [[nodiscard]] constexpr SeqNr number() const { return number_; }

  [[nodiscard]] constexpr bool holds_for(SeqNr actual) const {
    switch (kind_) {
      case Kind::any:
        return true;
      case Kind::none:
        return actual.value == 0;
      case Kind::exists:
        return actual.value != 0;
      case Kind::exactly:
        return actual == number_;
    }
    return false;
  }
  /// `any`, `none`, `exists` or the number.
  [[nodiscard]] std::string text() const;

  friend constexpr bool operator==(ExpectedVersion, ExpectedVersion) = default;

 private:
  constexpr ExpectedVersion(Kind kind, SeqNr number) : kind_(kind), number_(number) {}
  Kind kind_ = Kind::any;
  SeqNr number_{0};
};

using Version = ExpectedVersion;

}  // namespace evershard
