// Protobuf payloads as JSON, by reflection.

#include "evershard/api/json/payload_types.hpp"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/own_events.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/timers.hpp"
#include "tests/api/strange.pb.h"
#include "tests/cli/bank.pb.h"
#include "tests/cli/descriptors.hpp"
#include "tests/cli/odd.pb.h"

namespace evershard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace evershard::testing;
namespace bank = evershard::tests::bank;
namespace odd = evershard::tests::odd;
namespace strange = evershard::tests::strange;

class PayloadTypesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    registered_ = read_descriptor_set(descriptor_bytes(), "bank.pb").value();
    use();
  }
  void use() {
    auto types = PayloadTypes::of(registered_);
    ASSERT_TRUE(types) << types.error().what;
    types_ = std::move(*types);
  }
  std::string json(const google::protobuf::Message& message) {
    auto shown = types_.read(message.GetTypeName(), message.SerializeAsString());
    EXPECT_TRUE(shown) << shown.error().what;
    return shown ? shown->json : "";
  }
  Error refused(const std::string& message, std::string_view bytes) {
    auto shown = types_.read(message, bytes);
    EXPECT_FALSE(shown) << shown->json;
    return shown ? Error{} : shown.error();
  }
  /// Why the registered types cannot be used.
  std::string complaint() {
    auto types = PayloadTypes::of(registered_);
    return types ? "" : types.error().what;
  }

  RegisteredTypes registered_;
  PayloadTypes types_;
};

TEST_F(PayloadTypesTest, ShowsEveryKindOfField) {
  bank::Account account;
  account.set_owner_name("Ann \"A\"\n\u00e4");
  account.set_balance(-9007199254740993);
  account.set_kind(bank::Account::SAVINGS);
  account.add_limits()->set_cents(5);
  (*account.mutable_visits())["zoo"] = 2;
  (*account.mutable_visits())["bar"] = 1;
  account.mutable_opened_at()->set_seconds(1);
  account.set_seal(std::string("\0\xff", 2));

  const std::string text = json(account);

  EXPECT_EQ(
      text,
      "{\"owner_name\":\"Ann "
      "\\\"A\\\"\\n\u00e4\",\"balance\":\"-9007199254740993\",\"kind\":\"SAVINGS\",\"limits\":[{\"cents\":\"5\"}],"
      "\"visits\":{\"bar\":1,\"zoo\":2},\"opened_at\":\"1970-01-01T00:00:01Z\",\"seal\":\"AP8=\"}");
}

TEST_F(PayloadTypesTest, ShowsLongNumbersAsNumbersWhereThatIsAsked) {
  bank::Account account;
  account.set_owner_name("12");
  account.set_balance(-9007199254740993);
  account.add_limits()->set_cents(INT64_MAX);
  (*account.mutable_visits())["zoo"] = 2;
  account.mutable_opened_at()->set_seconds(1);

  const auto shown = types_.read(account.GetTypeName(), account.SerializeAsString(), LongNumbers::numbers);

  ASSERT_TRUE(shown) << shown.error().what;
  EXPECT_THAT(shown->json, AllOf(HasSubstr(R"("owner_name":"12","balance":-9007199254740993,)"),
                                 HasSubstr(R"("limits":[{"cents":9223372036854775807}],"visits":{"zoo":2})"),
                                 HasSubstr(R"("opened_at":"1970-01-01T00:00:01Z")")));
}

TEST_F(PayloadTypesTest, ShowsZerosButNotWhatIsAbsent) {
  EXPECT_EQ(json(bank::Deposited()), R"({"amount":"0"})");
  EXPECT_THAT(json(bank::Account()), AllOf(HasSubstr("\"balance\":\"0\""), ::testing::Not(HasSubstr("risk")),
                                           ::testing::Not(HasSubstr("opened_at"))));
}

