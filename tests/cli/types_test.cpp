// `evershard types add`, `list`, `remove`; and what registered types change in what is shown.

#include "tests/cli/bank.pb.h"
#include "tests/cli/descriptors.hpp"
#include "tests/cli/typed_store.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Types : public TypedStore {};

TEST_F(Types, AreListedOnceAdded) {
  const Json added =
      shown(with_data({"types", "add", EVERSHARD_DESCRIPTORS, "--state", "bank_account=" + account_message, "--alias",
                       "deposited.v1=" + deposited_message}))
          .at(0);
  const auto listed = shown(with_data({"types", "list"}));
  const Finished table = evershard(with_data({"types", "list", "--format", "table"}));

  EXPECT_EQ(added.at("messages"), 8);
  EXPECT_EQ(added.at("registered").size(), 6u);
  ASSERT_EQ(listed.size(), 8u);
  EXPECT_EQ(listed[0].at("message"), account_message);
  EXPECT_EQ(listed[0].at("state_of"), Json({"bank_account"}));
  EXPECT_EQ(listed[0].at("file"), bank_file);
  EXPECT_EQ(listed[0].at("fields").at("balance"), "int64");
  EXPECT_EQ(listed[2].at("aliases"), Json({"deposited.v1"}));
  EXPECT_THAT(table.out, HasSubstr("MESSAGE"));
  EXPECT_THAT(table.out, HasSubstr("bank_account"));
}

TEST_F(Types, AreAddedAgainWithoutAChange) {
  register_types();
  const std::string before = read_file("store/TYPES");

  const Json again =
      shown(with_data({"types", "add", EVERSHARD_DESCRIPTORS, "--state", "bank_account=" + account_message})).at(0);

  EXPECT_EQ(again.at("registered"), Json::array());
  EXPECT_EQ(read_file("store/TYPES"), before);
}

TEST_F(Types, AreReplacedOnlyWhenAskedTo) {
  register_types();
  const std::string before = read_file("store/TYPES");
  write_file("later.pb", later_descriptors());

  const Finished refused = evershard(with_data({"types", "add", path("later.pb"), "--format", "json"}));
  const Finished other =
      evershard(with_data({"types", "add", "--state", "bank_account=" + deposited_message, "--format", "json"}));
  const std::string after = read_file("store/TYPES");
  const Json replaced = shown(with_data({"types", "add", path("later.pb"), "--replace"})).at(0);

  for (const auto& done : {refused, other}) {
    EXPECT_EQ(done.status, 5);
    EXPECT_EQ(error_of(done).at("code"), "invalid_argument");
    EXPECT_THAT(error_of(done).at("hint").get<std::string>(), HasSubstr("--replace"));
  }
  EXPECT_EQ(after, before);
  EXPECT_EQ(replaced.at("registered"), Json({bank_file}));
  EXPECT_EQ(shown(with_data({"types", "list"})).at(2).at("fields").at("by"), "string");
}

TEST_F(Types, AreRefusedWhereTheyMakeNoSense) {
  const std::string whole = descriptor_bytes();
  write_file("garbage.pb", "\xff\xfe garbage");
  write_file("short.pb", whole.substr(0, whole.size() / 2));
  write_file("empty.pb", "");
  write_file("no_imports.pb", descriptors_with([](auto& set) {
               const auto only = file_in(set, bank_file);
               set.clear_file();
               *set.add_file() = only;
             }));
  struct Case {
    Words words;
    int status;
    const char* says;
  };
  const Case cases[] = {
      {{path("garbage.pb")}, 5, "is no descriptor set"},
      {{path("short.pb")}, 5, "cut short"},
      {{path("empty.pb")}, 5, "it is empty"},
      {{path("no_imports.pb")}, 5, "--include_imports"},
      {{path("none.pb")}, 4, "No such file"},
      {{path("")}, 9, "Is a directory"},
      {{EVERSHARD_DESCRIPTORS, "--alias", "x=no.Such"}, 4, "no.Such"},
      {{EVERSHARD_DESCRIPTORS, "--state", "x=no.Such"}, 4, "no.Such"},
      {{"--state", "a-b=x.Y"}, 5, "a-b"},
      {{"--alias", std::string(256, 'x') + "=x.Y"}, 5, "event type"},
      {{"--alias", "x"}, 2, "stored_name=package.Message"},
      {{"--alias", "x=a.B", "--alias", "x=a.C"}, 2, "twice"},
      {{}, 2, "which types?"},
  };
  for (const auto& [given, status, says] : cases) {
    Words all{"types", "add", "--data", data_, "--format", "json"};
    all.insert(all.end(), given.begin(), given.end());

    const Finished done = evershard(all);

    EXPECT_EQ(done.status, status) << ::testing::PrintToString(given) << done.err;
    EXPECT_THAT(done.err, HasSubstr(says)) << ::testing::PrintToString(given);
    EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    EXPECT_FALSE(std::filesystem::exists(path("store/TYPES")));
    EXPECT_FALSE(std::filesystem::exists(path("store/TYPES.part")));
  }
}

