// What a program that hosts aggregates wrote, looked at with `evershard`, and with a command line that has the
// aggregates in it.

#include <google/protobuf/descriptor.pb.h>
#include <evershard/aggregate.hpp>
#include <evershard/local.hpp>

#include "examples/bank_account/bank_account.hpp"
#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

template <class Message>
Message of(std::int64_t amount) {
  Message message;
  message.set_amount(amount);
  return message;
}

class HostedState : public Program {
 protected:
  /// Opened, 100 in, a snapshot, 30 out.
  static void live(const std::string& data) {
    auto app = Local::open({.data_dir = data});
    ASSERT_TRUE(app) << app.error().what;
    ASSERT_TRUE(app->host<BankAccount>({}));
    const auto account = app->get<BankAccount>("ann");
    bank::OpenAccount open;
    open.set_owner("Ann");
    ASSERT_TRUE(account.ask(open));
    ASSERT_TRUE(account.ask(of<bank::Deposit>(100)));
    ASSERT_TRUE(account.snapshot());
    ASSERT_TRUE(account.ask(of<bank::Withdraw>(30)));
  }
  /// More, written by somebody else: of the first year, and of no type that the program knows.
  static void write(const std::string& data, const std::string& type, const std::string& payload) {
    auto app = Local::open({.data_dir = data});
    ASSERT_TRUE(app) << app.error().what;
    ASSERT_TRUE(app->append(Append{}.event("bank_account-ann", type, payload)));
  }
  static std::string first_year(std::int64_t euros) {
    bank::MoneyMoved moved;
    moved.set_euros(euros);
    return moved.SerializeAsString();
  }

  static Finished own(const char* program, Words words) {
    words.insert(words.begin(), program);
    return run(words);
  }
  static Finished bank(Words words) { return own(BANK_PROGRAM, std::move(words)); }
  /// Of `program`'s aggregate; it must succeed.
  static Json state(const char* program, const std::string& aggregate, const std::string& data, Words more = {}) {
    Words words{"aggregate", "state", aggregate, "--data", data};
    words.insert(words.end(), more.begin(), more.end());
    const Finished done = own(program, words);
    EXPECT_EQ(done.status, 0) << done.err;
    return done.status == 0 ? json_lines(done.out).at(0) : Json();
  }
};

TEST_F(HostedState, IsShownWithTheProgramsOwnSnapshotAndEvents) {
  const std::string data = store();
  live(data);
  ASSERT_EQ(
      evershard({"types", "add", BANK_DESCRIPTORS, "--state", "bank_account=bank.Account", "--data", data}).status, 0);

  const Json state = shown({"aggregate", "state", "bank_account-ann", "--data", data}).at(0);
  const Json at_snapshot = shown({"aggregate", "state", "bank_account-ann", "--data", data, "--version", "2"}).at(0);

  EXPECT_EQ(state.at("version"), 3);
  EXPECT_EQ(state.at("state"), Json::parse(R"({"open":true,"owner":"Ann","balance":"100","overdraft":"0"})"));
  EXPECT_EQ(state.at("state_version"), 2);
  EXPECT_EQ(state.at("exact"), false);
  EXPECT_EQ(state.at("snapshot").at("schema_revision"), 1);
  EXPECT_EQ(state.at("events_after"), 1);
  EXPECT_EQ(state.at("events").at(0).at("decoded_as"), "bank.Withdrawn");
  EXPECT_EQ(state.at("events").at(0).at("decoded").at("amount"), "30");
  EXPECT_EQ(at_snapshot.at("exact"), true);
}

TEST_F(HostedState, SaysToPeopleWhatMakesTheExactOne) {
  const std::string data = store();
  live(data);

  const Finished plain =
      evershard({"aggregate", "state", "bank_account-ann", "--data", data, "--version", "1", "--format", "table"});
  const Finished not_replayed =
      bank({"aggregate", "state", "bank_account-ann", "--data", data, "--no-replay", "--format", "table"});
  const Finished foreign = own(
      OWN_PROGRAM, {"aggregate", "state", "bank_account-ann", "--data", data, "--version", "1", "--format", "table"});

  EXPECT_THAT(plain.out, HasSubstr("evershard::command_line"));
  EXPECT_THAT(not_replayed.out, AllOf(HasSubstr("of version 2, bank.Account"), HasSubstr("without --no-replay")));
  EXPECT_THAT(foreign.out, HasSubstr("bank_account is not among this program's aggregates"));
  EXPECT_EQ(evershard({"aggregate", "state", "bank_account-ann", "--data", data, "--no-replay"}).status, 2);
}

