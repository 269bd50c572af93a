// NamedReaders: projections, documents and groups as a program sees them that hosts aggregates: none is defined that
// reads an event and misses the old one that becomes it.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/model/kind.hpp"
#include "evershard/api/documents.hpp"
#include "evershard/api/groups.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/services/tables/table_projection.hpp"

namespace evershard::cluster {

/// Any thread. Owner: what it is made of outlives it.
class NamedReaders {
 public:
  /// `projections`: nullptr: they are switched off. `warn`: of Defined::later; any thread; may be absent.
  NamedReaders(Projections* projections, Documents& documents, Groups& groups,
               std::function<void(const Error&)> warn = {});
  ~NamedReaders();
  NamedReaders(const NamedReaders&) = delete;

  /// The same, but that what is created, changed or defined is compared with the old events of the kinds taken before.
  /// Errors: theirs; invalid_argument: it lists an event and not an old one that becomes it
  [[nodiscard]] Projections& projections();
  [[nodiscard]] Documents& documents();
  [[nodiscard]] Groups& groups();
  /// Of a table's handler in C++: the types that it does something with. Errors: invalid_argument, as above
  [[nodiscard]] Result<void> add_handler(const std::string& name, std::vector<std::string> types);
  /// Of a handler of any other kind, which names no types: nothing.
  [[nodiscard]] Result<void> add_handler(const std::string& name, const actors::TableHandler& handler);
  /// Who follows events by their types. Errors: invalid_argument, as above
  [[nodiscard]] Result<void> check_follower(const Query& query) const;

  enum class Defined : std::uint8_t {
    compared,  ///< what is defined already is compared first
    later,     ///< on a cluster, whose definitions lie on other nodes, some of which may be away: in a thread, until
               ///< there is an answer and nothing misses an event; `warn` is told what does
  };
  /// Before a kind is hosted. Errors: invalid_argument: which reader misses which events; those of reading
  [[nodiscard]] Result<void> take(const KindTypes& types, Defined defined = Defined::compared);
  /// Compares nothing any more. Idempotent.
  void stop();

 private:
  struct Impl;
  class Projected;
  class Documented;
  class Grouped;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::cluster