TEST_F(Types, AreRemovedByNameUnlessSomethingNeedsThem) {
  register_types();

  const Finished needed = evershard(with_data({"types", "remove", "--file", bank_file, "--format", "json"}));
  const Finished unknown = evershard(with_data({"types", "remove", "--alias", "none", "--format", "json"}));
  const Finished done = evershard(with_data({"types", "remove", "--file", bank_file, "--state", "bank_account"}));
  const auto left = shown(with_data({"types", "list"}));
  const Finished all = evershard(with_data({"types", "remove", "--all"}));

  EXPECT_EQ(needed.status, 5);
  EXPECT_THAT(error_of(needed).at("message").get<std::string>(), HasSubstr("bank_account"));
  EXPECT_EQ(unknown.status, 4);
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_EQ(left.size(), 4u);
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_FALSE(std::filesystem::exists(path("store/TYPES")));
  EXPECT_EQ(evershard(with_data({"types", "list", "--format", "table"})).out, "(none)\n");
}

TEST_F(Types, AreFoundDamaged) {
  register_types();
  deposit(7);
  std::string bytes = read_file("store/TYPES");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file("store/TYPES", bytes);

  const Finished read = evershard(with_data({"read", "--format", "json"}));
  const auto as_stored = shown(with_data({"read", "--as-stored"}));
  const Finished removed = evershard(with_data({"types", "remove", "--all"}));

  EXPECT_EQ(read.status, 8);
  EXPECT_EQ(error_of(read).at("code"), "corruption");
  EXPECT_THAT(error_of(read).at("hint").get<std::string>(), HasSubstr("--as-stored"));
  EXPECT_EQ(as_stored.size(), 1u);
  EXPECT_EQ(removed.status, 0) << removed.err;
  EXPECT_EQ(evershard(with_data({"read"})).status, 0);
}

TEST_F(Types, GoWithABackupAndBack) {
  register_types();
  deposit(7);
  ASSERT_EQ(evershard(with_data({"backup", path("backup")})).status, 0);
  ASSERT_EQ(evershard({"restore", path("backup"), path("again")}).status, 0);

  EXPECT_EQ(read_file("backup/TYPES"), read_file("store/TYPES"));
  EXPECT_EQ(shown({"read", "--data", path("again")}).at(0).at("decoded").at("amount"), "7");
}

TEST_F(Types, AreNotChangedWhileAnotherProcessHasTheStore) {
  deposit(1);
  Process holder(words({"tail", "--data", data_}));
  ASSERT_EQ(holder.lines(1).size(), 1u);

  const Finished add = evershard(with_data({"types", "add", EVERSHARD_DESCRIPTORS, "--format", "json"}));
  const Finished list = evershard(with_data({"types", "list"}));

  EXPECT_EQ(add.status, 6);
  EXPECT_EQ(error_of(add).at("code"), "unavailable");
  EXPECT_EQ(list.status, 0) << list.err;
}

TEST_F(Types, AddJsonBesideTheBytesOfAPayload) {
  deposit(7);
  const Json before = shown(with_data({"read"})).at(0);
  register_types();

  for (const auto& asked : {Words{"read"},
                            {"read", "bank_account-1"},
                            {"query", "--type", deposited_message},
                            {"tail", "--until-caught-up"},
                            {"aggregate", "history", "bank_account-1"}}) {
    const Json event = shown(with_data(asked)).at(0);

    EXPECT_EQ(event.at("decoded"), Json::parse(R"({"amount":"7"})")) << ::testing::PrintToString(asked);
    EXPECT_EQ(event.at("decoded_as"), deposited_message);
    EXPECT_EQ(event.at("payload"), before.at("payload"));
    EXPECT_EQ(event.at("payload_format"), 2);
  }
  EXPECT_EQ(shown(with_data({"read", "--as-stored"})).at(0), before);
  const Finished table = evershard(with_data({"read", "--format", "table"}));
  EXPECT_THAT(table.out, HasSubstr(R"({"amount":"7"})"));
}

TEST_F(Types, LeaveAnExportAloneAndWhatIsReadCanBeImported) {
  deposit(7);
  const std::string before = evershard(with_data({"export"})).out;
  register_types();

  const std::string exported = evershard(with_data({"export"})).out;
  const std::string read = evershard(with_data({"read", "--format", "jsonl"})).out;
  write_file("read.jsonl", read);
  const std::string copy = store("copy");
  const Finished imported = evershard({"import", path("read.jsonl"), "--data", copy});

  EXPECT_EQ(exported, before);
  EXPECT_THAT(read, HasSubstr("decoded_as"));
  EXPECT_EQ(imported.status, 0) << imported.err;
  EXPECT_EQ(shown({"read", "--data", copy}).at(0).at("payload"), shown(with_data({"read"})).at(0).at("payload"));
  EXPECT_EQ(evershard({"append", "--jsonl", path("read.jsonl"), "--data", copy}).status, 5);
}

