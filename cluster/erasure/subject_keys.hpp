// SubjectKeys: a key for each subject, and their end.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "evershard/cluster/erasure/sealed_payload.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Any thread.
class SubjectKeys {
 public:
  virtual ~SubjectKeys() = default;

  /// The key under which a subject's payloads are sealed now; made where there is none, a new one behind one that was destroyed.
  /// Durable: on return, before anything is sealed with it. Errors: io, corruption
  [[nodiscard]] virtual Result<PayloadKey> key_for(std::string_view subject) = 0;
  /// Absent: it was destroyed. Errors: corruption: it is lost, or damaged; not_found: there are no keys here at all; io
  [[nodiscard]] virtual Result<std::optional<PayloadKey>> find(const KeyId& id) = 0;
  /// The keys a subject has, but for those that were destroyed: one, or none. Errors: io
  [[nodiscard]] virtual Result<std::optional<KeyId>> current(std::string_view subject) = 0;
  /// For good; again: nothing happens. Durable: on return. Errors: io
  [[nodiscard]] virtual Result<void> destroy(const KeyId& id) = 0;

  // Where keys lie with somebody else, who is asked and waited for:

  /// Those that find() is about to be asked for, at once.
  virtual void fetch(std::vector<KeyId> /*ids*/) {}
  /// Whether key_for() would answer without waiting for somebody.
  [[nodiscard]] virtual bool at_hand(std::string_view /*subject*/) { return true; }
  [[nodiscard]] virtual bool at_hand(const KeyId& /*id*/) { return true; }
};

}  // namespace evershard::cluster
