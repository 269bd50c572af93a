// Commands to aggregates over the network: the same answers as in the process that hosts them.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <condition_variable>
#include <mutex>

#include <nlohmann/json.hpp>

#include "evershard/actors/model/aggregate_ref.hpp"
#include "evershard/actors/model/typed_kind.hpp"
#include "evershard/doors/wire/status.hpp"
#include "evershard/services/states/state_feed.hpp"
#include "evershard/v1/asks.pb.h"
#include "examples/bank_account/bank_account.hpp"
#include "examples/course_enrolment/course_enrolment.hpp"
#include "tests/doors/remote/raw_calls.hpp"
#include "tests/doors/remote/served_store.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A command that lasts until it is let go.
struct Gate {
  std::mutex mutex;
  std::condition_variable moved;
  bool open = true;
  int inside = 0;

  void pass() {
    std::unique_lock lock(mutex);
    ++inside;
    moved.notify_all();
    moved.wait(lock, [&] { return open; });
  }
  void set(bool to) {
    const std::lock_guard lock(mutex);
    open = to;
    moved.notify_all();
  }
};
Gate gate;

struct Line {
  std::string text;
};
struct Raw {
  std::string bytes;
};

}  // namespace

/// JSON of the application's own, over two lines.
template <>
struct Codec<Line> {
  static constexpr std::string_view name = "line";
  static constexpr auto format = PayloadFormat::json;
  static std::string encode(const Line& line) { return nlohmann::json{{"text", line.text}}.dump(1); }
  static Line decode(std::string_view bytes) { return {nlohmann::json::parse(bytes).at("text").get<std::string>()}; }
};
template <>
struct Codec<Raw> {
  static constexpr std::string_view name = "raw";
  static constexpr auto format = PayloadFormat::unspecified;
  static std::string encode(const Raw& raw) { return raw.bytes; }
  static Raw decode(std::string_view bytes) { return {std::string(bytes)}; }
};

