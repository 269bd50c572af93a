#include "evershard/services/rows/memory_projection_store.hpp"

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "evershard/storage/refusals.hpp"

namespace evershard::storage {

RowRange RowRange::prefix(std::string_view prefix) {
  std::string until(prefix);
  while (!until.empty() && static_cast<unsigned char>(until.back()) == 0xFF) until.pop_back();
  if (!until.empty()) until.back() = static_cast<char>(static_cast<unsigned char>(until.back()) + 1);
  return {std::string(prefix), std::move(until)};
}

namespace {

using MemoryRows = std::map<std::string, std::string, std::less<>>;

struct SharedRows {
  MemoryRows rows;
  std::atomic<std::size_t> readers{0};
};

/// Somebody who reads them: as long as there is one they stay as they are.
class ReadRows {
 public:
  explicit ReadRows(std::shared_ptr<SharedRows> shared) : shared_(std::move(shared)) { ++shared_->readers; }
  ReadRows(const ReadRows& other) : ReadRows(other.shared_) {}
  ReadRows& operator=(const ReadRows&) = delete;
  ~ReadRows() { --shared_->readers; }
  const MemoryRows* operator->() const { return &shared_->rows; }

 private:
  const std::shared_ptr<SharedRows> shared_;
};

struct MemoryFamily {
  std::shared_ptr<SharedRows> shared = std::make_shared<SharedRows>();
  ProjectionCheckpoint checkpoint{};
};

class MemoryCursor final : public ProjectionCursor {
 public:
  MemoryCursor(const ReadRows& rows, const RowRange& range, bool backwards)
      : rows_(rows),
        first_(rows_->lower_bound(range.from)),
        end_(range.until.empty() ? rows_->end() : rows_->lower_bound(range.until)),
        backwards_(backwards) {
    if (!range.until.empty() && range.until <= range.from) end_ = first_;
    next_ = backwards_ ? end_ : first_;
  }
  bool next() override {
    if (backwards_) {
      if (next_ == first_) return false;
      at_ = --next_;
      return true;
    }
    if (next_ == end_) return false;
    at_ = next_++;
    return true;
  }
  [[nodiscard]] std::string_view key() const override { return at_->first; }
  [[nodiscard]] std::string_view value() const override { return at_->second; }
  [[nodiscard]] const std::optional<Error>& error() const override { return error_; }
  void seek(std::string_view key) override {
    const auto outside = [&](MemoryRows::const_iterator i) {
      return i != rows_->end() && (first_ == rows_->end() || i->first < first_->first);
    };
    next_ = backwards_ ? rows_->upper_bound(key) : rows_->lower_bound(key);
    if (outside(next_)) next_ = first_;
    if (end_ != rows_->end() && (next_ == rows_->end() || next_->first > end_->first)) next_ = end_;
  }

 private:
  const ReadRows rows_;
  MemoryRows::const_iterator first_, end_, next_, at_;
  const bool backwards_;
  std::optional<Error> error_;
};

class MemoryView final : public ProjectionView {
 public:
  explicit MemoryView(const MemoryFamily& family) : rows_(family.shared), checkpoint_(family.checkpoint) {}
  [[nodiscard]] const ProjectionCheckpoint& checkpoint() const override { return checkpoint_; }
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key) const override {
    const auto found = rows_->find(key);
    if (found == rows_->end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(
      std::span<const std::string> keys) const override {
    std::vector<std::optional<std::string>> found;
    for (const auto& key : keys) found.push_back(*get(key));
    return found;
  }
  [[nodiscard]] Result<void> look_up(std::span<const std::string_view> keys, const RowSeen& each) const override {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto found = rows_->find(keys[i]);
      const auto go_on = each(i, found == rows_->end() ? std::nullopt : std::optional<std::string_view>(found->second));
      if (!go_on) return refuse(go_on.error());
      if (!*go_on) return {};
    }
    return {};
  }
  [[nodiscard]] std::unique_ptr<ProjectionCursor> cursor(RowRange range, bool backwards) const override {
    return std::make_unique<MemoryCursor>(rows_, range, backwards);
  }

 private:
  const ReadRows rows_;
  const ProjectionCheckpoint checkpoint_;
};

/// A view shares the rows; who writes while one is out writes a copy.
class MemoryProjectionStore final : public ProjectionStore {
 public:
  Result<void> create_family(const std::string& name, const ProjectionCheckpoint& begin) override {
    const std::lock_guard lock(mutex_);
    if (!families_.try_emplace(name, MemoryFamily{.checkpoint = begin}).second)
      return invalid("there is a family " + name + " already");
    return {};
  }
  Result<void> drop_family(const std::string& name) override {
    const std::lock_guard lock(mutex_);
    families_.erase(name);
    return {};
  }
  [[nodiscard]] std::vector<std::string> families() const override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, family] : families_) names.push_back(name);
    return names;
  }
  Result<void> write(const ProjectionBatch& batch) override {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, changes] : batch.families)
      if (!families_.contains(name)) return refuse(ErrorCode::not_found, "there is no family " + name);
    for (const auto& [name, changes] : batch.families) {
      auto& family = families_.at(name);
      if (!changes.rows.empty()) apply(family, changes);
      if (changes.checkpoint) family.checkpoint = *changes.checkpoint;
    }
    return {};
  }
  [[nodiscard]] Result<ProjectionCheckpoint> checkpoint(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = families_.find(name);
    if (found == families_.end()) return refuse(ErrorCode::not_found, "there is no family " + name);
    return found->second.checkpoint;
  }
  [[nodiscard]] Result<std::shared_ptr<const ProjectionView>> view(const std::string& name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = families_.find(name);
    if (found == families_.end()) return refuse(ErrorCode::not_found, "there is no family " + name);
    return std::make_shared<MemoryView>(found->second);
  }
  [[nodiscard]] std::uint64_t disk_bytes() const override { return 0; }
  Result<void> vacuum(const Progress&, unsigned) override { return {}; }
  void close() override {}

 private:
  static void apply(MemoryFamily& family, const ProjectionChanges& changes) {
    if (family.shared->readers != 0) {
      auto copy = std::make_shared<SharedRows>();
      copy->rows = family.shared->rows;
      family.shared = std::move(copy);
    }
    auto& rows = family.shared->rows;
    for (const auto& [key, value] : changes.rows) {
      if (value) {
        rows.insert_or_assign(key, *value);
      } else {
        rows.erase(key);
      }
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, MemoryFamily> families_;
};

}  // namespace

std::unique_ptr<ProjectionStore> memory_projection_store() { return std::make_unique<MemoryProjectionStore>(); }

}  // namespace evershard::storage
