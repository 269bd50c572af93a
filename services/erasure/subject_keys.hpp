// SubjectKeys: a key for each subject, and their end.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/services/erasure/sealed_payload.hpp"

namespace evershard::cluster {

/// A key in use, while a caller seals or opens a payload with it: the destruction of the key waits for that caller. So
/// no caller holds a key while it waits for something else. The secret is wiped when the last holder lets the key go.
class HeldKey {
 public:
  explicit HeldKey(const PayloadKey& key);

  KeyId id;
  std::uint64_t erasures =
      0;  ///< SubjectKeys::erasures(): all that had to be destroyed before this key was made is counted in it

  [[nodiscard]] const PayloadKey& operator*() const { return *key_; }
  [[nodiscard]] const auto& secret() const { return key_->secret; }
  /// Expired: nobody has it in his hands.
  [[nodiscard]] std::weak_ptr<const PayloadKey> held() const { return key_; }

 private:
  std::shared_ptr<const PayloadKey> key_;
};

/// Keys that somebody is about to need.
struct KeysWanted {
  std::vector<KeyId> ids{};
  std::vector<std::string> subjects{};
};

/// Errors of each function, where the keys lie elsewhere: also unavailable: the keys cannot be asked for just now. Only
/// a look at the keys themselves may say that a key is not there.
///
/// Implementations: KeyFolder (files), EtcdKeys (rows in etcd), CoordinatorKeys (a node's view). The first two pass
/// tests/contract/subject_keys_contract.hpp.
/// Any thread.
class SubjectKeys {
 public:
  virtual ~SubjectKeys() = default;

  /// The key under which a subject's payloads are sealed now; made where there is none, a new one behind one that was
  /// destroyed. Durable: on return, before anything is sealed with it. Errors: io, corruption
  [[nodiscard]] virtual Result<HeldKey> key_for(std::string_view subject) = 0;
  /// Absent: it was destroyed. Errors: corruption: it is lost, or damaged; not_found: there are no keys here at all; io
  [[nodiscard]] virtual Result<std::optional<HeldKey>> find(const KeyId& id) = 0;
  /// The keys a subject has, but for those that were destroyed: one, or none. Errors: io; not_found: there are no keys
  /// here at all
  [[nodiscard]] virtual Result<std::optional<KeyId>> current(std::string_view subject) = 0;
  /// For good; again: nothing happens. Durable: on return. Errors: io
  [[nodiscard]] virtual Result<void> destroy(const KeyId& id) = 0;

  /// Counts the destructions that are known here; never the same number again behind one. What is found after it was n
  /// was not destroyed by any of the first n: who read at n, and seals under a key of the same n, seals nothing that
  /// was erased meanwhile.
  [[nodiscard]] virtual std::uint64_t erasures() const { return 0; }
  /// Called behind each change of erasures(), from any thread; must not block. Null: no more, and on return none is
  /// under way. Shape: one.
  void watch_erasures(std::function<void()> watch);

  // The same for many keys, in the order of the arguments. Where keys lie elsewhere, one request asks for all of them.
  [[nodiscard]] virtual std::vector<Result<HeldKey>> keys_for(const std::vector<std::string>& subjects);
  [[nodiscard]] virtual std::vector<Result<std::optional<HeldKey>>> find_all(const std::vector<KeyId>& ids);

  // Where keys lie with somebody else, who is asked and waited for:

  /// Those that find() and key_for() are about to be asked for, at once.
  virtual void fetch(KeysWanted /*wanted*/) {}
  /// What key_for() and find() say where they need not ask. Absent: they would.
  [[nodiscard]] virtual std::optional<Result<HeldKey>> key_at_hand(std::string_view subject) {
    return key_for(subject);
  }
  [[nodiscard]] virtual std::optional<Result<std::optional<HeldKey>>> found_at_hand(const KeyId& id) {
    return find(id);
  }

 protected:
  /// erasures() has changed. Not under a lock that a watcher may want.
  void erased();

 private:
  std::mutex watch_mutex_;
  std::function<void()> watch_;
};

}  // namespace evershard::cluster
