// What a look for an id costs where files are large: a filter is read in pieces, and stays in the cache.

#include <gtest/gtest.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/sst_file_writer.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t ids_count = 2'000'000;  // their filter is 2.5 MB
constexpr std::uint64_t looks = 2'000;

std::string id_of(std::uint64_t high, std::uint64_t low) {
  std::string id(16, '\0');
  for (std::size_t at = 0; at != 8; ++at) {
    id[at] = static_cast<char>(high >> (56 - 8 * at));
    id[8 + at] = static_cast<char>(low >> (56 - 8 * at));
  }
  return id;
}

TEST(DividedFilters, LetALookForAnIdReadKilobytes) {
  const TemporaryFolder folder;
  StoreOptions options;
  options.data_dir = folder.path();
  options.block_cache_bytes = 1u << 20;  // not even the one filter stays
  const RocksOptions rocks(options);
  std::unique_ptr<RocksFamilies> families;
  ASSERT_TRUE(RocksFamilies::open(rocks, (folder.path() / "db").string(), false, families).ok());
  std::mt19937_64 random(7);
  {
    const auto file = (folder.path() / "ids.sst").string();
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), rocksdb::Options({}, rocks.family(Family::ids)),
                                  families->handle(Family::ids));
    ASSERT_TRUE(writer.Open(file).ok());
    constexpr std::uint64_t apart = ~std::uint64_t{0} / ids_count;
    for (std::uint64_t n = 0; n != ids_count; ++n) ASSERT_TRUE(writer.Put(id_of(n * apart, random()), "position").ok());
    ASSERT_TRUE(writer.Finish().ok());
    ASSERT_TRUE(families->db().IngestExternalFile(families->handle(Family::ids), {file}, {}).ok());
  }

  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  for (std::uint64_t n = 0; n != looks; ++n) {
    rocksdb::PinnableSlice value;
    EXPECT_TRUE(families->db().Get({}, families->handle(Family::ids), id_of(random(), random()), &value).IsNotFound());
  }
  const auto read = rocksdb::get_perf_context()->block_read_byte;
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);

  // A piece of the filter each, its place, and now and then a block of rows.
  EXPECT_LT(read / looks, 32u << 10) << "bytes a look";
}

}  // namespace
}  // namespace evershard::storage