TEST_F(HostedState, IsExactAtEveryVersionInItsOwnProgram) {
  const std::string data = store();
  live(data);
  write(data, "bank.MoneyMoved", first_year(25));

  const char* balances[] = {"0", "100", "70", "2570"};
  const int from[] = {0, 2, 2, 2};
  for (int version = 1; version <= 4; ++version) {
    const Json at = state(BANK_PROGRAM, "bank_account-ann", data, {"--version", std::to_string(version)});
    EXPECT_EQ(at.at("version"), version);
    EXPECT_EQ(at.at("state_version"), version);
    EXPECT_EQ(at.at("state").at("balance"), balances[version - 1]) << version;
    EXPECT_EQ(at.at("state").at("owner"), "Ann");
    EXPECT_EQ(at.at("decoded_as"), "bank.Account");
    EXPECT_EQ(at.at("exact"), true);
    EXPECT_EQ(at.at("replayed_from"), from[version - 1]) << version;
    EXPECT_EQ(at.at("snapshot").is_null(), from[version - 1] == 0);
    EXPECT_EQ(at.at("events_after"), 0);
    EXPECT_THAT(at.at("events"), IsEmpty());
    EXPECT_EQ(state(BANK_PROGRAM, "bank_account-ann", data, {"--up-to", std::to_string(version)}), at);
  }
  EXPECT_EQ(state(BANK_PROGRAM, "bank_account-ann", data).at("version"), 4);
  EXPECT_EQ(bank({"aggregate", "state", "bank_account-ann", "--data", data, "--version", "5"}).status, 4);
}

TEST_F(HostedState, IsTheSameThatTheProgramWouldSee) {
  const std::string data = store();
  live(data);
  std::vector<std::string> seen;
  {
    auto app = Local::open({.data_dir = data});
    ASSERT_TRUE(app);
    ASSERT_TRUE(app->host<BankAccount>());
    for (std::uint64_t position = 1; position <= 3; ++position) {
      const auto at = app->get<BankAccount>("ann").state_at(GlobalPosition{position});
      ASSERT_TRUE(at) << at.error().what;
      seen.push_back(protobuf_text(at->state));
    }
  }

  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(state(BANK_PROGRAM, "bank_account-ann", data, {"--up-to", std::to_string(i + 1)}).at("state"),
              Json::parse(seen[i]));
  }
}

TEST_F(HostedState, DoesNotTrustASnapshotOfAnotherRevision) {
  const std::string data = store();
  live(data);
  bank::Account wrong;
  wrong.set_balance(999);
  ASSERT_EQ(evershard({"snapshot", "put", "bank_account-ann", "--data", data, "--version", "3", "--payload-format", "2",
                       "--schema-revision", "7", "--payload-file", "-"},
                      wrong.SerializeAsString())
                .status,
            0);

  const Json at = state(BANK_PROGRAM, "bank_account-ann", data);
  const Finished people = bank({"aggregate", "state", "bank_account-ann", "--data", data, "--format", "table"});

  EXPECT_EQ(at.at("state").at("balance"), "70");
  EXPECT_EQ(at.at("exact"), true);
  EXPECT_EQ(at.at("replayed_from"), 0);
  EXPECT_TRUE(at.at("snapshot").is_null());
  EXPECT_EQ(at.at("snapshot_not_used"), "the snapshot of version 3 has schema revision 7, this program has 1");
  EXPECT_THAT(people.out, AllOf(HasSubstr("schema revision 7"), HasSubstr("from the first event on"),
                                HasSubstr("\"balance\": \"70\"")));
}

TEST_F(HostedState, RefusesWhatItsProgramCannotApply) {
  const std::string data = store();
  live(data);
  write(data, "bank.Unheard", "x");

  const Finished refused = bank({"aggregate", "state", "bank_account-ann", "--data", data, "--format", "json"});
  const Json before = state(BANK_PROGRAM, "bank_account-ann", data, {"--version", "3"});
  const Json stored = state(BANK_PROGRAM, "bank_account-ann", data, {"--no-replay"});

  EXPECT_EQ(refused.status, 8);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(error_of(refused).at("message").get<std::string>(), HasSubstr("event 4 of \"bank_account-ann\""));
  EXPECT_THAT(error_of(refused).at("hint").get<std::string>(), HasSubstr("--no-replay"));
  EXPECT_EQ(before.at("state").at("balance"), "70");
  EXPECT_EQ(stored.at("state").at("balance"), "100");
  EXPECT_EQ(stored.at("exact"), false);
  EXPECT_EQ(stored.at("events_after"), 2);
}