TEST_F(PayloadTypesTest, SaysThatThereIsMoreThanItKnows) {
  bank::DepositedNext next;
  next.set_amount(3);
  next.set_by("ann");
  bank::Account account;
  account.add_limits()->GetReflection()->MutableUnknownFields(account.mutable_limits(0))->AddVarint(99, 1);

  const auto flat = types_.read("evershard.tests.bank.Deposited", next.SerializeAsString()).value();
  const auto deep = types_.read("evershard.tests.bank.Account", account.SerializeAsString()).value();

  EXPECT_EQ(flat.json, R"({"amount":"3"})");
  EXPECT_TRUE(flat.unknown_fields);
  EXPECT_TRUE(deep.unknown_fields);
  EXPECT_FALSE(types_.read("evershard.tests.bank.DepositedNext", next.SerializeAsString()).value().unknown_fields);
}

TEST_F(PayloadTypesTest, RefusesBytesThatAreNotOfTheMessage) {
  odd::Nested deep;
  for (auto* at = &deep; deep.ByteSizeLong() < 2'000; at = at->mutable_inner()) {
  }
  odd::Wrapped wrapped;
  wrapped.mutable_any()->set_type_url("type.googleapis.com/nobody.Knows");
  wrapped.mutable_any()->set_value("x");

  EXPECT_EQ(refused("evershard.tests.bank.Deposited", "\xff").code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused("evershard.tests.bank.Deposited", std::string("\x08", 1)).what,
              HasSubstr("the 1 bytes are no evershard.tests.bank.Deposited"));
  EXPECT_THAT(refused("evershard.tests.odd.Required", "").what, HasSubstr("name"));
  EXPECT_EQ(refused("evershard.tests.odd.Nested", deep.SerializeAsString()).code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused("evershard.tests.odd.Wrapped", wrapped.SerializeAsString()).code, ErrorCode::invalid_argument);
}

TEST_F(PayloadTypesTest, RefusesWhatLiesInItselfForEver) {
  odd::Wrapped wrapped;
  for (int i = 0; i < 200; ++i) {
    const std::string inside = wrapped.SerializeAsString();
    wrapped.mutable_any()->set_type_url("x/evershard.tests.odd.Wrapped");
    wrapped.mutable_any()->set_value(inside);
  }

  EXPECT_THAT(refused("evershard.tests.odd.Wrapped", wrapped.SerializeAsString()).what, HasSubstr("too deep"));
}

TEST_F(PayloadTypesTest, RefusesStringsThatAreNotUtf8) {
  const std::string field_1("\x0a\x02\xc3\x28", 4);

  EXPECT_EQ(refused("evershard.tests.bank.Account", field_1).code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused("evershard.tests.odd.Text", field_1).code, ErrorCode::invalid_argument);
  odd::Wrapped wrapped;
  wrapped.mutable_any()->set_type_url("type.googleapis.com/evershard.tests.odd.Text");
  wrapped.mutable_any()->set_value(field_1);
  EXPECT_THAT(refused("evershard.tests.odd.Wrapped", wrapped.SerializeAsString()).what, HasSubstr("not UTF-8"));
}

TEST_F(PayloadTypesTest, ShowsAnyOfAKnownMessage) {
  odd::Wrapped wrapped;
  bank::Deposited inside;
  inside.set_amount(4);
  wrapped.mutable_any()->PackFrom(inside);

  EXPECT_THAT(json(wrapped), AllOf(HasSubstr("evershard.tests.bank.Deposited"), HasSubstr("\"amount\":\"4\"")));
}

TEST_F(PayloadTypesTest, KnowsWhichMessageAnEventAndAStateAre) {
  registered_.aliases["deposited.v1"] = "evershard.tests.bank.Deposited";
  registered_.aliases["evershard.tests.bank.Deposited"] = "evershard.tests.bank.DepositedNext";
  registered_.states["bank_account"] = "evershard.tests.bank.Account";
  use();

  EXPECT_EQ(types_.message_of_event("deposited.v1"), "evershard.tests.bank.Deposited");
  EXPECT_EQ(types_.message_of_event("evershard.tests.bank.Deposited"), "evershard.tests.bank.DepositedNext");
  EXPECT_EQ(types_.message_of_event("evershard.tests.bank.Account"), "evershard.tests.bank.Account");
  EXPECT_EQ(types_.message_of_state("bank_account"), "evershard.tests.bank.Account");
  EXPECT_EQ(types_.message_of_state("order"), std::nullopt);
  EXPECT_EQ(refused("no.Such", "").code, ErrorCode::not_found);
  EXPECT_EQ(refused("evershard.tests.bank", "").code, ErrorCode::not_found);
}

