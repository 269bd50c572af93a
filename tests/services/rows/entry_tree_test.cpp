// The tree of a memtable against a sorted list, and beside readers; the memtable against RocksDB's own.

#include "evershard/services/rows/entry_tree.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace evershard::storage {
namespace {

/// Entries in memory that stays.
class Entries {
 public:
  const char* make(const std::string& user_key, std::uint64_t tag) {
    std::string bytes;
    for (auto size = user_key.size() + sizeof tag;; size >>= 7) {
      const bool last = size < 0x80;
      bytes.push_back(static_cast<char>((size & 0x7f) | (last ? 0 : 0x80)));
      if (last) break;
    }
    bytes += user_key;
    bytes.append(reinterpret_cast<const char*>(&tag), sizeof tag);
    auto* const at = static_cast<char*>(take(bytes.size()));
    std::memcpy(at, bytes.data(), bytes.size());
    return at;
  }
  void* take(std::size_t bytes) {
    kept_.push_back(std::make_unique<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1));
    taken_ += bytes;
    return kept_.back().get();
  }
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  std::vector<std::unique_ptr<std::max_align_t[]>> kept_;
  std::size_t taken_ = 0;
};

bool comes_before(const char* a, const char* b) { return compare(EntryKey::of_entry(a), EntryKey::of_entry(b)) < 0; }

std::vector<const char*> forwards(const EntryTree& tree) {
  std::vector<const char*> found;
  EntryTree::Run run;
  tree.first_run(run);
  while (true) {
    found.insert(found.end(), run.entries.begin(), run.entries.begin() + run.size);
    if (run.behind == nullptr) return found;
    const auto* behind = run.behind;
    EXPECT_EQ(run.entries[tree.run_at(EntryKey::of_entry(behind), run)], behind);
    EXPECT_EQ(run.entries[0], behind);
  }
}

std::vector<const char*> backwards(const EntryTree& tree) {
  std::vector<const char*> found;
  EntryTree::Run run;
  tree.last_run(run);
  for (unsigned size = run.size; size > 0; size = tree.run_before(EntryKey::of_entry(found.back()), run)) {
    while (size > 0) found.push_back(run.entries[--size]);
  }
  std::ranges::reverse(found);
  return found;
}

