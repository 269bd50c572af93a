// OldNames: which events have become which, by all kinds that are hosted, and whether what reads events reads both.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "evershard/actors/model/kind.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Owner:  one thread at a time.
class OldNames {
 public:
  /// Takes a kind's old events and readers: all of them, or nothing.
  /// Errors: invalid_argument: a reader, of this kind or of one before, lists an event and not an old one that becomes
  ///         it: what it became would be missing without a word
  [[nodiscard]] Result<void> add(const KindTypes& types);
  /// Of what is not remembered. Errors: as above
  [[nodiscard]] Result<void> check(const KindTypes::Reader& reader) const { return check(reader, old_); }

 private:
  /// The old names, by the name of what each becomes.
  using ByEvent = std::map<std::string, std::set<std::string>, std::less<>>;
  [[nodiscard]] static Result<void> check(const KindTypes::Reader& reader, const ByEvent& old);

  ByEvent old_;
  std::vector<KindTypes::Reader> readers_;
};

}  // namespace evershard