TEST_F(PayloadTypesTest, RefusesTypesThatDoNotGoTogether) {
  const RegisteredTypes sound = registered_;
  const auto after = [&](const auto& change) {
    registered_ = sound;
    change();
    return complaint();
  };

  EXPECT_THAT(after([&] { registered_.files.erase("google/protobuf/timestamp.proto"); }),
              AllOf(HasSubstr("timestamp.proto"), HasSubstr("--include_imports")));
  EXPECT_THAT(after([&] { registered_.aliases["x"] = "no.Such"; }),
              AllOf(HasSubstr("\"no.Such\""), HasSubstr("\"x\"")));
  EXPECT_THAT(after([&] { registered_.states["x"] = "evershard.tests.bank.Account.Kind"; }), HasSubstr("no message"));
  EXPECT_THAT(after([&] {
                google::protobuf::FileDescriptorProto copy;
                copy.ParseFromString(registered_.files.at(bank_file));
                copy.set_name("copy.proto");
                registered_.files["copy.proto"] = copy.SerializeAsString();
              }),
              HasSubstr("already defined"));
  EXPECT_THAT(after([&] {
                google::protobuf::FileDescriptorProto file;
                file.set_name("loop.proto");
                file.add_dependency("loop.proto");
                registered_.files["loop.proto"] = file.SerializeAsString();
              }),
              HasSubstr("loop.proto"));
}

TEST_F(PayloadTypesTest, ListsMessagesWithTheirFields) {
  const auto messages = types_.messages();

  std::vector<std::string> names;
  for (const auto& message : messages) names.push_back(message.name);
  EXPECT_THAT(names, ::testing::ElementsAre("evershard.tests.bank.Account", "evershard.tests.bank.Account.Limit",
                                            "evershard.tests.bank.Deposited", "evershard.tests.bank.DepositedNext",
                                            "evershard.tests.odd.Nested", "evershard.tests.odd.Required",
                                            "evershard.tests.odd.Text", "evershard.tests.odd.Wrapped"));
  const std::vector<std::pair<std::string, std::string>> fields{
      {"owner_name", "string"},
      {"balance", "int64"},
      {"kind", "evershard.tests.bank.Account.Kind"},
      {"limits", "repeated evershard.tests.bank.Account.Limit"},
      {"visits", "map<string, int32>"},
      {"opened_at", "google.protobuf.Timestamp"},
      {"risk", "int32"},
      {"seal", "bytes"}};
  EXPECT_EQ(messages.front().fields, fields);
  EXPECT_EQ(messages.front().file, bank_file);
}

class StrangePayloads : public PayloadTypesTest {
 protected:
  void SetUp() override {
    std::ifstream in(STRANGE_DESCRIPTORS, std::ios::binary);
    const std::string set{std::istreambuf_iterator<char>(in), {}};
    registered_ = read_descriptor_set(set, "strange.pb").value();
    use();
  }
};

TEST_F(StrangePayloads, AGroupsFieldsAreItsOwn) {
  strange::Grouped grouped;
  grouped.set_number(1);
  grouped.mutable_inner()->set_number(2);
  grouped.mutable_inner()->set_name("in it");
  grouped.add_many()->set_number(3);
  EXPECT_EQ(json(grouped), R"({"number":1,"inner":{"number":2,"name":"in it"},"many":[{"number":3}]})");
  grouped.clear_number();
  EXPECT_EQ(json(grouped), R"({"inner":{"number":2,"name":"in it"},"many":[{"number":3}]})");
}