/// Keys as projections have them, and worse: long common beginnings, zeros, ends of others, the same one many times.
std::string some_key(std::mt19937& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  switch (below(6)) {
    case 0:
      return {};
    case 1:
      return "r" + std::string("an-item-of-many-") + std::to_string(below(1'000));
    case 2:
      return "i" + std::string(7, '\0') + static_cast<char>(below(256)) + static_cast<char>(below(256)) + "item" +
             std::to_string(below(50));
    case 3:
      return std::string(below(20), '\0');
    case 4:
      return std::string(below(20), '\xff') + std::string(below(3), '\0');
    default: {
      std::string key(below(200), 'k');
      if (!key.empty()) key.back() = static_cast<char>(below(256));
      return key;
    }
  }
}

TEST(EntryTree, HoldsWhatASortedListHolds) {
  for (unsigned seed = 0; seed < 32; ++seed) {
    std::mt19937 random(seed);
    Entries memory;
    EntryTree tree([&](std::size_t bytes) { return memory.take(bytes); });
    std::vector<const char*> wanted;
    const std::size_t size = seed < 20   ? random() % 500
                             : seed < 30 ? 20'000
                                         : 200'000;  // of the last ones, inner nodes have inner nodes
    for (std::size_t i = 0; i < size; ++i) wanted.push_back(memory.make(some_key(random), i << 8 | random() % 2));
    if (seed % 3 == 1) std::ranges::sort(wanted, comes_before);
    if (seed % 3 == 2) std::ranges::sort(wanted, [](const char* a, const char* b) { return comes_before(b, a); });
    for (const auto* entry : wanted) tree.insert(entry);
    std::ranges::sort(wanted, comes_before);
    ASSERT_EQ(forwards(tree), wanted) << seed;
    ASSERT_EQ(backwards(tree), wanted) << seed;
    for (int i = 0; i < 2'000; ++i) {
      const auto* target =
          i % 2 == 0 && !wanted.empty() ? wanted[random() % wanted.size()] : memory.make(some_key(random), random());
      const auto key = EntryKey::of_entry(target);
      const auto at = std::ranges::lower_bound(wanted, target, comes_before);
      EntryTree::Run run;
      const unsigned place = tree.run_at(key, run);
      ASSERT_EQ(place < run.size ? run.entries[place] : run.behind, at == wanted.end() ? nullptr : *at) << seed;
      const unsigned before = tree.run_before(key, run);
      ASSERT_EQ(before == 0 ? nullptr : run.entries[before - 1], at == wanted.begin() ? nullptr : at[-1]) << seed;
    }
  }
}

TEST(EntryTree, UsesTheMemoryOfItsOldNodesAgain) {
  Entries memory, nodes;
  EntryTree tree([&](std::size_t bytes) { return nodes.take(bytes); });
  constexpr std::size_t size = 50'000;
  std::mt19937 random(1);
  for (std::size_t i = 0; i < size; ++i) tree.insert(memory.make("row " + std::to_string(random()), i));
  EXPECT_LT(nodes.taken(), size * 40);  // a pointer and a digest each, in leaves that are half full at least
}

/// What comes in order fills its leaves; not so what comes before the first of a leaf, again and again.
TEST(EntryTree, HasNoLeavesOfOneEntry) {
  for (const bool one_row : {true, false}) {
    Entries memory, nodes;
    EntryTree tree([&](std::size_t bytes) { return nodes.take(bytes); });
    const auto row = [](std::size_t n) { return "row " + std::to_string(1'000'000 + n); };
    for (std::size_t i = 0; i <= EntryTree::leaf_entries; ++i) tree.insert(memory.make(row(i * 1'000), i));
    constexpr std::size_t size = 10'000;
    for (std::size_t i = 0; i < size; ++i)
      tree.insert(memory.make(row(EntryTree::leaf_entries * 1'000 - (one_row ? 0 : i % 999 + 1)), 1'000 + i));
    EXPECT_LT(nodes.taken(), size * 50) << one_row;
  }
  Entries memory, nodes;
  EntryTree tree([&](std::size_t bytes) { return nodes.take(bytes); });
  constexpr std::size_t size = 50'000;
  for (std::size_t i = 0; i < size; ++i) tree.insert(memory.make("row " + std::to_string(1'000'000 + i), i));
  EXPECT_LT(nodes.taken(), size * 20);
}

/// Whoever walks meanwhile sees everything that was there when the walk began, in order, and no memory that means
/// something else by now.
TEST(EntryTree, IsReadWhileItIsWritten) {
  constexpr std::size_t size = 60'000;
  Entries memory;
  std::vector<const char*> all;
  std::mt19937 random(7);
  for (std::size_t i = 0; i < size; ++i)
    all.push_back(memory.make("row " + std::to_string(random() % 100'000), i << 8));
  Entries nodes;
  EntryTree tree([&](std::size_t bytes) { return nodes.take(bytes); });
  std::atomic<std::size_t> inserted{0}, walks{0};
  std::atomic<bool> wrong{false};
  const auto read = [&](unsigned seed) {
    std::mt19937 own(seed);
    while (inserted < size && !wrong) {
      const std::size_t there = inserted;
      if (there == 0) continue;
      for (int i = 0; i < 100; ++i) {
        const auto* one = all[own() % there];
        EntryTree::Run run;
        if (const unsigned at = tree.run_at(EntryKey::of_entry(one), run); at == run.size || run.entries[at] != one)
          wrong = true;
      }
      const auto walked = own() % 2 == 0 ? forwards(tree) : backwards(tree);
      ++walks;
      if (walked.size() < there || !std::ranges::is_sorted(walked, comes_before)) wrong = true;
    }
  };
  std::thread first(read, 1), second(read, 2);
  for (const auto* entry : all) {
    tree.insert(entry);
    if (++inserted % 1'000 != 0) continue;
    const std::size_t seen = walks;
    while (inserted < size && walks == seen && !wrong)
      std::this_thread::yield();  // else it is done before anybody has looked
  }
  first.join();
  second.join();
  EXPECT_FALSE(wrong);
  EXPECT_EQ(forwards(tree).size(), size);
  const auto taken = nodes.taken();
  for (std::size_t i = 0; i < 5'000; ++i)
    tree.insert(memory.make("row " + std::to_string(random() % 100'000), (size + i) << 8));
  EXPECT_LT(nodes.taken() - taken, 5'000 * 40u) << "somebody is counted who does not read any more";
}

}  // namespace
}  // namespace evershard::storage
