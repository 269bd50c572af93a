// The file TYPES: what is written is read; damage is found.

#include "evershard/api/json/types_file.hpp"

#include <gmock/gmock.h>

#include "tests/cli/descriptors.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

RegisteredTypes some_types() {
  RegisteredTypes types;
  types.files["a.proto"] = std::string(
      "\x0a\x07"
      "a.proto\0",
      10);
  types.aliases["paid \"in\" cash"] = "a.Paid";
  types.states["order"] = "a.Order";
  return types;
}

// docs/internals/on-disk-format.md, "TYPES"
TEST(TypesFile, HasAFixedForm) {
  RegisteredTypes types;
  types.files["a.proto"] =
      "\x0a\x07"
      "a.proto";
  types.states["order"] = "a.Order";

  EXPECT_EQ(encode_types(types),
            "evershard types 1 217882a87f3ca0bf\n"
            R"({"files":{"a.proto":"CgdhLnByb3Rv"},"aliases":{},"states":{"order":"a.Order"}})"
            "\n");
}

TEST(TypesFile, GivesBackWhatWasWritten) {
  const auto real = read_descriptor_set(evershard::testing::descriptor_bytes(), "bank.pb").value();

  EXPECT_EQ(decode_types(encode_types(some_types()), "TYPES").value(), some_types());
  EXPECT_EQ(decode_types(encode_types(real), "TYPES").value(), real);
}

TEST(TypesFile, FindsEveryDamagedByte) {
  const std::string whole = encode_types(some_types());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);

    const auto types = decode_types(bytes, "TYPES");

    ASSERT_FALSE(types) << "byte " << at;
    EXPECT_TRUE(types.error().code == ErrorCode::corruption || types.error().code == ErrorCode::invalid_argument);
  }
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(decode_types(whole.substr(0, size), "TYPES").error().code, ErrorCode::corruption) << size;
}

TEST(TypesFile, IsKnownToBeAnotherOneWithoutBeingRead) {
  const TemporaryFolder folder;
  auto one = some_types(), other = some_types();
  other.states["order"] = "b.Order";  // as long as the other
  EXPECT_EQ(types_stamp(folder.path()), TypesStamp{});

  auto before = types_stamp(folder.path());
  for (const auto* types : {&one, &other, &one, &other}) {
    ASSERT_TRUE(save_types(folder.path(), *types));
    const auto behind = types_stamp(folder.path());
    ASSERT_TRUE(behind);
    EXPECT_NE(behind, before);
    EXPECT_EQ(types_stamp(folder.path()), behind);
    before = behind;
  }
  ASSERT_TRUE(save_types(folder.path(), {}));
  EXPECT_EQ(types_stamp(folder.path()), TypesStamp{});
}

TEST(TypesFile, RefusesANewerVersionByName) {
  const auto types = decode_types("evershard types 2 0123456789abcdef\nwhatever", "TYPES");

  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(types.error().what, HasSubstr("has version 2; this program knows 1"));
}

}  // namespace
}  // namespace evershard
