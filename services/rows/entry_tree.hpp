// EntryTree: the entries of a memtable in order of their keys: a B+ tree that one thread writes and any number read
// meanwhile.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace evershard::storage {

/// What an entry is found by. Order: by the user's key, byte by byte; of one key, the newest first.
struct EntryKey {
  const char* user = nullptr;
  std::uint32_t size = 0;  ///< bytes of the user's key; eight more follow it in memory, the tag
  std::uint64_t tag = 0;   ///< higher: newer

  /// Shape: an entry's bytes: the length of what follows as a varint, the user's key, the tag in eight bytes, least
  /// first; whatever else.
  [[nodiscard]] static EntryKey of_entry(const char* entry);
  /// Shape: the user's key and the tag
  [[nodiscard]] static EntryKey of_internal_key(std::string_view key);
};

/// Negative: `a` comes first; 0: they are the same.
[[nodiscard]] int compare(const EntryKey& a, const EntryKey& b);

/// Holds the addresses of entries, and the entries must stay there. No entry is ever taken out.
///
/// RocksDB's skip list goes through some twenty entries all over the memory for each one that is put or looked up. Here
/// a node has the next eight bytes of its keys beside each other, behind what all of them begin with, so that few
/// entries are looked at, and few places in memory.
///
/// A node is written before anybody can find it. It takes the place of another one by a single store into its parent,
/// so each node that a reader goes through was in the tree at some moment of its reading, and holds all that its parent
/// sent it for. The old one's memory is used again when nobody reads who may have seen it.
class EntryTree {
 public:
  static constexpr std::size_t leaf_entries = 32;

  /// Returns: memory for `bytes`, aligned for anything, that stays for as long as the tree does
  using Allocate = std::function<void*(std::size_t bytes)>;
  explicit EntryTree(Allocate allocate) : allocate_(std::move(allocate)) {}

  /// One thread at a time. None of the same key and tag may be there.
  void insert(const char* entry);

  // Any thread, beside insert(). A reader may find an entry that is inserted meanwhile, or not.

  /// Entries beside each other, and where those behind them begin.
  struct Run {
    std::array<const char*, leaf_entries> entries;
    unsigned size = 0;
    const char* behind = nullptr;  ///< the entry behind the last one; nullptr: none was there

    void clear() {
      size = 0;
      behind = nullptr;
    }
  };
  /// The run where `key` is or would be. Returns: the place of the first entry at or behind it, in the run, or its size
  [[nodiscard]] unsigned run_at(const EntryKey& key, Run& run) const;
  /// The run of the last entry before `key`. Returns: how many of the run's come before it; 0: none does
  [[nodiscard]] unsigned run_before(const EntryKey& key, Run& run) const;
  /// The run of the first entries, or the last ones; empty where the tree is.
  void first_run(Run& run) const;
  void last_run(Run& run) const;

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  class Reading;
  struct Bounds {
    const char* from = nullptr;   ///< what a node holds is at or behind it; nullptr: no bound
    const char* until = nullptr;  ///< and before it
  };
  struct Step {
    Inner* inner;
    unsigned child;
    Bounds bounds;  ///< of `inner`
  };
  static constexpr std::size_t inner_children = 64;
  static constexpr std::size_t height_max = 16;
  struct Path {
    std::array<Step, height_max> steps;
    std::size_t size = 0;
  };

  [[nodiscard]] const Leaf* leaf_at(const EntryKey& key, bool before, const char** behind) const;
  [[nodiscard]] unsigned run_of(const EntryKey& key, bool before, Run& run) const;
  static void copy(const Leaf& leaf, const char* behind, Run& run);
  void put_child(const Path& path, std::size_t depth, Node* child);
  void split(Path& path, Node* left, const char* separator, Node* right);
  template <typename T>
  T* make(std::vector<T*>& spare);
  Leaf* leaf_of(const char* const* entries, std::size_t size, const Bounds& bounds);
  void retire(Leaf* leaf);
  void retire(Inner* inner);
  void reclaim();

  const Allocate allocate_;
  std::atomic<Node*> root_{nullptr};
  const char* last_ = nullptr;  ///< what was put last

  // Whoever reads says so in the counter of the epoch in which it began. A node that was taken out in one epoch is
  // unknown to who begins in the next. An epoch ends only when the one before has no readers, so no more than two have
  // some at any time. An old parent may lead to nodes that were taken out one epoch later than itself: those wait for
  // its reader too.
  mutable std::atomic<std::uint64_t> epoch_{1};
  mutable std::array<std::atomic<std::uint64_t>, 2> readers_{};
  struct Retired {
    std::vector<Leaf*> leaves;
    std::vector<Inner*> inners;
    [[nodiscard]] bool empty() const { return leaves.empty() && inners.empty(); }
  };
  Retired retired_, retired_before_;  ///< nodes retired in this epoch, and in the epoch before
  std::vector<Leaf*> spare_leaves_;
  std::vector<Inner*> spare_inners_;
};

}  // namespace evershard::storage
