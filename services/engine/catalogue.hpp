// Catalogue: the definitions of one category, as events of the store: created, changed and dropped by appends that
// expect a version.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/if_there.hpp"
#include "evershard/services/indexes/definition.hpp"
#include "evershard/services/indexes/definition_fold.hpp"

namespace evershard::cluster {

/// Any thread, any number of them, in any process: of two that change a definition at the same time one is refused,
/// with version_conflict.
class Catalogue {
 public:
  /// `store` takes reserved names. `category`: "projection", "group", ... Owner: the store outlives it.
  Catalogue(EventStore& store, std::string category) : store_(store), names_(std::move(category)) {}

  [[nodiscard]] const actors::DefinitionNames& names() const { return names_; }

  /// What was dropped can be created again. Shape: `spec` is JSON; `same` compares it with the newest of what is there.
  /// Errors: invalid_argument (the name), already_exists, version_conflict, of EventStore::append
  [[nodiscard]] Result<actors::Definition> create(const std::string& name, const std::string& kind,
                                                  const std::string& spec, IfThere there = IfThere::refuse,
                                                  const std::function<bool(const std::string& newest)>& same = nullptr);
  /// What a create says of one that is there: gives it, or refuses. Absent: there is none.
  [[nodiscard]] Result<std::optional<actors::Definition>> there_already(
      const std::string& name, const std::string& kind, const std::string& spec, IfThere there,
      const std::function<bool(const std::string& newest)>& same = nullptr);
  /// `expected`: the version it must have (Definition::last); absent: the one that it has just now.
  /// Errors: not_found, version_conflict, of EventStore::append
  [[nodiscard]] Result<actors::Definition> change(const std::string& name, const std::string& spec,
                                                  std::optional<SeqNr> expected = {});
  [[nodiscard]] Result<actors::Definition> drop(const std::string& name, std::optional<SeqNr> expected = {});
  /// Any other verb: "Paused", "Reset", ... Shape: `payload` is JSON. Errors: as change()
  [[nodiscard]] Result<actors::Definition> note(const std::string& name, std::string_view verb,
                                                std::string payload = "{}", std::optional<SeqNr> expected = {});

  /// Errors: not_found (never created, or dropped: the sentence says which)
  [[nodiscard]] Result<actors::Definition> get(const std::string& name);
  /// The same, also of a definition that was dropped; nothing: there never was a definition of that name. Errors:
  /// invalid_argument (the name), of reading
  [[nodiscard]] Result<std::optional<actors::Definition>> find(const std::string& name);
  using PassedOver = std::function<void(const std::string& name, const Error& why)>;
  /// In order of name; `dropped`: those too. One that is damaged hides none beside it: it is left out, and told.
  [[nodiscard]] Result<std::vector<actors::Definition>> list(bool dropped = false, const PassedOver& passed_over = {});

 private:
  Result<actors::Definition> append(const std::string& name, SeqNr at, std::string_view verb, std::string payload);

  EventStore& store_;
  const actors::DefinitionNames names_;
};

}  // namespace evershard::cluster
