// Definition: what the events of a `$projection-NAME`, a `$group-NAME` say: what it is, which versions it has had, what
// was asked of it.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"

namespace evershard::actors {

/// A version is the seq_nr of the event that made it: created, changed.
struct DefinitionVersion {
  SeqNr version{};
  std::string spec{};      ///< JSON, the kind's own
  SeqNr rows{};            ///< the rows of this version count from that event: created, changed, reset, rebuilt
  bool beside = false;     ///< those rows are built while older ones are read
  GlobalPosition since{};  ///< the event's place
  friend bool operator==(const DefinitionVersion&, const DefinitionVersion&) = default;
};

struct Definition {
  std::string name{};
  std::string kind{};  ///< "index", "value", "table", ...; of other catalogues what their owners say
  SeqNr last{};        ///< its aggregate's version: what the next change expects
  bool dropped = false;
  bool paused = false;
  std::vector<DefinitionVersion> versions{};          ///< of this life (since it was created last), the newest last
  std::map<std::string, SeqNr, std::less<>> noted{};  ///< what else was asked: verb -> seq_nr of the last such event

  [[nodiscard]] const DefinitionVersion& newest() const { return versions.back(); }
  friend bool operator==(const Definition&, const Definition&) = default;
};

}  // namespace evershard::actors
