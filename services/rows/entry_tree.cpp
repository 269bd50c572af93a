#include "evershard/services/rows/entry_tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint32_t tag_bytes = 8;

std::uint64_t eight_bytes(const char* at) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

static_assert(std::endian::native == std::endian::little, "tags and digests are read as they lie");

/// The eight bytes behind the first `prefix` ones, as a number that is ordered as they are; shorter keys are filled up
/// with zeros.
std::uint64_t digest_of(const EntryKey& key, std::uint32_t prefix) {
  const std::uint32_t left = key.size - prefix;
  const std::uint64_t bytes =
      __builtin_bswap64(eight_bytes(key.user + prefix));  // the tag follows, so eight can be read
  if (left >= 8) return bytes;
  return left == 0 ? 0 : bytes & ~std::uint64_t{0} << (64 - 8 * left);
}

/// How many bytes all keys between two entries begin with.
std::uint32_t common_prefix(const char* from, const char* until) {
  if (from == nullptr || until == nullptr) return 0;
  const auto a = EntryKey::of_entry(from), b = EntryKey::of_entry(until);
  return static_cast<std::uint32_t>(std::mismatch(a.user, a.user + std::min(a.size, b.size), b.user).first - a.user);
}

/// How many of `entries`, which are in order, come before `key`; with `or_same`, or are it.
unsigned count_before(const std::uint64_t* digests, const char* const* entries, unsigned size, std::uint32_t prefix,
                      const EntryKey& key, bool or_same) {
  const std::uint64_t digest = digest_of(key, prefix);
  unsigned before = 0;
  while (size > 0) {
    const unsigned half = size / 2, at = before + half;
    const bool is_before = digests[at] != digest ? digests[at] < digest
                                                 : compare(EntryKey::of_entry(entries[at]), key) < (or_same ? 1 : 0);
    before = is_before ? at + 1 : before;
    size = is_before ? size - half - 1 : half;
  }
  return before;
}

/// The first `size` of `from`, with one more at `at`.
template <typename From, typename T, typename To>
void put_between(const From& from, std::size_t size, std::size_t at, T one, To& to) {
  std::copy_n(from.begin(), at, to.begin());
  to[at] = one;
  std::copy(from.begin() + at, from.begin() + size, to.begin() + at + 1);
}

}  // namespace

EntryKey EntryKey::of_entry(const char* entry) {
  std::uint32_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*entry++);
    size |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return of_internal_key({entry, size});
}

EntryKey EntryKey::of_internal_key(std::string_view key) {
  const auto size = static_cast<std::uint32_t>(key.size()) - tag_bytes;
  return {key.data(), size, eight_bytes(key.data() + size)};
}

int compare(const EntryKey& a, const EntryKey& b) {
  if (const int order = std::memcmp(a.user, b.user, std::min(a.size, b.size)); order != 0) return order;
  if (a.size != b.size) return a.size < b.size ? -1 : 1;
  return a.tag == b.tag ? 0 : a.tag > b.tag ? -1 : 1;
}

struct EntryTree::Node {
  std::uint32_t prefix;  ///< bytes that all its keys begin with
  std::uint16_t size;    ///< entries, or separators
  std::uint16_t height;  ///< 0: a leaf
};

struct EntryTree::Leaf : Node {
  std::array<std::uint64_t, leaf_entries> digests;
  std::array<const char*, leaf_entries> entries;

  void set(std::size_t at, const char* entry) {
    entries[at] = entry;
    digests[at] = digest_of(EntryKey::of_entry(entry), prefix);
  }
};

/// Child i has what is before separator i, and at or behind the one before.
struct EntryTree::Inner : Node {
  std::array<std::uint64_t, inner_children - 1> digests;
  std::array<const char*, inner_children - 1> entries;
  std::array<std::atomic<Node*>, inner_children> children;

  void set(std::size_t at, const char* separator) {
    entries[at] = separator;
    digests[at] = digest_of(EntryKey::of_entry(separator), prefix);
  }
  [[nodiscard]] Node* child(std::size_t at) const { return children[at].load(); }
};

/// For as long as it is there, no node that it can find is used for anything else.
class EntryTree::Reading {
 public:
  explicit Reading(const EntryTree& tree) : tree_(tree) {
    while (true) {
      epoch_ = tree_.epoch_.load();
      readers().fetch_add(1);
      if (tree_.epoch_.load() == epoch_) return;
      readers().fetch_sub(
          1);  // the writer may have looked for this epoch's readers before: a moment too short for a test to meet
    }
  }
  ~Reading() { readers().fetch_sub(1); }
  Reading(const Reading&) = delete;

