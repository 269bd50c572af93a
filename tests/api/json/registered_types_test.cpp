// Descriptor sets, and what clashes with what.

#include "evershard/api/json/registered_types.hpp"

#include <gmock/gmock.h>

#include <random>

#include "evershard/api/json/payload_types.hpp"
#include "tests/cli/descriptors.hpp"

namespace evershard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;
using namespace evershard::testing;

RegisteredTypes registered() { return read_descriptor_set(descriptor_bytes(), "bank.pb").value(); }

TEST(RegisteredTypes, HasTheFilesOfADescriptorSet) {
  EXPECT_THAT(registered().files, ElementsAre(Key("google/protobuf/any.proto"), Key("google/protobuf/timestamp.proto"),
                                              Key(bank_file), Key("tests/cli/odd.proto")));
}

TEST(RegisteredTypes, RefusesWhatIsNoDescriptorSet) {
  const std::string whole = descriptor_bytes();
  const std::pair<std::string, const char*> cases[] = {
      {"", "empty"},
      {"{\"a\":1}", "does not parse"},
      {whole.substr(0, whole.size() - 3), "cut short"},
      {std::string("\x0a\x00", 2), "has no name"},
      {descriptors_with([](auto& set) { *set.add_file() = set.file(0); }), "two files named"},
      {google::protobuf::FileDescriptorSet().SerializeAsString() + std::string("\x10\x01", 2), "no file"},
  };
  for (const auto& [bytes, says] : cases) {
    const auto types = read_descriptor_set(bytes, "some.pb");

    ASSERT_FALSE(types) << says;
    EXPECT_EQ(types.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(types.error().what, HasSubstr(says));
    EXPECT_THAT(types.error().what, HasSubstr("some.pb"));
  }
}

TEST(RegisteredTypes, TakesTheSameAgain) {
  auto types = registered();
  types.states["bank_account"] = "evershard.tests.bank.Account";

  ASSERT_TRUE(merge(types, types, Clash::refused));

  EXPECT_EQ(types.files, registered().files);
}

TEST(RegisteredTypes, RefusesAnotherFileOfTheSameNameUntilItMayReplace) {
  auto types = registered();
  const auto later = read_descriptor_set(later_descriptors(), "later.pb").value();

  const auto refused = merge(types, later, Clash::refused);
  const bool unchanged = types == registered();
  const auto replaced = merge(types, later, Clash::newer_wins);

  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr(bank_file));
  EXPECT_TRUE(unchanged);
  ASSERT_TRUE(replaced);
  EXPECT_EQ(types, later);
}

TEST(RegisteredTypes, KeepsProtobufsOwnFilesOfTheFirstSet) {
  auto types = registered();
  const auto other =
      read_descriptor_set(descriptors_with([](auto& set) {
                            file_in(set, "google/protobuf/any.proto").mutable_options()->set_go_package("another");
                          }),
                          "other.pb")
          .value();

  ASSERT_TRUE(merge(types, other, Clash::refused));

  EXPECT_EQ(types, registered());
}

TEST(RegisteredTypes, RefusesANameThatMeansSomethingElse) {
  RegisteredTypes types, alias, state;
  types.aliases["paid"] = "a.Paid";
  types.states["order"] = "a.Order";
  alias.aliases["paid"] = "b.Paid";
  state.states["order"] = "b.Order";

  EXPECT_THAT(merge(types, alias, Clash::refused).error().what, HasSubstr("is a.Paid already, not b.Paid"));
  EXPECT_THAT(merge(types, state, Clash::refused).error().what, HasSubstr("is a.Order already, not b.Order"));
  ASSERT_TRUE(merge(types, alias, Clash::newer_wins));
  EXPECT_EQ(types.aliases.at("paid"), "b.Paid");
}

TEST(RegisteredTypes, SurviveAnyDamage) {
  const std::string whole = descriptor_bytes();
  std::mt19937 random(7);
  int read = 0;
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (unsigned i = 0; i <= random() % 4; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());

    const auto types = read_descriptor_set(bytes, "damaged.pb");

    if (!types) continue;
    ++read;
    const auto usable = PayloadTypes::of(*types);
    if (!usable)
      EXPECT_FALSE(usable.error().what.empty());
    else
      for (const auto& message : usable->messages()) (void)usable->read(message.name, bytes);
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace evershard
