// KeyFolder: subjects' keys in a directory of their own, a file each.

#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "evershard/cluster/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// The directory has: `SECRET` (names of keys are made with it: who sees the names cannot tell whose they are), `ID.key`, and
/// `ID.erased` for each key that was destroyed. Several processes may have it open, on a file system they share.
///
/// Durable: a key's file and its name are synced before it is used.
/// Source:  docs/retention.md, "Erasure"
class KeyFolder final : public SubjectKeys {
 public:
  /// Creates it where it is missing, for its owner alone. Errors: io; invalid_argument: others may read it, or it lies within `data_dir`,
  ///   whose backups would keep what is destroyed; corruption: there are keys and no SECRET
  [[nodiscard]] static Result<std::unique_ptr<KeyFolder>> open(std::filesystem::path folder, const std::filesystem::path& data_dir);

  Result<PayloadKey> key_for(std::string_view subject) override;
  Result<std::optional<PayloadKey>> find(const KeyId& id) override;
  Result<std::optional<KeyId>> current(std::string_view subject) override;
  Result<void> destroy(const KeyId& id) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    PayloadKey key;
    Clock::time_point looked;  ///< when it was there last
  };

  KeyFolder(std::filesystem::path folder, std::string secret) : folder_(std::move(folder)), secret_(std::move(secret)) {}
  [[nodiscard]] std::filesystem::path file(const KeyId& id, const char* extension) const { return folder_ / (id.text() + extension); }
  [[nodiscard]] KeyId id_of(std::string_view subject, std::uint32_t generation) const;
  [[nodiscard]] Result<bool> is_erased(const KeyId& id) const;
  [[nodiscard]] Result<KeyId> newest(std::string_view subject) const;
  [[nodiscard]] Result<std::optional<PayloadKey>> look(const KeyId& id);

  [[nodiscard]] std::optional<PayloadKey> remembered(const KeyId& id, bool fresh_only);
  void remember(const PayloadKey& key);
  void forget(std::map<KeyId, Known>::iterator known);

  const std::filesystem::path folder_;
  const std::string secret_;
  std::mutex changing_;    ///< keys are made and destroyed one at a time
  std::mutex mutex_;       ///< never held while a file is looked at: who reads does not wait for who makes a key
  std::map<KeyId, Known> known_;
  std::set<KeyId> destroyed_;  ///< here, since it was opened: what was read of them just before is not remembered
};

}  // namespace evershard::cluster
