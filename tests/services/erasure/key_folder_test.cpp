// Keys in a directory: what all places of keys promise, and what is a directory's own.

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>

#include "evershard/services/erasure/key_folder.hpp"
#include "tests/contract/subject_keys_contract.hpp"
#include "tests/local/small_store.hpp"

namespace evershard::cluster {
namespace {

std::size_t files_with(const std::filesystem::path& folder, const char* extension) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.path().extension() == extension ? 1 : 0;
  return count;
}

class Directory final : public PlaceOfKeys {
 public:
  explicit Directory(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::unique_ptr<SubjectKeys> open() override {
    auto folder = KeyFolder::open(folder_, {});
    EXPECT_TRUE(folder) << folder.error().what;
    return folder ? *std::move(folder) : nullptr;
  }
  void lose(const KeyId& id) override { std::filesystem::remove(folder_ / (id.text() + ".key")); }
  void damage(const KeyId& id) override {
    std::fstream(folder_ / (id.text() + ".key"), std::ios::in | std::ios::out).put('x').put('y');
  }
  std::size_t keys() override { return files_with(folder_, ".key"); }
  std::size_t erased() override { return files_with(folder_, ".erased"); }

 private:
  const std::filesystem::path folder_;
};

std::unique_ptr<PlaceOfKeys> directory(const std::filesystem::path& folder) {
  return std::make_unique<Directory>(folder / "keys");
}

INSTANTIATE_TEST_SUITE_P(Folder, SubjectKeysContract, ::testing::Values(PlaceOfKeysKind{"folder", 40, directory}));

class KeyFolders : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path keys() const { return folder_.path() / "keys"; }
  [[nodiscard]] std::unique_ptr<KeyFolder> opened() const {
    auto folder = KeyFolder::open(keys(), folder_.path() / "data");
    EXPECT_TRUE(folder) << folder.error().what;
    return std::move(*folder);
  }
  [[nodiscard]] std::size_t files_of(const char* extension) const { return files_with(keys(), extension); }
  ScratchDir folder_;
};

TEST_F(KeyFolders, LeavesNoPartsOfFiles) {
  auto folder = opened();
  ASSERT_TRUE(folder->key_for("ada") && folder->key_for("bob"));
  EXPECT_EQ(files_of(".key"), 2u);
  EXPECT_EQ(files_of(".part"), 0u);
}

TEST_F(KeyFolders, NamesOfFilesDoNotTellWhoseTheyAre) {
  auto ada = opened()->key_for("person-ada");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(keys())) {
    std::ifstream file(entry.path());
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    EXPECT_EQ(bytes.find("person"), std::string::npos);
    EXPECT_EQ(entry.path().filename().string().find("person"), std::string::npos);
  }
  std::filesystem::rename(keys(), folder_.path() / "others");
  EXPECT_NE(opened()->key_for("person-ada")->id, ada->id);  // nobody can look whether a subject has a key
}

TEST_F(KeyFolders, DestroyedHalfWayIsDestroyed) {
  auto folder = opened();
  const auto key = folder->key_for("ada").value();
  std::ofstream(keys() / (key.id.text() + ".erased")) << "";  // the mark is there, the key as well
  folder = opened();

  EXPECT_EQ(folder->find(key.id).value(), std::nullopt);
  ASSERT_TRUE(folder->destroy(key.id));
  EXPECT_EQ(files_of(".key"), 0u);
}

TEST_F(KeyFolders, AFileThatIsEmptyIsDamagedAndSoIsAFolderWithoutItsSecret) {
  const auto key = opened()->key_for("ada").value();
  std::ofstream(keys() / (key.id.text() + ".key"), std::ios::trunc).flush();
  EXPECT_EQ(opened()->find(key.id).error().code, ErrorCode::corruption);

  std::filesystem::remove(keys() / "SECRET");
  auto opened = KeyFolder::open(keys(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::corruption);
}

TEST_F(KeyFolders, IsItsOwnersAloneAndOutsideOfTheData) {
  static_cast<void>(opened());
  struct stat found {};
  ASSERT_EQ(::stat(keys().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);

  ASSERT_EQ(::chmod(keys().c_str(), 0750), 0);
  EXPECT_EQ(KeyFolder::open(keys(), {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(KeyFolder::open(folder_.path() / "data" / "keys", folder_.path() / "data").error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(KeyFolder::open(folder_.path() / "x" / ".." / "data", folder_.path() / "data").error().code,
            ErrorCode::invalid_argument);
}

TEST_F(KeyFolders, IsNotMadeWhereItIsToBeThere) {
  const auto missing = KeyFolder::open(keys(), {}, KeyFolder::Missing::refuse);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_FALSE(std::filesystem::exists(keys()));

  ASSERT_TRUE(KeyFolder::open(keys(), {}));
  EXPECT_TRUE(KeyFolder::open(keys(), {}, KeyFolder::Missing::refuse));
}

/// Also where nothing of either is there yet, and one is named from where the process stands.
TEST_F(KeyFolders, LiesOutsideOfTheDataHoweverTheyAreNamed) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const auto within = KeyFolder::open(folder_.path() / "shop" / "keys", "shop");
  const auto within_too = KeyFolder::open("shop/./x/../keys", folder_.path() / "shop");
  const bool made = std::filesystem::exists(folder_.path() / "shop");
  const auto beside = KeyFolder::open("keys-of-shop", "shop");
  std::filesystem::current_path(before);

  ASSERT_FALSE(within);
  EXPECT_EQ(within.error().code, ErrorCode::invalid_argument);
  ASSERT_FALSE(within_too);
  EXPECT_EQ(within_too.error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(made);
  EXPECT_TRUE(beside) << beside.error().what;
}

TEST_F(KeyFolders, APathThatLeadsNowhereIsAnError) {
  std::filesystem::create_symlink("loop", folder_.path() / "loop");
  for (const auto& [keys, data] : {std::pair("loop/keys", "data"), std::pair("keys", "loop/data")}) {
    const auto opened = KeyFolder::open(folder_.path() / keys, folder_.path() / data);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::io) << opened.error().what;
  }
}

TEST_F(KeyFolders, MoreSubjectsThanAreRememberedAreAllFound) {
  auto folder = opened();
  const auto ada = folder->key_for("ada").value();
  std::filesystem::copy_file(keys() / (ada.id.text() + ".key"), keys() / "copy");
  // As many files as it remembers, and more: made here, since a key that it makes is synced.
  std::vector<KeyId> ids;
  for (std::uint32_t i = 0; i < 10'050; ++i) {
    KeyId id;
    for (std::size_t byte = 0; byte < 4; ++byte)
      id.bytes[byte] = static_cast<std::uint8_t>(i * 2654435761u >> (8 * byte));
    std::filesystem::create_hard_link(keys() / "copy", keys() / (id.text() + ".key"));
    ids.push_back(id);
  }
  for (int round = 0; round < 2; ++round) {
    for (const auto& id : ids) {
      const auto found = folder->find(id);
      ASSERT_TRUE(found && *found);
      ASSERT_EQ((*found)->id, id);
      ASSERT_EQ((*found)->secret(), ada.secret());
    }
  }
  EXPECT_EQ(folder->key_for("ada")->secret(), ada.secret());
}

}  // namespace
}  // namespace evershard::cluster
