// CoordinatorKeys: a node's view of the keys of subjects, which lie at the coordinator.

#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/keys/boot_time.hpp"
#include "evershard/cluster/keys/key_network.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

struct CoordinatorKeysOptions {
  std::size_t known_max = 10'000;                                         ///< keys in memory
  std::chrono::milliseconds time = std::chrono::seconds(5);               ///< an answer is waited for
  std::chrono::milliseconds destroy_time = std::chrono::seconds(30);      ///< the same, of a destruction
  std::chrono::milliseconds look_time = std::chrono::seconds(1);          ///< the same, of what was destroyed
  std::chrono::milliseconds look_every = std::chrono::milliseconds(500);  ///< erasures are asked for at most so often
  std::chrono::milliseconds wipe_every =
      std::chrono::milliseconds(500);  ///< at the latest so long after its time is over a key is wiped
  BootClock now = boot_time;
};

/// A key that was told is kept in memory and used for as long as the coordinator lent it, a few seconds, counted from
/// before it was asked for; then it is asked for again. A destruction is answered when every process to which the key
/// may be lent has forgotten it, or its time is over: so behind it nobody uses the key, not a node that was cut off or
/// frozen either.
///
/// erasures() changes with what the coordinator says of its own count, and with its process. Whatever it says is of a
/// count, and what was told at an earlier one is not used: so a key of the count that a state was loaded at is older
/// than whatever was opened for that state.
///
/// Where the coordinator does not answer in time, nobody waits for it any more until it does: it is asked beside for
/// the keys of whoever comes, who is told `unavailable`.
///
/// Errors beyond those of SubjectKeys: unavailable: the coordinator does not answer
/// Any thread but the network's own: they wait. Owner: the network outlives it, and gives it nothing any more when it
/// goes.
class CoordinatorKeys final : public SubjectKeys {
 public:
  CoordinatorKeys(KeyNetwork& network, CoordinatorKeysOptions options = {});
  ~CoordinatorKeys() override;

  /// Errors: also invalid_argument: the coordinator has no keys
  Result<HeldKey> key_for(std::string_view subject) override;
  Result<std::optional<HeldKey>> find(const KeyId& id) override;
  Result<std::optional<KeyId>> current(std::string_view subject) override;
  /// Errors: also timeout: it may be destroyed
  Result<void> destroy(const KeyId& id) override;
  void fetch(KeysWanted wanted) override;
  [[nodiscard]] std::uint64_t erasures() const override;
  [[nodiscard]] std::optional<Result<HeldKey>> key_at_hand(std::string_view subject) override;
  [[nodiscard]] std::optional<Result<std::optional<HeldKey>>> found_at_hand(const KeyId& id) override;

  /// Keys that were destroyed: on return none of them is used any more. Waits for who is sealing or opening just now.
  KeysForgotten forget(const KeysForget& told);
  /// The coordinator is there, perhaps again: what was destroyed without this node being told is asked for, beside.
  /// Does not wait.
  void look_again();
  /// Asks the coordinator no more: callers that wait for an answer of the coordinator get `unavailable`, and so do
  /// later callers; keys that were lent may be used until their time is over. On return no background look is under
  /// way. Idempotent; not from what watch_erasures() calls.
  void stop();
  /// How many keys are in memory.
  [[nodiscard]] std::size_t known() const;

 private:
  struct Known {
    HeldKey key;
    BootTime until{};
    std::string subject{};  ///< it is the current key of; empty: not known
  };
  using KnownKeys = std::map<KeyId, Known>;

  /// Errors: unavailable, timeout (of `destroy`), what the coordinator says
  [[nodiscard]] Result<KeysAnswered> ask(KeysAsked asked, std::chrono::milliseconds time);
  /// Waits; keeps what is told, and wipes it of the answer. Absent: what is told is too old to be used.
  [[nodiscard]] Result<std::optional<KeysAnswered>> ask_once(const KeysAsked& asked, std::chrono::milliseconds time);

  // Under the mutex.
  [[nodiscard]] bool is_newest(const KeysDestroyed& destroyed);
  void keep(const KeyTold& told, const std::string& subject, BootTime until);
  /// Null: it is not.
  [[nodiscard]] const HeldKey* lent(const KeyId& id) const;
  void drop(KnownKeys::iterator known);
  void drop_all();

  void look_beside();
  void wipe_what_is_over();
  void look_when_told();

  KeyNetwork& network_;
  const CoordinatorKeysOptions options_;
  const std::uint64_t holder_;
  struct Waiters;
  const std::shared_ptr<Waiters> waiters_;  ///< answers may come when it is gone
  mutable std::mutex mutex_;
  std::condition_variable lent_;
  std::condition_variable look_;
  bool ending_ = false;
  bool looks_again_ = false;
  bool looks_no_more_ = false;
  KeysDestroyed newest_{};
  std::uint64_t erasures_ = 0;
  KnownKeys known_;
  std::map<std::string, KeyId, std::less<>> of_subject_;
  std::set<KeyId> destroyed_;
  std::vector<std::weak_ptr<const PayloadKey>> in_hands_;  ///< of keys that are not known any more
  std::thread wiping_;
  std::once_flag looking_joined_;
  std::thread looking_;  ///< its own: keys are wiped while an answer is waited for
};

}  // namespace evershard::cluster
