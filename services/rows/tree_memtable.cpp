#include "evershard/services/rows/tree_memtable.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include <rocksdb/memtablerep.h>

#include "evershard/services/rows/entry_tree.hpp"

namespace evershard::storage {
namespace {

EntryKey entry_key(const rocksdb::Slice& internal_key) {
  return EntryKey::of_internal_key({internal_key.data(), internal_key.size()});
}

/// RocksDB's own allocators are not in its headers, but for this one way to them. Memory is aligned for anything.
class MemoryOf final : public rocksdb::MemTableRep {
 public:
  explicit MemoryOf(rocksdb::Allocator* allocator) : MemTableRep(allocator) {}
  void* take(std::size_t bytes) {
    constexpr std::size_t align = alignof(std::max_align_t);
    char* at = nullptr;
    // It gives the place by its last argument.
    (void)MemTableRep::Allocate(bytes + align - 1, &at);
    return at + (align - reinterpret_cast<std::uintptr_t>(at) % align) % align;
  }

 private:
  void Insert(rocksdb::KeyHandle) override {}
  [[nodiscard]] bool Contains(const char*) const override { return false; }
  std::size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(rocksdb::Arena*) override { return nullptr; }
};

class TreeIterator : public rocksdb::MemTableRep::Iterator {
 public:
  explicit TreeIterator(const EntryTree* tree) : tree_(tree) {}
  [[nodiscard]] bool Valid() const override { return at_ < run_.size; }
  [[nodiscard]] const char* key() const override { return run_.entries[at_]; }
  void Next() override {
    if (++at_ == run_.size) go_behind();
  }
  void Prev() override {
    if (at_ == 0) {
      retreat(EntryKey::of_entry(key()));
    } else {
      --at_;
    }
  }
  void Seek(const rocksdb::Slice& internal_key, const char* /*entry*/) override {
    at_ = tree_->run_at(entry_key(internal_key), run_);
    if (at_ == run_.size) go_behind();
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char* entry) override {
    Seek(internal_key, entry);
    if (Valid() && compare(EntryKey::of_entry(key()), entry_key(internal_key)) == 0) return;
    retreat(entry_key(internal_key));
  }
  void SeekToFirst() override {
    tree_->first_run(run_);
    at_ = 0;
  }
  void SeekToLast() override {
    tree_->last_run(run_);
    at_ = run_.size - 1;  // of an empty one: behind all there are
  }

 private:
  void go_behind() {
    if (run_.behind != nullptr) at_ = tree_->run_at(EntryKey::of_entry(run_.behind), run_);
  }
  void retreat(const EntryKey& key) {
    const unsigned before = tree_->run_before(key, run_);
    at_ = before == 0 ? run_.size : before - 1;
  }

  const EntryTree* tree_;
  EntryTree::Run run_;  // copied: between two calls nothing holds up the writer
  unsigned at_ = 0;
};

/// What a single row is looked up with. RocksDB asks for one, and leaves it behind: it has nothing that would have to
/// be given back, and a thread's is used again. A RocksDB that gives it back does no harm; one that held two of them in
/// a thread at the same time would: to be looked at before a newer one than 7.8 is used.
class LookUp final : public TreeIterator {
 public:
  using TreeIterator::TreeIterator;
  static void operator delete(void* /*of a thread*/) {}
};

class TreeMemtable final : public rocksdb::MemTableRep {
 public:
  explicit TreeMemtable(rocksdb::Allocator* allocator) : MemTableRep(allocator), memory_(allocator) {}
  void Insert(rocksdb::KeyHandle handle) override { tree_.insert(static_cast<const char*>(handle)); }
  [[nodiscard]] bool Contains(const char* entry) const override {
    const auto key = EntryKey::of_entry(entry);
    EntryTree::Run run;
    const unsigned at = tree_.run_at(key, run);
    return at < run.size && compare(EntryKey::of_entry(run.entries[at]), key) == 0;
  }
  std::size_t ApproximateMemoryUsage() override {
    return 0;
  }  // all of it comes from RocksDB's allocator, which counts it
  Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new TreeIterator(&tree_);
    // An arena is an allocator; who asks destroys the iterator without giving back its memory.
    return new (MemoryOf(reinterpret_cast<rocksdb::Allocator*>(arena)).take(sizeof(TreeIterator))) TreeIterator(&tree_);
  }
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    if (arena != nullptr) return GetIterator(arena);
    alignas(LookUp) static thread_local std::array<std::byte, sizeof(LookUp)> look_up;
    return new (&look_up) LookUp(&tree_);
  }

 private:
  MemoryOf memory_;
  EntryTree tree_{[this](std::size_t bytes) { return memory_.take(bytes); }};
};

class TreeMemtables final : public rocksdb::MemTableRepFactory {
 public:
  using MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& /*byte by byte*/,
                                          rocksdb::Allocator* allocator, const rocksdb::SliceTransform*,
                                          rocksdb::Logger*) override {
    return new TreeMemtable(allocator);
  }
  [[nodiscard]] const char* Name() const override { return "evershard.EntryTree"; }
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> tree_memtables() { return std::make_shared<TreeMemtables>(); }

}  // namespace evershard::storage
