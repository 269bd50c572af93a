// ProjectionRows: a projection's rows, with what it has changed since the last write laid over them.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/projections/projection_store.hpp"

namespace evershard::actors {

/// One page's work on one family. One thread.
class ProjectionRows {
 public:
  /// `family` as it is in the store; nothing else writes it meanwhile. `base`: its checkpoint.
  ProjectionRows(const storage::ProjectionStore& store, std::string family, const storage::ProjectionCheckpoint& base);

  void put(std::string_view key, std::string value) { changes_.put(key, std::move(value)); }
  void erase(std::string_view key) { changes_.erase(key); }
  /// What is put and not written yet is found too, what is erased is not. Errors: io, corruption
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key);
  /// One answer a key, in their order; one look into the store for all of them.
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys);
  /// Looks up many rows at once, in the order they lie in: get() finds them without a look of its own. Not all, where they are large.
  /// Errors: io, corruption
  [[nodiscard]] Result<void> fetch(std::vector<std::string> keys);
  /// Each row of the range in byte order, until `see` returns false. The rows must not be changed meanwhile. Errors: io, corruption
  [[nodiscard]] Result<void> each(const storage::RowRange& range, const std::function<bool(std::string_view key, std::string_view value)>& see);

  /// The projection's own bytes in its checkpoint: as they were written last, or put since.
  [[nodiscard]] const std::string& state() const { return state_; }
  void put_state(std::string state) { state_ = std::move(state); }

  /// What is to be written, without a checkpoint; the rows are used up.
  [[nodiscard]] storage::ProjectionChanges take();

 private:
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  Result<const storage::ProjectionView*> view();

  const storage::ProjectionStore& store_;
  const std::string family_;
  std::shared_ptr<const storage::ProjectionView> view_;
  storage::ProjectionChanges changes_;
  std::unordered_map<std::string, std::optional<std::string>, KeyHash, std::equal_to<>> fetched_;  ///< as they are in the store
  std::string state_;
};

}  // namespace evershard::actors