 private:
  [[nodiscard]] std::atomic<std::uint64_t>& readers() const { return tree_.readers_[epoch_ % 2]; }
  const EntryTree& tree_;
  std::uint64_t epoch_ = 0;
};

/// The leaf that has, or would have, `key`; with `before`, the last entry before it. `behind`: the entry behind the
/// leaf.
const EntryTree::Leaf* EntryTree::leaf_at(const EntryKey& key, bool before, const char** behind) const {
  const Node* node = root_.load();
  if (node == nullptr) return nullptr;
  while (node->height > 0) {
    const auto& inner = static_cast<const Inner&>(*node);
    const unsigned at =
        count_before(inner.digests.data(), inner.entries.data(), inner.size, inner.prefix, key, !before);
    if (at < inner.size) *behind = inner.entries[at];
    node = inner.child(at);
  }
  return static_cast<const Leaf*>(node);
}

void EntryTree::copy(const Leaf& leaf, const char* behind, Run& run) {
  std::copy_n(leaf.entries.begin(), leaf.size, run.entries.begin());
  run.size = leaf.size;
  run.behind = behind;
}

unsigned EntryTree::run_at(const EntryKey& key, Run& run) const { return run_of(key, false, run); }

unsigned EntryTree::run_before(const EntryKey& key, Run& run) const { return run_of(key, true, run); }

/// Returns: how many of the run's entries come before `key`
unsigned EntryTree::run_of(const EntryKey& key, bool before, Run& run) const {
  const Reading reading(*this);
  run.clear();
  const char* behind = nullptr;
  const auto* leaf = leaf_at(key, before, &behind);
  if (leaf == nullptr) return 0;
  copy(*leaf, behind, run);
  return count_before(leaf->digests.data(), leaf->entries.data(), leaf->size, leaf->prefix, key, false);
}

void EntryTree::first_run(Run& run) const {
  const Reading reading(*this);
  run.clear();
  const char* behind = nullptr;
  const Node* node = root_.load();
  if (node == nullptr) return;
  while (node->height > 0) {
    const auto& inner = static_cast<const Inner&>(*node);
    behind = inner.entries[0];
    node = inner.child(0);
  }
  copy(static_cast<const Leaf&>(*node), behind, run);
}

void EntryTree::last_run(Run& run) const {
  const Reading reading(*this);
  run.clear();
  const Node* node = root_.load();
  if (node == nullptr) return;
  while (node->height > 0) node = static_cast<const Inner&>(*node).child(node->size);
  copy(static_cast<const Leaf&>(*node), nullptr, run);
}

template <typename T>
T* EntryTree::make(std::vector<T*>& spare) {
  if (spare.empty()) return new (allocate_(sizeof(T))) T;
  T* const node = spare.back();
  spare.pop_back();
  return node;
}

EntryTree::Leaf* EntryTree::leaf_of(const char* const* entries, std::size_t size, const Bounds& bounds) {
  auto* const leaf = make(spare_leaves_);
  leaf->height = 0;
  leaf->size = static_cast<std::uint16_t>(size);
  leaf->prefix = common_prefix(bounds.from, bounds.until);
  for (std::size_t i = 0; i < size; ++i) leaf->set(i, entries[i]);
  return leaf;
}

void EntryTree::retire(Leaf* leaf) { retired_.leaves.push_back(leaf); }
void EntryTree::retire(Inner* inner) { retired_.inners.push_back(inner); }

void EntryTree::reclaim() {
  // Nobody begins in the epoch before any more; who did is counted until it is done.
  if (!retired_before_.empty() && readers_[(epoch_.load() - 1) % 2].load() != 0) return;
  spare_leaves_.insert(spare_leaves_.end(), retired_before_.leaves.begin(), retired_before_.leaves.end());
  spare_inners_.insert(spare_inners_.end(), retired_before_.inners.begin(), retired_before_.inners.end());
  retired_before_.leaves.clear();
  retired_before_.inners.clear();
  if (retired_.empty()) return;
  std::swap(retired_, retired_before_);
  epoch_.fetch_add(1);
}

/// In the place of the node that the path leads to at `depth`.
void EntryTree::put_child(const Path& path, std::size_t depth, Node* child) {
  if (depth == 0) return root_.store(child);
  const auto& step = path.steps[depth - 1];
  step.inner->children[step.child].store(child);
}

