// The rows of subjects' keys in etcd, byte by byte. Each but the check row is sealed with the master key, for its own
// name.
//
// Source: docs/internals/on-disk-format.md, "Keys of subjects"; golden bytes in tests/golden/key_rows_golden_test.cpp.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/services/erasure/master_key.hpp"

namespace evershard::cluster {

class KeyRows {
 public:
  /// `prefix`: what all names of the cluster in etcd begin with: `NAME/`.
  KeyRows(std::string prefix, MasterKey master) : prefix_(std::move(prefix)), master_(std::move(master)) {}

  // Names. All other names begin with all().
  [[nodiscard]] std::string all() const { return prefix_ + "keys/"; }
  [[nodiscard]] std::string check() const { return all() + "check"; }
  [[nodiscard]] std::string names() const { return all() + "names"; }
  [[nodiscard]] std::string keys() const { return all() + "key/"; }
  [[nodiscard]] std::string key(const KeyId& id) const { return keys() + id.text(); }
  [[nodiscard]] std::string erasures() const { return all() + "erased/"; }
  [[nodiscard]] std::string erased(const KeyId& id) const { return erasures() + id.text(); }

  // Values.
  [[nodiscard]] std::string check_row() const;
  /// `name`: names(), or key() of one.
  [[nodiscard]] std::string secret_row(const std::string& name, std::string_view secret) const;
  [[nodiscard]] std::string erased_row(const KeyId& id, Timestamp at) const;

  // Errors of each: corruption, naming the row
  /// Errors: also invalid_argument: the rows are sealed with another master key
  [[nodiscard]] Result<void> check_master(std::string_view row) const;
  [[nodiscard]] Result<std::string> secret_of(const std::string& name, std::string_view row) const;
  /// Whether it says that this key was destroyed, and nobody but who has the master key wrote it.
  [[nodiscard]] Result<void> check_erased(const KeyId& id, std::string_view row) const;
  /// Absent: it is no name of such a row.
  [[nodiscard]] std::optional<KeyId> erased_id(std::string_view name) const;

 private:
  [[nodiscard]] std::string sealed(const std::string& name, std::string_view bytes) const;
  [[nodiscard]] Result<std::string> opened(const std::string& name, std::string_view row) const;

  const std::string prefix_;
  const MasterKey master_;
};

}  // namespace evershard::cluster