// 0.1 of a float is another number than the double 0.1: an index has the float's.
TEST_F(StrangePayloads, AFloatIsItsValueAsADoubleForIndexesAndTables) {
  strange::Own own;
  for (const float part : {0.1F, -16'777'217.3F, 1e-45F, 3.4028235e38F, 0.0F}) {
    own.set_part(part);
    const auto shown = types_.read("evershard.tests.strange.Own", own.SerializeAsString(), LongNumbers::numbers);
    ASSERT_TRUE(shown) << shown.error().what;
    const auto begin = shown->json.find(R"("part":)");
    ASSERT_NE(begin, std::string::npos) << shown->json;
    EXPECT_EQ(std::strtod(shown->json.c_str() + begin + 7, nullptr), static_cast<double>(part)) << shown->json;
  }
  own.set_part(0.1F);
  EXPECT_THAT(json(own), HasSubstr(R"("part":0.1)")) << "for people, and for Protobuf's JSON, as short as it can be";
}

TEST_F(StrangePayloads, WhatIsAbsentIsNotShownAsItsDefault) {
  EXPECT_EQ(json(strange::Defaults()), "{}");
  strange::Defaults set;
  set.set_limit(std::numeric_limits<double>::infinity());
  set.set_seal("\xff");
  set.set_count(0);
  EXPECT_EQ(json(set), R"({"limit":"Infinity","seal":"/w==","count":"0"})");
}

TEST_F(StrangePayloads, RegisteredExtensionsAreShownAndOthersAreUnknown) {
  strange::Open open;
  open.set_own(1);
  open.SetExtension(strange::note, "more");
  open.AddExtension(strange::numbers, 5);
  open.MutableExtension(strange::text)->set_text("inside");
  EXPECT_EQ(json(open), R"({"own":1,"[evershard.tests.strange.note]":"more","[evershard.tests.strange.numbers]":["5"],)"
                        R"("[evershard.tests.strange.text]":{"text":"inside"}})");
  auto shown = types_.read("evershard.tests.strange.Open", open.SerializeAsString()).value();
  EXPECT_FALSE(shown.unknown_fields);
  shown =
      types_.read("evershard.tests.strange.Open", open.SerializeAsString() + std::string("\xd0\x0c\x01", 3)).value();
  EXPECT_TRUE(shown.unknown_fields) << "field 202 is nobody's";
}

TEST_F(StrangePayloads, ProtobufsOwnMessagesHaveAJsonOfTheirOwn) {
  strange::Own own;
  own.mutable_mask()->add_paths("owner_name");
  own.mutable_mask()->add_paths("limits.cents");
  own.set_nothing(google::protobuf::NULL_VALUE);
  auto& list = *own.mutable_any_value()->mutable_list_value();
  list.add_values()->set_null_value(google::protobuf::NULL_VALUE);
  (*list.add_values()->mutable_struct_value()->mutable_fields())["n"].set_number_value(1.5);
  own.mutable_took()->set_seconds(-1);
  own.mutable_took()->set_nanos(-500'000'000);
  own.mutable_wrapped()->set_value(3);
  own.set_part(0.1f);
  own.set_whole(1e300);
  (*own.mutable_flags())[10] = true;
  (*own.mutable_flags())[-20] = false;
  (*own.mutable_flags())[-3] = true;
  (*own.mutable_flags())[9] = true;
  EXPECT_EQ(json(own),
            R"({"mask":"ownerName,limits.cents","nothing":null,"any_value":[null,{"n":1.5}],"took":"-1.500s",)"
            R"("wrapped":"3","part":0.1,"whole":1e+300,"flags":{"-20":false,"-3":true,"9":true,"10":true}})");
}

TEST_F(StrangePayloads, WhatWouldComeBackAsAnotherIsNotShown) {
  for (const char* path : {"camelCase", "two__lines", "ends_", "a_1", "a,b"}) {
    strange::Own own;
    own.mutable_mask()->add_paths(path);
    EXPECT_THAT(refused("evershard.tests.strange.Own", own.SerializeAsString()).what, HasSubstr("field mask")) << path;
  }
  strange::Own late;
  late.mutable_took()->set_seconds(1);
  late.mutable_took()->set_nanos(-1);
  EXPECT_THAT(refused("evershard.tests.strange.Own", late.SerializeAsString()).what, HasSubstr("out of its range"));
}

