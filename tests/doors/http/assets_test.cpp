// The files of the page in the program are the files in the tree, byte for byte, and so are their gzipped forms.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "evershard/doors/http/assets.hpp"

namespace evershard {
namespace {

std::string file_at(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string unzipped(std::string_view bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / ("asset-" + std::to_string(bytes.size()) + ".gz");
  std::ofstream(path, std::ios::binary) << bytes;
  std::string text;
  std::FILE* pipe = popen(("gzip -dc '" + path.string() + "'").c_str(), "r");
  std::array<char, 4096> some{};
  for (std::size_t read = 0; (read = std::fread(some.data(), 1, some.size(), pipe)) > 0;)
    text.append(some.data(), read);
  EXPECT_EQ(pclose(pipe), 0);
  std::filesystem::remove(path);
  return text;
}

TEST(Assets, AreTheFilesOfTheTree) {
  const std::filesystem::path dist = EVERSHARD_PAGE_DIST;
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dist)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string path = "/" + std::filesystem::relative(entry.path(), dist).string();
    const Asset* asset = find_asset(path);
    ASSERT_NE(asset, nullptr) << path;
    EXPECT_TRUE(asset->bytes == file_at(entry.path())) << path;
    if (!asset->gzip_bytes.empty()) {
      EXPECT_LT(asset->gzip_bytes.size(), asset->bytes.size());
      EXPECT_TRUE(unzipped(asset->gzip_bytes) == asset->bytes) << path;
    }
  }
  EXPECT_EQ(all_assets().size(), files);
}

TEST(Assets, HaveTypesAndTagsOfTheirOwn) {
  EXPECT_EQ(find_asset("/index.html")->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(find_asset("/assets/page.js")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(find_asset("/assets/page.css")->content_type, "text/css; charset=utf-8");
  EXPECT_FALSE(find_asset("/assets/page.js")->gzip_bytes.empty());
  std::set<std::string_view> tags;
  for (const Asset& asset : all_assets()) {
    ASSERT_GT(asset.etag.size(), 10U);
    EXPECT_EQ(asset.etag.front(), '"');
    EXPECT_EQ(asset.etag.back(), '"');
    tags.insert(asset.etag);
  }
  EXPECT_EQ(tags.size(), all_assets().size());
}

TEST(Assets, AreFoundByTheirWholePathOnly) {
  for (const char* path :
       {"", "/", "index.html", "/index.htm", "/index.html/", "/assets/../index.html", "/assets", "//index.html"}) {
    EXPECT_EQ(find_asset(path), nullptr) << path;
  }
}

// The page asks for nothing that is not embedded, and holds nothing that its policy refuses.
TEST(Assets, ThePageNamesOnlyWhatIsThere) {
  const std::string page(find_asset("/index.html")->bytes);
  for (const std::string attribute : {"src=\"", "href=\""}) {
    for (auto at = page.find(attribute); at != std::string::npos; at = page.find(attribute, at + 1)) {
      const auto begin = at + attribute.size();
      const std::string named = page.substr(begin, page.find('"', begin) - begin);
      EXPECT_TRUE(named.starts_with("data:image/") || find_asset(named) != nullptr) << named;
    }
  }
  EXPECT_EQ(page.find("<style"), std::string::npos);
  EXPECT_EQ(page.find("style="), std::string::npos);
  EXPECT_EQ(page.find(" on"), std::string::npos);
  EXPECT_EQ(page.find("<script>"), std::string::npos);
}

}  // namespace
}  // namespace evershard