TEST_F(Types, SayWhyAPayloadIsNotDecoded) {
  register_types();
  append_payload(deposited_message, std::string("\x08", 1));
  append_payload("stranger", "x");
  append_payload(account_message, std::string("\x0a\x02\xc3\x28", 4));
  append_payload(deposited_message, "x", 0);
  tests::bank::DepositedNext next;
  next.set_amount(3);
  next.set_by("ann");
  append_payload(deposited_message, next.SerializeAsString());

  const auto events = shown(with_data({"read"}));
  const Finished table = evershard(with_data({"read", "--format", "table"}));

  ASSERT_EQ(events.size(), 5u);
  EXPECT_THAT(events[0].at("decode_error").get<std::string>(), HasSubstr("the 1 bytes are no " + deposited_message));
  EXPECT_THAT(events[1].at("decode_error").get<std::string>(), HasSubstr("no message \"stranger\" is registered"));
  EXPECT_TRUE(events[2].contains("decode_error"));
  EXPECT_FALSE(events[3].contains("decoded"));
  EXPECT_FALSE(events[3].contains("decode_error"));
  EXPECT_EQ(events[4].at("decoded").at("amount"), "3");
  EXPECT_EQ(events[4].at("unknown_fields"), true);
  EXPECT_THAT(table.out, HasSubstr("no message \"stranger\" is registered"));
  EXPECT_EQ(table.err, "");
}

TEST_F(Types, LongNumbersAreNumbersForIndexesAndTables) {
  register_types();
  for (const std::int64_t amount : {INT64_MIN, std::int64_t{0}, std::int64_t{9'007'199'254'740'993}}) deposit(amount);
  write_file(
      "sums.json",
      R"({"fields":[{"name":"account","type":"text","role":"key"},{"name":"amount","type":"integer","role":"index"}],)"
      R"("rules":[{"types":[")" +
          deposited_message + R"("],"action":"upsert","key":"aggregate","fields":{"amount":"$.amount"}}]})");

  ASSERT_EQ(evershard(with_data({"index", "create", "by-amount", "--type", deposited_message, "--path", "$.amount",
                                 "--value", "integer"}))
                .status,
            0);
  const Finished found = evershard(with_data({"index", "read", "by-amount", "--from", "0", "--format", "jsonl"}));
  const Finished created = evershard(with_data({"projection", "create", "sums", path("sums.json"), "--wait"}));
  const Finished rows =
      evershard(with_data({"table", "select", "sums", "--where", "amount > 9007199254740992", "--format", "jsonl"}));

  EXPECT_EQ(json_lines(found.out),
            (std::vector<Json>{{{"value", 0}, {"position", 2}}, {{"value", 9'007'199'254'740'993}, {"position", 3}}}));
  EXPECT_EQ(created.status, 0) << created.err;
  EXPECT_EQ(json_lines(rows.out),
            (std::vector<Json>{{{"account", "bank_account-1"}, {"amount", 9'007'199'254'740'993}}}))
      << rows.out << rows.err;
}

TEST_F(Types, MayBeGivenForOneCommand) {
  deposit(7);
  tests::bank::DepositedNext next;
  next.set_by("ann");
  append_payload("deposited=v2", next.SerializeAsString());
  write_file("later.pb", later_descriptors());

  const auto first = shown(
      with_data({"read", "--descriptors", EVERSHARD_DESCRIPTORS, "--alias", "deposited=v2=" + deposited_message}));
  const bool kept = std::filesystem::exists(path("store/TYPES"));
  register_types();
  const auto over =
      shown(with_data({"read", "--descriptors", path("later.pb"), "--alias", "deposited=v2=" + deposited_message}));
  const Finished wrong = evershard(with_data({"read", "--descriptors", path("store/MARK"), "--format", "json"}));
  const Finished both = evershard(with_data({"read", "--descriptors", path("later.pb"), "--as-stored"}));

  EXPECT_EQ(first.at(0).at("decoded").at("amount"), "7");
  EXPECT_EQ(first.at(1).at("unknown_fields"), true);
  EXPECT_FALSE(kept);
  EXPECT_EQ(over.at(1).at("decoded").at("by"), "ann");
  EXPECT_EQ(wrong.status, 5);
  EXPECT_EQ(both.status, 2);
}

}  // namespace
}  // namespace evershard::testing