TEST_F(StrangePayloads, FilesOfAnEditionAreRefusedWithWhatCanBeRead) {
  google::protobuf::FileDescriptorProto file;
  file.set_name("new.proto");
  file.set_syntax("editions");
  registered_.files["new.proto"] = file.SerializeAsString();
  EXPECT_THAT(complaint(), AllOf(HasSubstr("new.proto"), HasSubstr("proto2 and proto3 can be read")));
}

TEST(OwnEvents, AreDecodedWhateverIsRegistered) {
  RecordedEvent event;
  event.type = timers_changed_type;
  event.format = PayloadFormat::protobuf;
  TimersChanged changed;
  changed.set = {{.name = "late",
                  .after = std::chrono::seconds(2),
                  .command = "bank.GiveUp",
                  .payload = std::string("\0\x01", 2)}};
  changed.cancelled = {"early"};
  event.payload = encode(changed);
  for (const bool some_registered : {false, true}) {
    const auto read =
        some_registered
            ? decoded(event, PayloadTypes::of(read_descriptor_set(descriptor_bytes(), "bank.pb").value()).value())
            : decoded(event, PayloadTypes());
    ASSERT_TRUE(read && *read);
    EXPECT_EQ((*read)->json, R"({"set":[{"name":"late","after_us":2000000,"command":"bank.GiveUp","payload":"AAE=",)"
                             R"("payload_encoding":"base64"}],"cancelled":["early"]})");
    EXPECT_EQ((*read)->message, "evershard.v1.TimersChanged");
  }

  ProcessReacted reacted{ProcessReacted::Cause::not_performed, GlobalPosition{7}, 1, "trip.Mail"};
  reacted.reason = "no such address";
  reacted.commands = {{{"flight", "LH1"}, "trip.Cancel", R"({"n":1})"}};
  event.type = process_reacted_type;
  event.payload = encode(reacted);
  EXPECT_EQ(
      decoded(event, {}).value()->json,
      R"({"cause":"not_performed","position":7,"number":1,"type":"trip.Mail","commands":[{"aggregate":"flight-LH1",)"
      R"("type":"trip.Cancel","payload":{"n":1}}],"reason":"no such address"})");
  event.payload = "\xff";
  EXPECT_FALSE(*decoded(event, {}));

  event.aggregate = process_log("trip");
  event.type = process_taken_type;
  event.payload.clear();
  EXPECT_EQ(decoded(event, {}).value()->json, R"({"process":"trip"})");
  event.type = process_retired_type;
  event.payload = "trip-2";
  event.format = PayloadFormat::text;
  EXPECT_EQ(decoded(event, {}).value()->json, R"({"process":"trip","successor":"trip-2"})");
  EXPECT_EQ(decoded(event, {}).value()->message, "$ProcessRetired");
  event.type = "Placed";
  EXPECT_FALSE(decoded(event, {})) << "a user's";
}

TEST_F(PayloadTypesTest, ShowsWhatTheStoreKeepsOfProcesses) {
  RecordedSnapshot snapshot;
  snapshot.aggregate = process_log("trip");
  snapshot.format = PayloadFormat::protobuf;
  ProcessCheckpoint checkpoint;
  checkpoint.position = GlobalPosition{41};
  checkpoint.trouble = "no route";
  snapshot.payload = encode(checkpoint);
  const auto own = decoded(snapshot, {});
  ASSERT_TRUE(own && *own);
  EXPECT_THAT((*own)->json, AllOf(HasSubstr(R"("position":41)"), HasSubstr(R"("trouble":"no route")")));
  EXPECT_EQ((*own)->message, "evershard.v1.ProcessCheckpoint");

  const auto instance = [&](std::string state) {
    return state_of_instance("trip", encode(ProcessStateBytes{std::move(state), GlobalPosition{3}, false}), types_);
  };
  EXPECT_EQ(instance(R"({"seats":2})")->json, R"({"seats":2})");
  EXPECT_EQ(instance("waits")->json, R"("waits")");
  EXPECT_EQ(instance("\xff")->json, R"("/w==")");
  EXPECT_TRUE(instance("\xff")->base64);
  EXPECT_FALSE(state_of_instance("trip", "\xff", types_));
}

}  // namespace
}  // namespace evershard
