// Replays a fuzz target's corpus, a test a file: built with every target, in every build.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace evershard {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> corpus_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(EVERSHARD_FUZZ_CORPUS)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

class FuzzCorpus : public testing::TestWithParam<std::string> {};

TEST_P(FuzzCorpus, IsTaken) {
  std::ifstream file(fs::path(EVERSHARD_FUZZ_CORPUS) / GetParam(), std::ios::binary);
  ASSERT_TRUE(file);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(Every, FuzzCorpus, testing::ValuesIn(corpus_names()), [](const auto& of) {
  auto name = of.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(FuzzCorpusFolder, IsThereAndSmall) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(EVERSHARD_FUZZ_CORPUS)) bytes += entry.file_size();
  EXPECT_GE(corpus_names().size(), 5u);
  EXPECT_LE(corpus_names().size(), 100u);
  EXPECT_LE(bytes, 100'000u);
}

}  // namespace
}  // namespace evershard
