#include "evershard/storage/memory/memory_rows.hpp"

#include <mutex>

namespace evershard::storage {
namespace {

using Value = std::shared_ptr<const std::string>;
using Table = std::map<std::string, Value, std::less<>>;

}  // namespace

struct MemoryRows::Tables {
  mutable std::shared_mutex mutex;
  std::array<Table, family_count> rows;
  std::array<std::uint64_t, family_count> bytes{};
};

class MemoryRows::Cursor final : public RowCursor {
 public:
  Cursor(std::shared_ptr<Tables> tables, Family family) : tables_(std::move(tables)), family_(family) {}

  void seek(std::string_view key) override {
    move([&](const Table& table) { return table.lower_bound(key); });
  }
  void seek_for_prev(std::string_view key) override {
    move([&](const Table& table) { return before(table, table.upper_bound(key)); });
  }
  void next() override {
    move([&](const Table& table) { return table.upper_bound(key_); });
  }
  void prev() override {
    move([&](const Table& table) { return before(table, table.lower_bound(key_)); });
  }
  [[nodiscard]] bool valid() const override { return value_ != nullptr; }
  [[nodiscard]] std::string_view key() const override { return key_; }
  [[nodiscard]] std::string_view value() const override { return *value_; }
  [[nodiscard]] Result<void> status() const override {
    if (tables_) return {};
    return refuse(ErrorCode::unavailable, "the store is closed");
  }

 private:
  static Table::const_iterator before(const Table& table, Table::const_iterator at) {
    return at == table.begin() ? table.end() : std::prev(at);
  }

  template <class Find>
  void move(Find find) {
    if (!tables_) return;
    std::shared_lock lock(tables_->mutex);
    const auto& table = tables_->rows[static_cast<std::size_t>(family_)];
    auto row = find(table);
    if (row == table.end()) {
      value_.reset();
    } else {
      key_ = row->first;
      value_ = row->second;
    }
  }

  std::shared_ptr<Tables> tables_;
  const Family family_;
  std::string key_;
  Value value_;
};

class MemoryRows::Batch final : public RowBatch {
 public:
  [[nodiscard]] bool found(std::size_t i) const override { return values[i] != nullptr; }
  [[nodiscard]] std::string_view value(std::size_t i) const override { return *values[i]; }
  std::vector<Value> values;
};

MemoryRows::MemoryRows() : tables_(std::make_shared<Tables>()) {}
MemoryRows::~MemoryRows() = default;

std::shared_ptr<MemoryRows::Tables> MemoryRows::tables() const {
  std::shared_lock lock(mutex_);
  return tables_;
}

std::unique_ptr<RowCursor> MemoryRows::cursor(Family family, CursorOptions) const {
  return std::make_unique<Cursor>(tables(), family);
}

Result<std::unique_ptr<RowBatch>> MemoryRows::get(Family family, std::span<const std::string_view> keys,
                                                  bool /*keep*/) const {
  auto open = tables();
  if (!open) return refuse(ErrorCode::unavailable, "the store is closed");
  auto batch = std::make_unique<Batch>();
  batch->values.reserve(keys.size());
  std::shared_lock lock(open->mutex);
  const auto& table = open->rows[static_cast<std::size_t>(family)];
  for (auto key : keys) {
    auto row = table.find(key);
    batch->values.push_back(row == table.end() ? nullptr : row->second);
  }
  return batch;
}

void MemoryRows::write(std::vector<Write> writes) {
  auto open = tables();
  if (!open) return;
  std::unique_lock lock(open->mutex);
  for (auto& write : writes) {
    auto i = static_cast<std::size_t>(write.family);
    auto& table = open->rows[i];
    auto row = table.find(write.key);
    if (row != table.end()) open->bytes[i] -= row->first.size() + row->second->size();
    if (!write.value) {
      if (row != table.end()) table.erase(row);
      continue;
    }
    open->bytes[i] += write.key.size() + write.value->size();
    auto value = std::make_shared<const std::string>(std::move(*write.value));
    if (row != table.end())
      row->second = std::move(value);
    else
      table.emplace(std::move(write.key), std::move(value));
  }
}

void MemoryRows::close() {
  std::unique_lock lock(mutex_);
  tables_.reset();
}

std::uint64_t MemoryRows::bytes(Family family) const {
  auto open = tables();
  if (!open) return 0;
  std::shared_lock lock(open->mutex);
  return open->bytes[static_cast<std::size_t>(family)];
}

}  // namespace evershard::storage