TEST_F(HostedState, IsReadByTheProgramsOwnTypes) {
  const std::string data = store();
  live(data);
  write(data, "bank.MoneyMoved", first_year(25));
  // The same messages in a file of another name: types of one process, and types of one store, need not go together.
  google::protobuf::FileDescriptorSet set;
  bank::Account::descriptor()->file()->CopyTo(set.add_file());
  set.mutable_file(0)->set_name("other.proto");
  write_file("other.pb", set.SerializeAsString());
  ASSERT_EQ(
      evershard({"types", "add", path("other.pb"), "--state", "bank_account=bank.Account", "--data", data}).status, 0);

  const auto events = json_lines(bank({"aggregate", "history", "bank_account-ann", "--data", data}).out);
  const auto snapshots = json_lines(bank({"snapshot", "get", "bank_account-ann", "--data", data}).out);
  const auto as_stored = json_lines(bank({"read", "--data", data, "--as-stored"}).out);

  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].at("decoded_as"), "bank.Deposited");
  EXPECT_EQ(events[1].at("decoded").at("amount"), "100");
  EXPECT_EQ(events[3].at("decoded").at("euros"), "25");
  EXPECT_EQ(snapshots.at(0).at("decoded").at("balance"), "100");
  EXPECT_FALSE(as_stored.at(1).contains("decoded"));
  EXPECT_EQ(state(BANK_PROGRAM, "bank_account-ann", data, {"--as-stored"}).at("state_encoding"), "base64");
}

TEST_F(HostedState, IsShownWhateverItsCodecMakes) {
  const std::string data = path("own");
  ASSERT_EQ(own(OWN_PROGRAM, {"fill", data}).status, 0);

  const Json note = state(OWN_PROGRAM, "note-a", data, {"--version", "2"}),
             counter = state(OWN_PROGRAM, "counter-a", data);
  const Finished people = own(OWN_PROGRAM, {"aggregate", "state", "counter-a", "--data", data, "--format", "table"});

  EXPECT_EQ(note.at("state"), Json::parse(R"({"lines":["one","two\nlines"]})"));
  EXPECT_EQ(note.at("exact"), true);
  EXPECT_FALSE(note.contains("state_encoding"));
  EXPECT_EQ(counter.at("state"), "/zM=");
  EXPECT_EQ(counter.at("state_encoding"), "base64");
  EXPECT_THAT(people.out,
              AllOf(HasSubstr("its bytes in base64: they are neither JSON nor a message"), HasSubstr("\"/zM=\"")));
}

TEST_F(HostedState, IsOfAProgramWithItsOwnName) {
  const std::string data = path("nowhere");

  const Finished missing = bank({"stats", "--data", data});
  const Finished overview = bank({"help"});
  const Finished help = bank({"aggregate", "state", "--help"});
  const Finished twins = own(OWN_PROGRAM, {"twins", "stats", "--data", data, "--format", "json"});

  EXPECT_EQ(missing.status, 4);
  EXPECT_THAT(missing.err, AllOf(StartsWith("bank: not_found: "), HasSubstr("`bank init --data ")));
  EXPECT_THAT(overview.out, AllOf(HasSubstr("with the aggregates bank_account\n"),
                                  HasSubstr("  bank COMMAND [options]\n"), Not(HasSubstr("evershard COMMAND"))));
  EXPECT_THAT(help.out, AllOf(HasSubstr("  bank aggregate state AGGREGATE [options]\n"), HasSubstr("--no-replay")));
  EXPECT_THAT(bank({"completion", "bash"}).out, HasSubstr("\ncomplete -F _bank bank\n"));
  EXPECT_EQ(twins.status, 5);
  EXPECT_THAT(error_of(twins).at("message").get<std::string>(), HasSubstr("\"note\" stand in this program twice"));
}

}  // namespace
}  // namespace evershard::testing