namespace {

/// With codecs of its own, and a handler that takes its time.
struct Page {
  static constexpr std::string_view type = "page";
  using State = Line;
  using Commands = Types<Line, Raw>;
  using Events = Types<Line>;
  static Effect<Line> on(const Line&, const Line& line) {
    if (line.text == "not UTF-8") return reject("\xff\xfe");
    if (line.text == "slow") gate.pass();
    return persist(line).reply([](const Line& state) { return state; });
  }
  static Effect<Raw> on(const Line&, const Raw& raw) { return reply(raw); }
  static void apply(Line& state, const Line& line) { state.text += line.text; }
};

std::string bytes_of(const google::protobuf::MessageLite& message) { return message.SerializeAsString(); }

std::string opened_by(const std::string& owner, std::int64_t overdraft = 0) {
  bank::OpenAccount open;
  open.set_owner(owner);
  open.set_overdraft(overdraft);
  return bytes_of(open);
}
template <class Command>
std::string amount_of(std::int64_t amount) {
  Command command;
  command.set_amount(amount);
  return bytes_of(command);
}

struct Told {
  grpc::Status status;
  v1::AskResponse response;
  [[nodiscard]] ErrorCode code() const { return wire::error_of(status).code; }
  [[nodiscard]] std::string what() const { return wire::error_of(status).what; }
};

Told ask(const ServedStore& served, const v1::AskRequest& request, std::chrono::milliseconds timeout = 20s) {
  Told told;
  std::string bytes;
  const auto channel = raw::channel(served.address());
  told.status = raw::unary(*channel, "/evershard.v1.Aggregates/Ask", request.SerializeAsString(), &bytes, {}, timeout);
  EXPECT_TRUE(told.response.ParseFromString(bytes));
  return told;
}

v1::AskRequest request_of(const std::string& type, const std::string& value, const std::string& command,
                          const std::string& json) {
  v1::AskRequest request;
  request.mutable_aggregate()->set_type(type);
  request.mutable_aggregate()->set_value(value);
  request.set_command(command);
  request.set_json(json);
  return request;
}

Told ask_json(const ServedStore& served, const std::string& command, const std::string& json,
              const std::string& type = "bank_account") {
  return ask(served, request_of(type, "ann", command, json));
}

TEST(RemoteAggregates, AreAskedWithBytes) {
  ServedStore served;
  served.host<BankAccount, Course>();
  auto remote = served.connect();
  const AggregateId ann{"bank_account", "ann"};

  const Answer<bank::Balance> opened(remote.ask(ann, "bank.OpenAccount", opened_by("Ann"), {.command_id = "open"}));
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(opened->amount(), 0);
  EXPECT_EQ(opened.version(), SeqNr{1});
  EXPECT_EQ(opened.position(), GlobalPosition{1});
  EXPECT_EQ(remote.seen(), GlobalPosition{1});
  EXPECT_FALSE(opened.duplicate());

  const Answer<bank::Balance> paid(
      remote.ask(ann, "bank.Deposit", amount_of<bank::Deposit>(70), {.command_id = "pay", .timeout = 5s}));
  ASSERT_TRUE(paid) << paid.error().what;
  EXPECT_EQ(paid->amount(), 70);
  const Answer<bank::Balance> again(
      remote.ask(ann, "bank.Deposit", amount_of<bank::Deposit>(5'000), {.command_id = "pay"}));
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(again.duplicate());
  EXPECT_EQ(again->amount(), 70);
  EXPECT_EQ(again.position(), paid.position());

  const auto refused = remote.ask(ann, "bank.Withdraw", amount_of<bank::Withdraw>(71));
  EXPECT_EQ(refused.kind, AnswerKind::rejected);
  EXPECT_EQ(refused.rejection, "insufficient funds");
  EXPECT_EQ(refused.version, SeqNr{2});
  EXPECT_EQ(served.local.head().value(), GlobalPosition{2});

  const auto there = served.local.get<BankAccount>("ann").ask(bank::GetBalance());
  const Answer<bank::Balance> here(remote.ask(ann, "bank.GetBalance", {}));
  ASSERT_TRUE(there && here);
  EXPECT_EQ(here->amount(), there->amount());
  EXPECT_EQ(here.version(), there.version());
}

TEST(RemoteAggregates, AreAskedWithJson) {
  ServedStore served;
  served.host<BankAccount, Course>();

  auto told = ask_json(served, "bank.OpenAccount", R"({"owner":"Ann","overdraft":"100"})");
  ASSERT_TRUE(told.status.ok()) << told.what();
  EXPECT_EQ(told.response.replied().json(), R"({"amount":"0"})");
  EXPECT_EQ(told.response.replied().reply(), "");
  told = ask_json(served, "bank.Withdraw", R"({"amount":60})");
  EXPECT_EQ(told.response.replied().json(), R"({"amount":"-60"})");
  EXPECT_EQ(told.response.replied().version(), 2u);
  EXPECT_EQ(told.response.replied().position(), 2u);
  told = ask_json(served, "bank.Withdraw", R"({"amount":60})");
  ASSERT_TRUE(told.status.ok());
  EXPECT_EQ(told.response.rejected().reason(), "insufficient funds");
  EXPECT_EQ(told.response.rejected().version(), 2u);

  told = ask_json(served, "school.OpenCourse", R"({"course":"algebra","title":"Algebra","places":2})", "course");
  ASSERT_TRUE(told.response.has_replied()) << told.what();
  EXPECT_EQ(told.response.replied().json(), "") << "it says that it is done, and no more";
  told = ask(served, request_of("course", "second", "school.OpenCourse", R"({"course":"second","title":"Algebra"})"));
  EXPECT_EQ(told.code(), ErrorCode::condition_failed) << told.what();
}

TEST(RemoteAggregates, RefuseWhatIsWrong) {
  ServedStore served;
  served.host<BankAccount, Course>();
  const auto refused = [&](const Told& told) {
    EXPECT_EQ(told.status.error_code(), grpc::INVALID_ARGUMENT);
    EXPECT_EQ(told.code(), ErrorCode::invalid_argument) << told.what();
    return told.what();
  };

  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", "{")), HasSubstr("not JSON"));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", "")), HasSubstr("not JSON"));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", "[1]")), HasSubstr("bank.Deposit"));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", R"({"amount":"much"})")), HasSubstr("(amount)"));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", R"({"amont":5})")), HasSubstr("amont"));
  EXPECT_LT(refused(ask_json(served, "bank.Deposit", R"({"amount":")" + std::string(100'000, 'x') + R"("})")).size(),
            600u);
  EXPECT_THAT(refused(ask_json(served, "bank.Deposits", "{}")),
              AllOf(HasSubstr("know no command \"bank.Deposits\""), HasSubstr("\"bank.Deposit\"")));
  EXPECT_THAT(refused(ask_json(served, "$FireTimer", "{}")), HasSubstr("know no command"));
  EXPECT_THAT(refused(ask_json(served, "", "{}")), HasSubstr("know no command"));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", "{}", "bankaccount")),
              AllOf(HasSubstr("nobody hosts"), HasSubstr("\"bank_account\""), HasSubstr("\"course\"")));
  EXPECT_THAT(refused(ask_json(served, "bank.Deposit", "{}", "$process")), HasSubstr("nobody hosts"));
  refused(ask_json(served, "bank.Deposit", "{}", ""));
  refused(ask(served, {}));
  auto no_message = request_of("bank_account", "ann", "bank.Deposit", "");
  no_message.set_bytes("\xff\xff\xff");
  EXPECT_THAT(refused(ask(served, no_message)), HasSubstr("bank.Deposit"));
  auto named = request_of("bank_account", "ann", "bank.OpenAccount", R"({"owner":"Ann"})");
  named.set_command_id(std::string(256, 'x'));
  EXPECT_EQ(ask(served, named).code(), ErrorCode::too_large);
  auto large = request_of("bank_account", "ann", "bank.OpenAccount", "");
  large.set_bytes(opened_by(std::string(9u << 20, 'x')));
  EXPECT_EQ(ask(served, large).code(), ErrorCode::too_large);
  large.set_bytes(opened_by(std::string(2u << 20, 'x')));
  EXPECT_EQ(ask(served, large).code(), ErrorCode::too_large) << "the event is";
  large.set_json(R"({"owner":")" + std::string(2u << 20, 'x') + R"("})");
  EXPECT_EQ(ask(served, large).code(), ErrorCode::too_large) << "the event is";
  EXPECT_EQ(served.local.head().value(), GlobalPosition{0});

  auto remote = served.connect();
  EXPECT_EQ(remote.ask({"bank_account", "ann"}, "bank.Deposit", {}, {.command_id = "\xff"}).error.code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(remote.ask({"bank_account", ""}, "bank.Deposit", {}).error.code, ErrorCode::invalid_argument);
}

