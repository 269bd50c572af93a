// CoordinatorKeys: a node's view of the keys of subjects, which lie at the coordinator.

#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "evershard/cluster/erasure/subject_keys.hpp"
#include "evershard/cluster/keys/boot_time.hpp"
#include "evershard/cluster/keys/key_network.hpp"

namespace evershard::cluster {

struct CoordinatorKeysOptions {
  std::size_t known_max = 10'000;  ///< keys in memory
  std::chrono::milliseconds time = std::chrono::seconds(5);           ///< an answer is waited for
  std::chrono::milliseconds destroy_time = std::chrono::seconds(30);  ///< the same, of a destruction
  BootClock now = boot_time;
};

/// A key that was told is kept in memory and used for as long as the coordinator lent it, a few seconds, counted from before it was asked for; then it is asked
/// for again. A destruction is answered when every process to which the key may be lent has forgotten it, or its time is over: so behind it
/// nobody uses the key, not a node that was cut off or frozen either.
///
/// Errors beyond those of SubjectKeys: unavailable: the coordinator does not answer
/// Any thread but the network's own: they wait. Owner: the network outlives it, and gives it nothing any more when it goes.
class CoordinatorKeys final : public SubjectKeys {
 public:
  CoordinatorKeys(KeyNetwork& network, CoordinatorKeysOptions options = {});
  ~CoordinatorKeys() override;

  /// Errors: also invalid_argument: the coordinator has no keys
  Result<PayloadKey> key_for(std::string_view subject) override;
  Result<std::optional<PayloadKey>> find(const KeyId& id) override;
  Result<std::optional<KeyId>> current(std::string_view subject) override;
  /// Errors: also timeout: it may be destroyed
  Result<void> destroy(const KeyId& id) override;
  void fetch(std::vector<KeyId> ids) override;
  [[nodiscard]] bool at_hand(std::string_view subject) override;
  [[nodiscard]] bool at_hand(const KeyId& id) override;

  /// Keys that were destroyed: on return none of them is used any more, but by who has it in his hands. Does not wait.
  KeysForgotten forget(const KeysForget& told);
  /// Whoever waits is told `unavailable`, as is whoever comes. Idempotent.
  void stop();
  /// How many keys are in memory.
  [[nodiscard]] std::size_t known() const;

 private:
  struct Known {
    PayloadKey key;
    BootTime until{};
    std::string subject{};  ///< it is the current key of; empty: not known
  };
  using KnownKeys = std::map<KeyId, Known>;

  /// Errors: unavailable, timeout (of `destroy`), what the coordinator says
  [[nodiscard]] Result<KeysAnswered> ask(KeysAsked asked, std::chrono::milliseconds time);
  /// Waits; keeps what is told. Absent: what is told is too old to be used.
  [[nodiscard]] Result<std::optional<KeysAnswered>> ask_once(const KeysAsked& asked, std::chrono::milliseconds time);
  [[nodiscard]] Result<std::optional<PayloadKey>> taken(const KeyTold& told) const;

  // Under the mutex.
  [[nodiscard]] bool is_newest(const KeysDestroyed& destroyed);
  void keep(const KeyTold& told, const std::string& subject, BootTime until);
  /// Null: it is not, or not for so long.
  [[nodiscard]] const PayloadKey* lent(const KeyId& id, std::chrono::milliseconds at_least = {}) const;
  void drop(KnownKeys::iterator known);
  void drop_all();

  KeyNetwork& network_;
  const CoordinatorKeysOptions options_;
  const std::uint64_t holder_;
  struct Waiters;
  const std::shared_ptr<Waiters> waiters_;  ///< answers may come when it is gone
  mutable std::mutex mutex_;
  KeysDestroyed newest_{};
  KnownKeys known_;
  std::map<std::string, KeyId, std::less<>> of_subject_;
  std::set<KeyId> destroyed_;
};

}  // namespace evershard::cluster
