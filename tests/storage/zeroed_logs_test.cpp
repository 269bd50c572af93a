// Logs over zeros, on a real disk: what is written stays what was written, whatever a thread beside it puts behind.

#include "evershard/storage/rocks/zeroed_logs.hpp"

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <rocksdb/env.h>

#include "tests/contract/temporary_folder.hpp"
#include "tests/storage/fault_env.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t zeros_max = 64u << 10;

class ZeroedLogs : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] std::unique_ptr<rocksdb::WritableFile> open(const std::string& name) const {
    std::unique_ptr<rocksdb::WritableFile> file;
    const auto status = env_->NewWritableFile(path(name), &file, rocksdb::EnvOptions());
    if (!status.ok()) throw std::logic_error(status.ToString());
    return file;
  }
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Appends bytes that are no zeros, in pieces, each synced or not. Returns: what was written.
  static std::string write(rocksdb::WritableFile& file, std::uint64_t seed, std::size_t pieces, std::size_t piece_max) {
    std::mt19937_64 random(seed);
    std::string all;
    for (std::size_t i = 0; i < pieces; ++i) {
      std::string piece(1 + random() % piece_max, ' ');
      for (auto& byte : piece) byte = static_cast<char>(1 + random() % 255);
      if (!file.Append(piece).ok()) throw std::logic_error("cannot append");
      if (random() % 4 == 0 && !file.Sync().ok()) throw std::logic_error("cannot sync");
      all += piece;
    }
    return all;
  }
  [[nodiscard]] bool has_zeros(const std::string& name, std::size_t written) const {
    return std::filesystem::file_size(path(name)) > written;
  }
  /// The thread that puts them is not waited for by anybody else.
  [[nodiscard]] bool comes_to_have_zeros(const std::string& name, std::size_t written) const {
    for (int i = 0; i < 5'000 && !has_zeros(name, written); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return has_zeros(name, written);
  }

  TemporaryFolder folder_;
  FaultEnv disk_;
  const std::shared_ptr<rocksdb::Env> env_ = with_zeroed_logs(disk_.env(), zeros_max, true);
};

TEST_F(ZeroedLogs, HoldWhatWasWrittenAndThenZeros) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const auto name = std::to_string(seed) + ".log";
    const auto file = open(name);
    const auto written = write(*file, seed, 300, seed % 2 == 0 ? 500 : 9'000);
    if (seed == 2) {
      EXPECT_TRUE(comes_to_have_zeros(name, written.size()));
    }

    const auto now = bytes_of(name);

    ASSERT_GE(now.size(), written.size());
    EXPECT_TRUE(now.starts_with(written))
        << "the first difference is at " << std::ranges::mismatch(now, written).in1 - now.begin();
    EXPECT_EQ(now.find_first_not_of('\0', written.size()), std::string::npos);
    ASSERT_TRUE(file->Close().ok());
    EXPECT_EQ(bytes_of(name), written) << "closed, it ends with its last byte";
  }
}

TEST_F(ZeroedLogs, OtherFilesAndSmallOnesHaveNone) {
  const auto table = open("000007.sst"), small = open("000008.log");
  const auto in_table = write(*table, 1, 100, 9'000), in_small = write(*small, 2, 1, 4'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));

  EXPECT_FALSE(has_zeros("000007.sst", in_table.size()));
  EXPECT_FALSE(has_zeros("000008.log", in_small.size()));
}

TEST_F(ZeroedLogs, AreWrittenAlsoWhereThereIsNoRoomForZeros) {
  const auto file = open("000009.log");
  auto written = write(*file, 1, 20, 3'000);
  ASSERT_TRUE(comes_to_have_zeros("000009.log", written.size()));
  disk_.refuse_random_writes();

  written += write(*file, 2, 300, 9'000);

  const auto now = bytes_of("000009.log");
  EXPECT_TRUE(now.starts_with(written));
  EXPECT_EQ(now.find_first_not_of('\0', written.size()), std::string::npos);
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(bytes_of("000009.log"), written);
}

TEST_F(ZeroedLogs, AreLeftAsTheyAreByWhoNeverClosesThem) {
  auto file = open("000010.log");
  const auto written = write(*file, 3, 100, 3'000);
  EXPECT_TRUE(comes_to_have_zeros("000010.log", written.size()));

  file.reset();

  EXPECT_TRUE(bytes_of("000010.log").starts_with(written));
}

TEST(ZeroedLogsOnADisk, AreThereWhereItWritesInPlace) {
  // What the machine's disk is, is its own business: the log is right on any.
  const TemporaryFolder folder;
  const auto env = with_zeroed_logs(nullptr, zeros_max);
  std::unique_ptr<rocksdb::WritableFile> file;
  ASSERT_TRUE(env->NewWritableFile((folder.path() / "1.log").string(), &file, rocksdb::EnvOptions()).ok());
  const std::string piece(1'000, 'x');
  for (int i = 0; i < 500; ++i) {
    ASSERT_TRUE(file->Append(piece).ok());
    ASSERT_TRUE(i % 10 != 0 || file->Sync().ok());
  }
  ASSERT_TRUE(file->Close().ok());

  std::ifstream read(folder.path() / "1.log", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(read), {}), std::string(500'000, 'x'));
}

TEST(ZeroedLogsOnADisk, WithoutZerosItIsTheEnvironmentItself) {
  EXPECT_EQ(with_zeroed_logs(nullptr, 0).get(), rocksdb::Env::Default());
}

}  // namespace
}  // namespace evershard::storage
