// NamedReaders: projections, documents and groups as a program sees them that hosts aggregates: none is defined that
// reads an event and misses the old one that becomes it.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/model/kind.hpp"
#include "evershard/store/api/documents.hpp"
#include "evershard/store/api/groups.hpp"
#include "evershard/store/api/projections.hpp"

namespace evershard::cluster {

/// Any thread. Owner: what it is made of outlives it.
class NamedReaders {
 public:
  /// `projections`: nullptr: they are switched off.
  NamedReaders(Projections* projections, Documents& documents, Groups& groups);
  ~NamedReaders();
  NamedReaders(const NamedReaders&) = delete;

  /// The same, but that what is created, changed or defined is compared with the old events of the kinds taken before.
  /// Errors: theirs; invalid_argument: it lists an event and not an old one that becomes it
  [[nodiscard]] Projections& projections();
  [[nodiscard]] Documents& documents();
  [[nodiscard]] Groups& groups();
  /// Of a table's handler in C++: the types that it does something with. Errors: invalid_argument, as above
  [[nodiscard]] Result<void> add_handler(const std::string& name, std::vector<std::string> types);

  enum class Defined : std::uint8_t {
    compared,  ///< what is defined already is compared too
    left,      ///< on a cluster, whose definitions lie on other nodes: when it is changed
  };
  /// Before a kind is hosted. Errors: invalid_argument: which reader misses which events; those of reading
  [[nodiscard]] Result<void> take(const KindTypes& types, Defined defined = Defined::compared);

 private:
  struct Impl;
  class Projected;
  class Documented;
  class Grouped;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::cluster
