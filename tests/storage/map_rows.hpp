// MapRows: rows in sorted maps, to be looked at and damaged by tests. One thread.

#pragma once

#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

class MapRows final : public Rows {
 public:
  using Table = std::map<std::string, std::string, std::less<>>;

  Table& operator[](Family family) { return tables_[static_cast<std::size_t>(family)]; }
  const Table& operator[](Family family) const { return tables_[static_cast<std::size_t>(family)]; }

  std::unique_ptr<RowCursor> cursor(Family family, CursorOptions options) const override {
    return std::make_unique<Cursor>((*this)[family], options.prefix);
  }

  /// A key that `unreadable` names fails the whole get, as a damaged block does.
  Result<std::unique_ptr<RowBatch>> get(Family family, std::span<const std::string_view> keys,
                                        bool /*keep*/ = true) const override {
    auto batch = std::make_unique<Batch>();
    for (const auto key : keys) {
      if (key == unreadable) return refuse(ErrorCode::corruption, "a block is damaged");
      auto row = (*this)[family].find(key);
      batch->values.push_back(row == (*this)[family].end() ? std::nullopt : std::optional(row->second));
    }
    return batch;
  }

  std::optional<std::string> unreadable;

 private:
  class Batch final : public RowBatch {
   public:
    bool found(std::size_t i) const override { return values[i].has_value(); }
    std::string_view value(std::size_t i) const override { return *values[i]; }
    std::vector<std::optional<std::string>> values;
  };

  /// Where the promise of a prefix is made, what lies outside it is not to be seen: rows there do not exist.
  class Cursor final : public RowCursor {
   public:
    Cursor(const Table& table, std::string_view prefix) : table_(table), prefix_(prefix), at_(table.end()) {}
    void seek(std::string_view key) override { at_ = table_.lower_bound(key); }
    void seek_for_prev(std::string_view key) override {
      at_ = table_.upper_bound(key);
      prev();
    }
    void next() override { ++at_; }
    void prev() override { at_ = at_ == table_.begin() ? table_.end() : std::prev(at_); }
    bool valid() const override { return at_ != table_.end() && at_->first.starts_with(prefix_); }
    std::string_view key() const override { return at_->first; }
    std::string_view value() const override { return at_->second; }
    Result<void> status() const override { return {}; }

   private:
    const Table& table_;
    std::string prefix_;
    Table::const_iterator at_;
  };

  std::array<Table, family_count> tables_;
};

}  // namespace evershard::storage