TEST(RemoteAggregates, HaveCodecsOfTheirOwn) {
  ServedStore served;
  served.host<Page>();

  auto told = ask_json(served, "line", R"({"text":"a"})", "page");
  ASSERT_TRUE(told.status.ok()) << told.what();
  EXPECT_EQ(told.response.replied().json(), R"({  "text": "a" })") << "on one line";
  EXPECT_EQ(told.response.replied().reply(), "{\n \"text\": \"a\"\n}");
  EXPECT_EQ(ask_json(served, "line", "{", "page").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(ask_json(served, "line", "{}", "page").code(), ErrorCode::invalid_argument);
  EXPECT_THAT(ask_json(served, "raw", "{}", "page").what(), HasSubstr("asked with bytes"));
  auto raw = request_of("page", "ann", "raw", "");
  raw.set_bytes(std::string("\xff\0", 2));
  EXPECT_EQ(ask(served, raw).response.replied().reply(), std::string("\xff\0", 2));
  told = ask_json(served, "line", R"({"text":"not UTF-8"})", "page");
  ASSERT_TRUE(told.status.ok()) << told.what();
  EXPECT_TRUE(told.response.has_rejected());
  EXPECT_NE(told.response.rejected().reason(), "");
}

TEST(RemoteAggregates, AreListedWithWhatDescribesThem) {
  ServedStore served;
  EXPECT_EQ(served.connect().kinds().value(), HostedKinds{});
  served.host<Page, Course, BankAccount>();
  auto remote = served.connect();

  const auto kinds = remote.kinds();
  ASSERT_TRUE(kinds) << kinds.error().what;
  EXPECT_EQ(*kinds, served.commands->kinds());
  ASSERT_EQ(kinds->kinds.size(), 3u);
  const auto& bank = kinds->kinds[0];
  EXPECT_EQ(bank.type, "bank_account");
  EXPECT_EQ(bank.state, (HostedType{PayloadFormat::protobuf, "bank.Account"}));
  const HostedType balance{PayloadFormat::protobuf, "bank.Balance"};
  EXPECT_THAT(bank.commands, testing::Contains(HostedCommand{
                                 "bank.Deposit", {PayloadFormat::protobuf, "bank.Deposit"}, balance, true, false}));
  EXPECT_THAT(bank.commands,
              testing::Contains(
                  HostedCommand{"bank.GetBalance", {PayloadFormat::protobuf, "bank.GetBalance"}, balance, true, true}));
  EXPECT_THAT(bank.events,
              testing::Contains(HostedEvent{"bank.MoneyMoved", {PayloadFormat::protobuf, "bank.MoneyMoved"}, true}));
  EXPECT_FALSE(kinds->kinds[1].commands.at(0).replies);
  EXPECT_EQ(kinds->kinds[2].commands.at(1), (HostedCommand{"raw", {}, {}, true, false}));

  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromString(kinds->descriptors));
  google::protobuf::DescriptorPool pool;
  for (const auto& file : set.file()) ASSERT_NE(pool.BuildFile(file), nullptr) << file.name();
  for (const auto* name : {"bank.Deposit", "bank.Balance", "bank.Account", "bank.MoneyMoved", "school.OpenCourse"})
    EXPECT_NE(pool.FindMessageTypeByName(name), nullptr) << name;
}

