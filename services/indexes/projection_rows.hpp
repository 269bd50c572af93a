// ProjectionRows: a projection's rows, with what it has changed since the last write laid over them.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/services/indexes/row_table.hpp"
#include "evershard/services/rows/projection_store.hpp"

namespace evershard::actors {

/// One family's, from one write to the next, of a page or of many; then anew from what is in the store. One thread.
class ProjectionRows {
 public:
  /// `family` as it is in the store; nothing else writes it meanwhile. `base`: its checkpoint.
  ProjectionRows(const storage::ProjectionStore& store, std::string family, const storage::ProjectionCheckpoint& base);

  void put(std::string key, std::string value);
  /// Of a row that is not there, as the caller knows: erased again before it is written, it need not be written at all.
  void put_new(std::string key, std::string value);
  void erase(std::string_view key);
  /// What is put and not written yet is found too, what is erased is not. Errors: io, corruption
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key);
  /// One answer a key, in their order; one look into the store for all that were not changed. Errors: io, corruption
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(std::span<const std::string> keys);
  /// Looks up many rows at once, in the order they lie in: get() finds them without a look of its own. Not all, where
  /// they are large. Errors: io, corruption
  [[nodiscard]] Result<void> fetch(std::vector<std::string> keys);
  /// Each row of the range in byte order, until `see` returns false. Cost: a look at all rows that are held here. The
  /// rows must not be changed meanwhile. Errors: io, corruption
  [[nodiscard]] Result<void> each(const storage::RowRange& range,
                                  const std::function<bool(std::string_view key, std::string_view value)>& see);

  /// The projection's own bytes in its checkpoint: as they were written last, or put since.
  [[nodiscard]] const std::string& state() const { return state_; }
  void put_state(std::string state) { state_ = std::move(state); }

  /// What the rows take here, about.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// For as long as the work rests: the store's own view of the rows is let go.
  void rest() { view_.reset(); }
  /// What is to be written, in order of key, without a checkpoint. Then nothing is changed; the state stays as it was
  /// put.
  [[nodiscard]] storage::ProjectionChanges take();

 private:
  Result<const storage::ProjectionView*> view();
  HeldRow& row(std::string key, bool stored);
  void give(HeldRow& row, std::optional<std::string> value);
  void change(HeldRow& row, std::optional<std::string> value);

  const storage::ProjectionStore& store_;
  const std::string family_;
  std::shared_ptr<const storage::ProjectionView> view_;
  RowTable rows_;
  std::size_t bytes_ = 0;
  std::string state_;
};

}  // namespace evershard::actors
