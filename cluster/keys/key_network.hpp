// What a node asks of the coordinator, where the keys of subjects lie, whoever carries it.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/error.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/erasure/sealed_payload.hpp"

namespace evershard::cluster {

struct KeysAsked {
  enum class What : std::uint8_t { key_for = 1, find, current, destroy, erasures };
  What what = What::find;
  std::uint64_t holder = 0;             ///< the process that asks, and that may keep the lent keys for a while. Not 0
  std::vector<std::string> subjects{};  ///< of key_for: at most KeysAsked::subjects_max; of current: one
  std::vector<KeyId> ids{};             ///< of find: at most KeysAsked::ids_max; of destroy: one
  static constexpr std::size_t ids_max = 1'000;
  static constexpr std::size_t subjects_max =
      64;  ///< a key that is made is synced: so many in well under the time of an answer

  friend bool operator==(const KeysAsked&, const KeysAsked&) = default;
};

struct KeyTold {
  KeyId id;
  std::optional<std::array<std::uint8_t, PayloadKey::secret_bytes>> secret{};
  bool destroyed = false;
  std::optional<Error> error{};  ///< it cannot be had: lost, say

  friend bool operator==(const KeyTold&, const KeyTold&) = default;
};

/// Counted by one process of a coordinator: what was told at an earlier count may have been destroyed since, and a key
/// that was made behind a destruction is told at a later one.
struct KeysDestroyed {
  std::uint64_t keeper = 0;
  std::uint64_t count = 0;

  friend bool operator==(const KeysDestroyed&, const KeysDestroyed&) = default;
};

struct KeysAnswered {
  bool no_keys = false;                ///< the coordinator was started without
  std::vector<KeyTold> keys{};         ///< in the order asked for; of current: one or none
  KeysDestroyed destroyed{};           ///< before it was looked
  std::chrono::milliseconds lease{0};  ///< so long after it was asked for, a secret may be used

  friend bool operator==(const KeysAnswered&, const KeysAnswered&) = default;
};

/// The coordinator to a node.
struct KeysForget {
  std::vector<KeyId> ids{};
  KeysDestroyed destroyed{};

  friend bool operator==(const KeysForget&, const KeysForget&) = default;
};

/// Which process has forgotten.
struct KeysForgotten {
  std::uint64_t holder = 0;

  friend bool operator==(const KeysForgotten&, const KeysForgotten&) = default;
};

using KeysDone = std::function<void(Result<KeysAnswered>)>;

class KeyNetwork {
 public:
  virtual ~KeyNetwork() = default;
  /// Does not block. `done`: once, from any thread, at the latest when the time is over.
  /// Errors: what the coordinator says; unavailable, overloaded: it was not asked; timeout: nobody knows
  virtual void ask(KeysAsked asked, std::chrono::milliseconds time, KeysDone done) = 0;
};

}  // namespace evershard::cluster