// As grpcurl does it: the application's messages are in the program.
TEST(RemoteAggregates, AreKnownToReflection) {
  ServedStore served;
  served.host<BankAccount>();
  const auto channel = raw::channel(served.address());
  const auto context = raw::context();
  const auto stream =
      raw::both_ways(*channel, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", *context);
  for (const std::string symbol : {"evershard.v1.Aggregates", "bank.Deposit"}) {
    // ServerReflectionRequest.file_containing_symbol is field 4.
    ASSERT_TRUE(stream->Write(raw::bytes("\x22" + std::string(1, static_cast<char>(symbol.size())) + symbol)));
    grpc::ByteBuffer in;
    ASSERT_TRUE(stream->Read(&in)) << symbol;
    EXPECT_THAT(raw::text(in), HasSubstr(symbol == "bank.Deposit" ? "bank.proto" : "asks.proto"));
  }
  stream->WritesDone();
  EXPECT_TRUE(stream->Finish().ok());
}

TEST(RemoteAggregates, OfAServerWithoutAny) {
  ServedStore served;
  auto remote = served.connect();
  EXPECT_TRUE(remote.kinds()->kinds.empty());
  const auto answer = remote.ask({"bank_account", "ann"}, "bank.Deposit", {});
  EXPECT_EQ(answer.error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(answer.error.what, HasSubstr("hosts no aggregates"));
}

TEST(RemoteAggregates, AnswerInTimeAndForgetWhoWent) {
  gate.set(false);
  ServedStore served;
  served.host<Page>();
  const auto inside = [](int how_many) {
    std::unique_lock lock(gate.mutex);
    return gate.moved.wait_for(lock, 60s, [&] { return gate.inside == how_many; });
  };
  std::thread holder([&] { EXPECT_TRUE(ask_json(served, "line", R"({"text":"slow"})", "page").status.ok()); });
  ASSERT_TRUE(inside(1));
  // Behind one that does not end. Whoever goes is not waited for.
  const auto began = std::chrono::steady_clock::now();
  auto waits = request_of("page", "ann", "line", R"({"text":"b"})");
  EXPECT_EQ(ask(served, waits, 100ms).status.error_code(), grpc::DEADLINE_EXCEEDED);
  waits.set_timeout_ms(60'000);
  EXPECT_EQ(ask(served, waits, 100ms).status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 50s);
  gate.set(true);
  holder.join();
  for (int n = 0; n != 12'000 && served.door->calls() != 0; ++n) std::this_thread::sleep_for(5ms);
  EXPECT_EQ(served.door->calls(), 0u);
  // Whether those who went were decided is another question: they were asked.
  const auto after = ask_json(served, "line", R"({"text":"c"})", "page").response.replied().json();
  EXPECT_THAT(after, testing::AllOf(HasSubstr("slow"), HasSubstr("c\"")));
}

TEST(RemoteAggregates, OfADoorThatCloses) {
  gate.set(false);
  ServedStore served;
  served.host<Page>();
  const int before = gate.inside;
  std::thread holder([&] {
    auto asked = request_of("page", "ann", "line", R"({"text":"slow"})");
    asked.set_timeout_ms(3'600'000);
    EXPECT_FALSE(ask(served, asked).status.ok());
  });
  {
    std::unique_lock lock(gate.mutex);
    ASSERT_TRUE(gate.moved.wait_for(lock, 60s, [&] { return gate.inside == before + 1; }));
  }
  std::thread opener([] {
    std::this_thread::sleep_for(1'500ms);
    gate.set(true);
  });
  served.stop();
  holder.join();
  opener.join();
}

TEST(RemoteStates, AreFollowedOverTheNetwork) {
  ServedStore store;
  auto remote = store.connect();
  ASSERT_TRUE(store.local.host<BankAccount>());
  StateFeed<BankAccount> feed(remote, "acc-1");
  auto state = feed.next(10s);
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->version, SeqNr{0});
  bank::OpenAccount open;
  open.set_owner("ann");
  ASSERT_TRUE(store.local.get<BankAccount>("acc-1").ask(open));
  state = feed.next(10s);
  ASSERT_TRUE(state && *state);
  EXPECT_EQ((*state)->version, SeqNr{1});
  EXPECT_TRUE((*state)->state.open());
}

}  // namespace
}  // namespace evershard
