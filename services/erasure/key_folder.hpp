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

#include "evershard/services/erasure/key_names.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

/// The directory has: `SECRET` (names of keys are made with it: who sees the names cannot tell whose they are),
/// `ID.key`, and `ID.erased` for each key that was destroyed. Several processes may have it open, on a file system they
/// share.
///
/// Durable: a key's file and its name are synced before it is used.
/// Source:  docs/erasure.md
class KeyFolder final : public SubjectKeys {
 public:
  enum class Missing : std::uint8_t { create, refuse };

  /// Where it is missing it is created, for its owner alone, or not_found. Errors: io; invalid_argument: others may
  ///   read it, or it lies within `data_dir`, whose backups would keep what is destroyed; corruption: there are keys
  ///   and no SECRET
  [[nodiscard]] static Result<std::unique_ptr<KeyFolder>> open(std::filesystem::path folder,
                                                               const std::filesystem::path& data_dir,
                                                               Missing missing = Missing::create);

  Result<HeldKey> key_for(std::string_view subject) override;
  Result<std::optional<HeldKey>> find(const KeyId& id) override;
  Result<std::optional<KeyId>> current(std::string_view subject) override;
  Result<void> destroy(const KeyId& id) override;
  /// Also of those that another process destroyed, when it is noticed: before a key of the same subject that is newer
  /// is given.
  [[nodiscard]] std::uint64_t erasures() const override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Known {
    HeldKey key;
    Clock::time_point looked;  ///< when it was there last
  };

  KeyFolder(std::filesystem::path folder, std::string secret) : folder_(std::move(folder)), names_(std::move(secret)) {}
  [[nodiscard]] std::filesystem::path file(const KeyId& id, const char* extension) const {
    return folder_ / (id.text() + extension);
  }
  /// Once it is, it is counted, and not remembered.
  [[nodiscard]] Result<bool> is_erased(const KeyId& id);
  [[nodiscard]] Result<KeyId> newest(std::string_view subject);
  [[nodiscard]] Result<std::optional<HeldKey>> look(const KeyId& id);
  [[nodiscard]] Result<void> count_erased();
  void note_erased(const KeyId& id);
  [[nodiscard]] HeldKey as_of_now(HeldKey key) const;

  [[nodiscard]] std::optional<HeldKey> remembered(const KeyId& id, bool fresh_only);
  void remember(const HeldKey& key);

  const std::filesystem::path folder_;
  const KeyNames names_;
  std::mutex changing_;       ///< keys are made and destroyed one at a time
  mutable std::mutex mutex_;  ///< never held while a file is looked at: who reads does not wait for who makes a key
  std::map<KeyId, Known> known_;
  std::set<KeyId> destroyed_;   ///< as far as it was noticed: what was read of them just before is not remembered
  std::uint64_t erasures_ = 0;  ///< of them, those that were noticed since it was opened
};

}  // namespace evershard::cluster
