// The memtable of projections against RocksDB's own: the same writes, and every way to read them.

#include "evershard/services/rows/tree_memtable.hpp"

#include <atomic>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {
namespace {

/// In files too, once a memtable is full: then one is read while the next one is written.
std::unique_ptr<rocksdb::DB> database(const std::filesystem::path& folder, bool tree) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 256u << 10;
  options.max_write_buffer_number = 4;
  if (tree) {
    options.allow_concurrent_memtable_write = false;
    options.memtable_factory = tree_memtables();
  }
  rocksdb::DB* opened = nullptr;
  EXPECT_TRUE(rocksdb::DB::Open(options, folder.string(), &opened).ok());
  return std::unique_ptr<rocksdb::DB>(opened);
}

std::string a_key(std::mt19937& random) {
  switch (random() % 5) {
    case 0:
      return "row-of-an-item-" + std::to_string(random() % 300);
    case 1:
      return std::string("i\0\0\0\0\0\0", 7) + static_cast<char>(random() % 256) + std::to_string(random() % 20);
    case 2:
      return std::string(random() % 12, '\0');
    case 3:
      return std::string(100 + random() % 40, 'k') + static_cast<char>(random() % 256);
    default:
      return std::string(random() % 12, '\xff') + static_cast<char>(random() % 256);
  }
}

class TreeMemtable : public ::testing::Test {
 protected:
  TreeMemtable() : ours_(database(folder_.path() / "tree", true)), theirs_(database(folder_.path() / "list", false)) {}

  void write(std::mt19937& random, int changes) {
    rocksdb::WriteBatch batch;
    for (int i = 0; i < changes; ++i) {
      const auto key = a_key(random);
      if (random() % 4 == 0) {
        batch.Delete(key);
      } else {
        batch.Put(key, std::to_string(random()) + std::string(random() % 60, 'v'));
      }
    }
    ASSERT_TRUE(ours_->Write({}, &batch).ok());
    ASSERT_TRUE(theirs_->Write({}, &batch).ok());
  }
  void same_answers(std::mt19937& random, const rocksdb::Snapshot* ours_at, const rocksdb::Snapshot* theirs_at) {
    rocksdb::ReadOptions ours_read, theirs_read;
    ours_read.snapshot = ours_at;
    theirs_read.snapshot = theirs_at;
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) names.push_back(a_key(random));
    for (const auto& name : names) {
      std::string ours, theirs;
      const auto found = ours_->Get(ours_read, name, &ours);
      ASSERT_EQ(found.ok(), theirs_->Get(theirs_read, name, &theirs).ok());
      ASSERT_TRUE(found.ok() || found.IsNotFound());
      ASSERT_EQ(ours, theirs);
    }
    const std::vector<rocksdb::Slice> keys(names.begin(), names.end());
    std::vector<std::string> ours, theirs;
    const auto ours_found = ours_->MultiGet(ours_read, keys, &ours);
    const auto theirs_found = theirs_->MultiGet(theirs_read, keys, &theirs);
    ASSERT_EQ(ours, theirs);
    for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(ours_found[i].ok(), theirs_found[i].ok());
  }
  static void same_moves(std::mt19937& random, rocksdb::Iterator& ours, rocksdb::Iterator& theirs, int moves) {
    const auto both = [&](const auto& move) {
      move(ours);
      move(theirs);
    };
    for (int i = 0; i < moves; ++i) {
      const auto move = random() % 20;
      const auto key = a_key(random);
      if (move == 0)
        both([](auto& at) { at.SeekToFirst(); });
      else if (move == 1)
        both([](auto& at) { at.SeekToLast(); });
      else if (move < 5)
        both([&](auto& at) { at.Seek(key); });
      else if (move < 8)
        both([&](auto& at) { at.SeekForPrev(key); });
      else if (ours.Valid() && move < 14)
        both([](auto& at) { at.Next(); });
      else if (ours.Valid())
        both([](auto& at) { at.Prev(); });
      ASSERT_EQ(ours.Valid(), theirs.Valid());
      ASSERT_TRUE(ours.status().ok());
      if (!ours.Valid()) continue;
      ASSERT_EQ(ours.key().ToString(), theirs.key().ToString());
      ASSERT_EQ(ours.value().ToString(), theirs.value().ToString());
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<rocksdb::DB> ours_, theirs_;
};

TEST_F(TreeMemtable, AnswersAsRocksDbsOwnDoes) {
  std::mt19937 random(11);
  {
    const std::unique_ptr<rocksdb::Iterator> empty(ours_->NewIterator({})), also_empty(theirs_->NewIterator({}));
    same_moves(random, *empty, *also_empty, 100);
  }
  for (int round = 0; round < 150; ++round) {
    const auto* ours_at = ours_->GetSnapshot();
    const auto* theirs_at = theirs_->GetSnapshot();
    const std::unique_ptr<rocksdb::Iterator> before(ours_->NewIterator({})), also_before(theirs_->NewIterator({}));
    write(random, static_cast<int>(random() % 300));
    const std::unique_ptr<rocksdb::Iterator> now(ours_->NewIterator({})), also_now(theirs_->NewIterator({}));
    same_moves(random, *before, *also_before, 200);
    same_moves(random, *now, *also_now, 200);
    same_answers(random, nullptr, nullptr);
    same_answers(random, ours_at, theirs_at);
    ours_->ReleaseSnapshot(ours_at);
    theirs_->ReleaseSnapshot(theirs_at);
    if (HasFatalFailure()) return;
  }
  // What was in memtables comes from the log.
  ours_.reset();
  theirs_.reset();
  ours_ = database(folder_.path() / "tree", true);
  theirs_ = database(folder_.path() / "list", false);
  const std::unique_ptr<rocksdb::Iterator> again(ours_->NewIterator({})), also_again(theirs_->NewIterator({}));
  same_moves(random, *again, *also_again, 2'000);
  same_answers(random, nullptr, nullptr);
}

TEST_F(TreeMemtable, AnswersSeveralThreadsBesideAWriter) {
  constexpr int rows = 2'000;
  const auto key_of = [](int row) { return "row " + std::to_string(row); };
  for (int row = 0; row < rows; ++row) ASSERT_TRUE(ours_->Put({}, key_of(row), std::to_string(row)).ok());
  std::atomic<bool> done{false};
  std::atomic<int> wrong{0};
  const auto read = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (std::string value; !done;) {
      const int row = static_cast<int>(random() % rows);
      if (!ours_->Get({}, key_of(row), &value).ok() || value != std::to_string(row)) ++wrong;
    }
  };
  std::thread first(read, 1), second(read, 2);
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(ours_->Put({}, key_of(i % rows), std::to_string(i % rows)).ok());
  done = true;
  first.join();
  second.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace evershard::storage
