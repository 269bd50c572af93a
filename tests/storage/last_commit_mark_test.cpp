#include "evershard/storage/journal/last_commit_mark.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {
namespace {

class LastCommitMarkTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::optional<LastCommitMark::Value> stored() const { return LastCommitMark::read(path_).value(); }
  void damage(std::streamoff at) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('!');
  }
  static LastCommitMark::Value value(std::uint64_t cut, std::uint64_t watermark) {
    return {CutNumber{cut}, GlobalPosition{watermark}};
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "MARK";
};

TEST_F(LastCommitMarkTest, SaysNothingWhereThereIsNoFile) { EXPECT_FALSE(stored()); }

TEST_F(LastCommitMarkTest, SaysNothingBeforeTheFirstCommit) {
  auto mark = LastCommitMark::open(path_).value();

  EXPECT_FALSE(stored());
}

TEST_F(LastCommitMarkTest, RemembersTheLastUpdate) {
  auto mark = LastCommitMark::open(path_).value();

  for (std::uint64_t i = 1; i <= 5; ++i) {
    mark->update(value(i, 10 * i));
    EXPECT_EQ(stored(), value(i, 10 * i));
  }

  mark = LastCommitMark::open(path_).value();
  EXPECT_EQ(stored(), value(5, 50));
  EXPECT_EQ(mark->failures(), 0u);
}

TEST_F(LastCommitMarkTest, FallsBackToTheOtherSlotWhenOneIsTorn) {
  auto mark = LastCommitMark::open(path_).value();
  mark->update(value(1, 10));
  mark->update(value(2, 20));

  damage(512 + 20);

  EXPECT_EQ(stored(), value(1, 10));
  damage(3);
  EXPECT_FALSE(stored());
}

TEST_F(LastCommitMarkTest, HasTheBytesItsDocumentSays) {
  auto mark = LastCommitMark::open(path_).value();
  mark->update(value(0x0102, 0x030405));
  std::ifstream file(path_, std::ios::binary);
  std::string bytes(32, '\0');

  file.read(bytes.data(), 32);

  EXPECT_EQ(bytes.substr(0, 24), std::string("EVMK\0\0\0\1\0\0\0\0\0\0\1\2\0\0\0\0\0\3\4\5", 24));
  EXPECT_EQ(std::filesystem::file_size(path_), 1'024u);
}

}  // namespace
}  // namespace evershard::storage
