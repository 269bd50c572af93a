// EtcdKeys: subjects' keys on etcd, beside the cut log, sealed with a master key.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "evershard/cluster/etcd/etcd_options.hpp"
#include "evershard/cluster/etcd/key_rows.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/services/erasure/key_names.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace etcdserverpb {
class TxnRequest;
class TxnResponse;
}  // namespace etcdserverpb

namespace evershard::cluster {

class EtcdClient;

/// One row a key, one a key that was destroyed, and the secret that keys are named with. Any number of coordinators may
/// have them open; one of them leads the cut log, and gives keys. Each request compares the cut log's epoch in its own
/// transaction: who leads no more gives no key, makes none and destroys none. So whatever an earlier leader lent was
/// asked for before this one led (KeyKeeper relies on it).
///
/// No key is remembered here. That one was destroyed is: it is for good.
///
/// Destroying: one transaction deletes the key's row and writes that it was destroyed; then etcd gives up the revisions
/// in which the key can be read. Where that fails, so does destroy(), and is to be called again.
///
/// Errors beyond those of SubjectKeys: unavailable: another coordinator leads, or none of etcd's members answers, or
///          there is no majority; of a destruction it is not known then whether the key is there. Who comes within the
///          second after etcd did not answer is told so without asking it. io, permission_denied, unauthenticated: etcd
///          refuses it
/// Durable: what is made or destroyed is on a majority of etcd's members on return.
/// Source:  docs/internals/on-disk-format.md, "Keys of subjects"; docs/erasure.md.
class EtcdKeys final : public SubjectKeys {
 public:
  /// Makes the naming secret where there are no keys yet. Gives no key before lead().
  /// Errors: invalid_argument: the keys are sealed with another master key, which is found before anything is written;
  /// corruption: a row is damaged or missing; unavailable
  [[nodiscard]] static Result<std::unique_ptr<EtcdKeys>> open(const EtcdOptions& etcd, const MasterKey& master);
  ~EtcdKeys() override;

  /// The cut log is led by this coordinator, under this epoch.
  [[nodiscard]] Result<void> lead(Epoch epoch);

  Result<HeldKey> key_for(std::string_view subject) override;
  Result<std::optional<HeldKey>> find(const KeyId& id) override;
  Result<std::optional<KeyId>> current(std::string_view subject) override;
  Result<void> destroy(const KeyId& id) override;
  [[nodiscard]] std::uint64_t erasures() const override;
  std::vector<Result<HeldKey>> keys_for(const std::vector<std::string>& subjects) override;
  std::vector<Result<std::optional<HeldKey>>> find_all(const std::vector<KeyId>& ids) override;

 private:
  using Clock = std::chrono::steady_clock;
  /// What etcd has of a key, at one moment.
  struct Seen {
    bool erased = false;
    std::optional<std::string> row{};
  };

  EtcdKeys(EtcdOptions etcd, KeyRows rows);
  [[nodiscard]] Result<void> begin();
  [[nodiscard]] Result<std::string> naming_secret();
  [[nodiscard]] Result<void> create();
  /// Carries the request out if this coordinator leads, else refuses it and changes nothing. If another comparison of
  /// the request does not hold, the answers to the request's `failure` part begin with the second response.
  [[nodiscard]] Result<etcdserverpb::TxnResponse> carry_out(etcdserverpb::TxnRequest request);
  /// Of each id, in their order.
  [[nodiscard]] std::vector<Result<Seen>> look(const std::vector<KeyId>& ids);
  [[nodiscard]] Result<std::vector<Result<Seen>>> look_at_once(const std::vector<KeyId>& ids);
  [[nodiscard]] Result<Seen> seen(const KeyId& id, const std::string* key, const std::string* erased);
  /// Makes the key. If the key was made or destroyed meanwhile, the result shows that key or its destruction.
  [[nodiscard]] Result<Seen> make(const KeyId& id);
  /// Absent: it was destroyed meanwhile.
  [[nodiscard]] Result<std::optional<HeldKey>> opened(const KeyId& id, const std::string& row) const;
  /// The first generation from this one on of which it is not known that it was destroyed.
  [[nodiscard]] std::uint32_t not_known_to_be_destroyed(std::string_view subject, std::uint32_t from) const;
  [[nodiscard]] bool is_known_to_be_destroyed(const KeyId& id) const;
  void note_erased(const KeyId& id);
  [[nodiscard]] Result<bool> has_keys();
  [[nodiscard]] Result<std::set<KeyId>> read_erased();

  /// A client for one request; several are asked at the same time.
  template <class Call>
  [[nodiscard]] auto ask(Call call) -> decltype(call(std::declval<EtcdClient&>()));
  [[nodiscard]] Result<std::unique_ptr<EtcdClient>> take_client();
  [[nodiscard]] std::string where() const;

  const EtcdOptions etcd_;
  const KeyRows rows_;
  std::optional<KeyNames> names_;  ///< there from begin() on

  mutable std::mutex mutex_;  ///< never held while etcd is asked
  std::vector<std::unique_ptr<EtcdClient>> idle_;
  std::optional<Epoch> epoch_;
  std::set<KeyId> destroyed_;   ///< as far as it was noticed
  std::uint64_t erasures_ = 0;  ///< of them, those that were noticed since it led first
  std::optional<Error> away_;   ///< what etcd's silence was
  Clock::time_point away_until_{};
};

}  // namespace evershard::cluster