void EntryTree::insert(const char* entry) {
  const auto key = EntryKey::of_entry(entry);
  Node* node = root_.load();
  if (node == nullptr) {
    last_ = entry;
    return root_.store(leaf_of(&entry, 1, {}));
  }
  Path path;
  Bounds bounds;
  while (node->height > 0) {
    auto& inner = static_cast<Inner&>(*node);
    const unsigned at = count_before(inner.digests.data(), inner.entries.data(), inner.size, inner.prefix, key, true);
    EVERSHARD_CHECK(path.size < height_max, "a memtable is smaller");
    path.steps[path.size++] = {&inner, at, bounds};
    if (at > 0) bounds.from = inner.entries[at - 1];
    if (at < inner.size) bounds.until = inner.entries[at];
    node = inner.child(at);
  }
  auto* const leaf = static_cast<Leaf*>(node);
  const unsigned at = count_before(leaf->digests.data(), leaf->entries.data(), leaf->size, leaf->prefix, key, false);
  if (leaf->size < leaf_entries) {
    auto* const fresh = make(spare_leaves_);
    static_cast<Node&>(*fresh) = *leaf;
    ++fresh->size;
    put_between(leaf->entries, leaf->size, at, entry, fresh->entries);
    put_between(leaf->digests, leaf->size, at, digest_of(key, leaf->prefix), fresh->digests);
    put_child(path, path.size, fresh);
    retire(leaf);
  } else if (at == leaf_entries && (bounds.until == nullptr || leaf->entries.back() == last_)) {
    // What comes in order fills its leaves. Were this so for all that comes behind a full one, new versions of a row,
    // or keys that come backwards, would each get a leaf of their own.
    split(path, leaf, entry, leaf_of(&entry, 1, {entry, bounds.until}));
  } else {
    std::array<const char*, leaf_entries + 1> all;
    put_between(leaf->entries, leaf->size, at, entry, all);
    constexpr std::size_t half = (leaf_entries + 1) / 2;
    const char* const separator = all[half];
    auto* const left = leaf_of(all.data(), half, {bounds.from, separator});
    auto* const right = leaf_of(all.data() + half, all.size() - half, {separator, bounds.until});
    split(path, left, separator, right);
    retire(leaf);
  }
  last_ = entry;
  reclaim();
}

/// Two nodes in the place of the one that the path leads to.
void EntryTree::split(Path& path, Node* left, const char* separator, Node* right) {
  for (std::size_t depth = path.size;; --depth) {
    if (depth == 0) {
      auto* const top = make(spare_inners_);
      top->prefix = 0;
      top->size = 1;
      top->height = static_cast<std::uint16_t>(left->height + 1);
      top->set(0, separator);
      top->children[0].store(left, std::memory_order_relaxed);
      top->children[1].store(right, std::memory_order_relaxed);
      return root_.store(top);
    }
    const auto& [inner, at, bounds] = path.steps[depth - 1];
    const std::size_t size = inner->size + 1u;
    std::array<const char*, inner_children> separators;
    std::array<std::uint64_t, inner_children> digests;
    std::array<Node*, inner_children + 1> children;
    put_between(inner->entries, inner->size, at, separator, separators);
    put_between(inner->digests, inner->size, at, digest_of(EntryKey::of_entry(separator), inner->prefix), digests);
    for (std::size_t i = 0; i <= inner->size; ++i) children[i < at ? i : i + 1] = inner->child(i);
    children[at] = left;
    children[at + 1] = right;
    const auto made_of = [&, &whole = *inner](std::size_t from, std::size_t until, const Bounds& between) {
      auto* const made = make(spare_inners_);
      made->height = whole.height;
      made->size = static_cast<std::uint16_t>(until - from);
      made->prefix = common_prefix(between.from, between.until);
      if (made->prefix == whole.prefix) {  // not all the keys, from all over the memory
        std::copy(separators.begin() + from, separators.begin() + until, made->entries.begin());
        std::copy(digests.begin() + from, digests.begin() + until, made->digests.begin());
      } else {
        for (std::size_t i = from; i < until; ++i) made->set(i - from, separators[i]);
      }
      for (std::size_t i = from; i <= until; ++i)
        made->children[i - from].store(children[i], std::memory_order_relaxed);  // nobody finds it yet
      return made;
    };
    if (size < inner_children) {
      put_child(path, depth - 1, made_of(0, size, bounds));
      return retire(inner);
    }
    const std::size_t half = size / 2;
    separator = separators[half];
    left = made_of(0, half, {bounds.from, separator});
    right = made_of(half + 1, size, {separator, bounds.until});
    retire(inner);
  }
}

}  // namespace evershard::storage
