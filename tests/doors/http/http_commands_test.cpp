// Commands to aggregates over HTTP: JSON in, JSON out.

#include <google/protobuf/descriptor.pb.h>

#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/protocol/base64.hpp"
#include "examples/bank_account/bank_account.hpp"
#include "examples/course_enrolment/course_enrolment.hpp"
#include "tests/doors/http/running_door.hpp"

namespace evershard {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::shared_ptr<const AggregateKind>>& banks() {
  static const std::vector<std::shared_ptr<const AggregateKind>> kinds{make_kind<BankAccount>().value(),
                                                                       make_kind<Course>().value()};
  return kinds;
}
struct HostingDoor : RunningDoor {
  explicit HostingDoor(std::string_view token_lines = {}) : RunningDoor({}, token_lines, {}, {}, banks()) {}
};
const std::string ann = "/api/v1/aggregates/bank_account-ann/commands/";

TEST(HttpCommands, AreAskedAndAnswered) {
  const HostingDoor door;

  const auto opened = door.ask("POST", ann + "bank.OpenAccount", R"({"owner":"Ann"})");
  ASSERT_EQ(opened.status, 200) << opened.body;
  EXPECT_EQ(opened.json(), (json{{"outcome", "replied"},
                                 {"reply", {{"amount", "0"}}},
                                 {"duplicate", false},
                                 {"version", 1},
                                 {"position", 1}}));
  const auto paid = door.ask("POST", ann + "bank.Deposit?command_id=pay%2F1&timeout_ms=5000", R"({"amount":70})");
  EXPECT_EQ(paid.json()["reply"], (json{{"amount", "70"}})) << paid.body;
  const auto again = door.ask("POST", ann + "bank.Deposit?command_id=pay%2F1", R"({"amount":70})");
  EXPECT_EQ(again.json()["duplicate"], true);
  EXPECT_EQ(again.json()["reply"], (json{{"amount", "70"}}));
  EXPECT_EQ(again.json()["position"], paid.json()["position"]);
  const auto refused = door.ask("POST", ann + "bank.Withdraw", R"({"amount":71})");
  EXPECT_EQ(refused.status, 200);
  EXPECT_EQ(refused.json(), (json{{"outcome", "rejected"}, {"rejection", "insufficient funds"}, {"version", 2}}));
  EXPECT_EQ(door.ask("POST", ann + "bank.GetBalance", "{}").json()["reply"]["amount"], "70");
  EXPECT_EQ(door.ask("POST", ann + "bank.GetBalance", {}, "Content-Type: application/json\r\n").json()["outcome"],
            "replied")
      << "no body";

  const auto course = door.ask("POST", "/api/v1/aggregates/course-a%2F1/commands/school.OpenCourse",
                               R"({"course":"a/1","title":"Algebra"})");
  EXPECT_EQ(course.json()["outcome"], "replied") << course.body;
  EXPECT_TRUE(course.json()["reply"].is_null());
  EXPECT_EQ(door.ask("POST", "/api/v1/aggregates/course-b/commands/school.OpenCourse", R"({"title":"Algebra"})").code(),
            "condition_failed");
}

TEST(HttpCommands, RefuseWhatIsWrong) {
  const HostingDoor door;
  const auto message = [&](const std::string& target, const std::string& body) {
    const auto answer = door.ask("POST", target, body);
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(answer.code(), "invalid_argument");
    return answer.json()["error"].value("message", "");
  };

  EXPECT_THAT(message(ann + "bank.Deposit", "{"), HasSubstr("not JSON"));
  EXPECT_THAT(message(ann + "bank.Deposit", "\xff"), HasSubstr("UTF-8"));
  EXPECT_THAT(message(ann + "bank.Deposit", R"({"amount":{}})"), HasSubstr("amount"));
  EXPECT_THAT(message(ann + "bank.Deposits", "{}"), HasSubstr("\"bank.Deposit\""));
  EXPECT_THAT(message(ann + "$FireTimer", "{}"), HasSubstr("know no command"));
  EXPECT_THAT(message("/api/v1/aggregates/order-1/commands/bank.Deposit", "{}"), HasSubstr("\"bank_account\""));
  EXPECT_THAT(message("/api/v1/aggregates/ann/commands/bank.Deposit", "{}"), HasSubstr("ann"));
  EXPECT_THAT(message("/api/v1/aggregates/$process-1/commands/bank.Deposit", "{}"), HasSubstr("nobody hosts"));
  EXPECT_THAT(message(ann + "bank.Deposit?timeout_ms=0", "{}"), HasSubstr("timeout_ms"));
  EXPECT_THAT(message(ann + "bank.Deposit?timeout_ms=soon", "{}"), HasSubstr("timeout_ms"));
  EXPECT_THAT(message(ann + "bank.Deposit?command=1", "{}"), HasSubstr("command"));
  EXPECT_EQ(door.ask("POST", ann + "bank.Deposit?command_id=" + std::string(256, 'x'), "{}").status, 413);
  EXPECT_EQ(door.ask("POST", ann + "bank.OpenAccount", R"({"owner":")" + std::string(2u << 20, 'x') + R"("})").status,
            413);
  EXPECT_EQ(door.get(ann + "bank.Deposit").status, 405);
  EXPECT_EQ(door.get("/api/v1/head").json()["head"], 0);

  const RunningDoor plain;
  const auto none = plain.ask("POST", ann + "bank.Deposit", "{}");
  EXPECT_EQ(none.status, 400);
  EXPECT_THAT(none.body, HasSubstr("hosts no aggregates"));
}

TEST(HttpCommands, AreListed) {
  const HostingDoor door;
  const auto kinds = door.get("/api/v1/kinds").json();
  ASSERT_EQ(kinds["kinds"].size(), 2u);
  EXPECT_EQ(kinds["kinds"][0]["type"], "bank_account");
  EXPECT_EQ(kinds["kinds"][0]["state"], (json{{"payload_format", 2}, {"message", "bank.Account"}}));
  EXPECT_EQ(kinds["kinds"][0]["commands"][1], (json{{"name", "bank.Deposit"},
                                                    {"type", {{"payload_format", 2}, {"message", "bank.Deposit"}}},
                                                    {"reply", {{"payload_format", 2}, {"message", "bank.Balance"}}},
                                                    {"query", false}}));
  EXPECT_TRUE(kinds["kinds"][1]["commands"][0]["reply"].is_null());
  EXPECT_FALSE(kinds.contains("descriptors"));
  const auto described = door.get("/api/v1/kinds?descriptors=true").json();
  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromString(from_base64(described["descriptors"].get<std::string>()).value()));
  EXPECT_EQ(set.file_size(), 2);
  EXPECT_EQ(door.get("/api/v1/kinds?descriptors=1").status, 400);
  EXPECT_EQ(RunningDoor().get("/api/v1/kinds").json(), (json{{"kinds", json::array()}}));
}

TEST(HttpCommands, HaveScopesAndAreCounted) {
  const HostingDoor door(tokens);
  const auto with = [](const std::string& token) { return "Authorization: Bearer " + token + "\r\n"; };
  const auto open = [&](const std::string& token) {
    return door.ask("POST", ann + "bank.OpenAccount", R"({"owner":"Ann"})", with(token)).status;
  };
  EXPECT_EQ(open("r-0123456789abcdef"), 403);
  EXPECT_EQ(open("w-0123456789abcdef"), 200);
  EXPECT_EQ(door.get("/api/v1/kinds").status, 401);
  EXPECT_EQ(door.get("/api/v1/kinds", with("r-0123456789abcdef")).status, 200);
  EXPECT_THAT(door.get("/metrics", with("r-0123456789abcdef")).body,
              HasSubstr("/api/v1/aggregates/{id}/commands/{command}"));
}

}  // namespace
}  // namespace evershard
