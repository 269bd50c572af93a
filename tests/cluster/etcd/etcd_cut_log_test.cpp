// The cut log on a real etcd: the contract over three members, members that die or stop, competition, an old state.

#include "evershard/cluster/etcd/etcd_cut_log.hpp"

#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "evershard/cluster/etcd/etcd_leader.hpp"
#include "evershard/storage/journal/new_identity.hpp"
#include "tests/cluster/etcd/etcd_members.hpp"
#include "tests/contract/cut_log_contract.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/process/relay.hpp"

namespace evershard::storage {
namespace {

using namespace std::chrono_literals;
using evershard::testing::EtcdMembers;
using sharding::next_cut;
using sharding::opening_of;
using sharding::segment_of;
using ::testing::HasSubstr;

std::unique_ptr<DurableCutLog> opened(const cluster::EtcdOptions& etcd, std::uint32_t shards = 2) {
  auto log = cluster::open_etcd_cut_log({.etcd = etcd, .shards = shards});
  EXPECT_TRUE(log) << log.error().what;
  return log ? *std::move(log) : nullptr;
}

/// One etcd for all tests of the contract: each has a prefix of its own.
std::unique_ptr<sharding::CutLog> etcd_again(const std::filesystem::path& folder, std::uint32_t shards,
                                             std::unique_ptr<sharding::CutLog> before) {
  before.reset();
  auto etcd = evershard::testing::etcd_of_three().options(std::hash<std::string>{}(folder.string()) % 3);
  etcd.prefix = folder.filename().string() + '/';
  return opened(etcd, shards);
}

INSTANTIATE_TEST_SUITE_P(Etcd, CutLogContract, ::testing::Values(CutLogKind{"etcd", 3, etcd_again}));

class EtcdCutLog : public ::testing::Test {
 protected:
  static void begin(sharding::CutLog& log) {
    ASSERT_TRUE(log.lead());
    const auto& shard = log.state().shards[0];
    ASSERT_TRUE(log.put(next_cut(log.state(), {}, {opening_of(0, shard.epoch.value + 1, 1, shard.next.value)})));
  }
  static Result<void> put_one(sharding::CutLog& log) {
    const auto& shard = log.state().shards[0];
    return log.put(next_cut(log.state(), {segment_of(0, shard.epoch.value, shard.next.value, shard.next.value + 1)}));
  }

  TemporaryFolder folder_;
};

TEST_F(EtcdCutLog, IsNotThereUnlessItIsMade) {
  EtcdMembers members(folder_.path(), 1);
  const auto absent = cluster::open_etcd_cut_log({.etcd = members.options(), .create = false});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::not_found);
  const auto made = opened(members.options(), 7);
  EXPECT_EQ(made->identity().shards, 7u);
  const auto again = cluster::open_etcd_cut_log({.etcd = members.options(), .shards = 0, .create = false});
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ((*again)->identity(), made->identity());
  const auto other = cluster::open_etcd_cut_log({.etcd = members.options(), .shards = 8});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(other.error().what, HasSubstr("7 shards, not 8"));
}

TEST_F(EtcdCutLog, BeginsBehindCutsThatAreFoldedAndOnlyWhereNoneIs) {
  EtcdMembers members(folder_.path(), 1);
  storage::CutLogBeginning begins{storage::new_identity(2, std::nullopt), sharding::CutLogState(2)};
  begins.state.epoch = Epoch{1};
  begins.state.last_cut = CutNumber{40};
  begins.state.watermark = GlobalPosition{90};
  auto& shard = begins.state.shards[0];
  shard.epoch = shard.written = Epoch{1};
  shard.node = 3;
  shard.next = ShardOffset{91};
  shard.last_position = GlobalPosition{90};
  shard.folded = ShardOffset{90};
  shard.replicas.quorum = 2;
  shard.replicas.nodes = {3, 5};

  const auto made = cluster::open_etcd_cut_log({.etcd = members.options(), .begins_with = begins});
  const auto taken = cluster::open_etcd_cut_log({.etcd = members.options(), .begins_with = begins});

  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ((*made)->identity(), begins.identity);
  EXPECT_EQ((*made)->state(), begins.state);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(taken.error().what, HasSubstr("already"));
  const auto again = opened(members.options(), 2);
  ASSERT_TRUE(again->lead());
  EXPECT_EQ(again->state().epoch, Epoch{2});
  ASSERT_TRUE(again->put(next_cut(again->state(), {}, {opening_of(0, 2, 3, 91)})));
  ASSERT_TRUE(put_one(*again));
  EXPECT_EQ(again->state().watermark, GlobalPosition{91});
}

TEST_F(EtcdCutLog, BelongsToWhoLedLast) {
  EtcdMembers members(folder_.path(), 1);
  const auto first = opened(members.options()), second = opened(members.options());
  begin(*first);
  ASSERT_TRUE(put_one(*first));
  ASSERT_TRUE(second->lead());
  EXPECT_EQ(second->state().last_cut, CutNumber{2}) << "it has what the first put";

  const auto fenced = put_one(*first);
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().code, ErrorCode::fenced);
  EXPECT_EQ(first->fold(Epoch{1}, {}).error().code, ErrorCode::fenced);
  EXPECT_TRUE(put_one(*second));
  ASSERT_TRUE(first->lead());
  EXPECT_EQ(first->state().last_cut, CutNumber{3});
  EXPECT_TRUE(put_one(*first)) << "and the other way round";
}

TEST_F(EtcdCutLog, LosesNothingWithTheMembersThatDieOrStop) {
  EtcdMembers members(folder_.path(), 3);
  auto log = opened(members.options());
  begin(*log);
  const auto put_some = [&](int count) {
    for (int n = 0; n < count; ++n) {
      const auto put = put_one(*log);
      ASSERT_TRUE(put) << put.error().what;
    }
  };
  put_some(20);
  for (std::size_t member = 0; member < 3; ++member) {
    SCOPED_TRACE(member);
    members.kill(member);
    put_some(10);
    members.start(member);
    ASSERT_TRUE(members.answers(member));
    members.signal(member, SIGSTOP);
    put_some(10);
    members.signal(member, SIGCONT);
    ASSERT_TRUE(members.answers(member));
  }
  const auto before = log->state();
  log = opened(members.options(1));
  EXPECT_EQ(log->state(), before);
  EXPECT_EQ(log->state().last_cut, CutNumber{81});
}

TEST_F(EtcdCutLog, SaysThatEtcdIsAwayAndFailsForGood) {
  EtcdMembers members(folder_.path(), 3);
  auto etcd = members.options();
  etcd.timeout = 5s;
  const auto log = opened(etcd);
  begin(*log);
  members.kill(0);
  members.kill(1);
  const auto began = std::chrono::steady_clock::now();
  const auto put = put_one(*log);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::io);
  EXPECT_THAT(put.error().what, HasSubstr("is unknown"));
  const auto absent = cluster::open_etcd_cut_log({.etcd = etcd});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::unavailable) << absent.error().what;
  members.kill(2);
  const auto nobody = cluster::open_etcd_cut_log({.etcd = etcd});
  ASSERT_FALSE(nobody);
  EXPECT_THAT(nobody.error().what, HasSubstr("Connection refused"));
  members.start(2);

  members.start(0);
  ASSERT_TRUE(members.answers(0));
  EXPECT_EQ(put_one(*log).error().code, ErrorCode::io) << "what became of the put is not known any more";
  const auto again = opened(etcd);
  begin(*again);
  EXPECT_TRUE(put_one(*again));
}

TEST_F(EtcdCutLog, SaysThatEtcdIsFullAndGoesOnWhereItWasOnceThereIsRoom) {
  EtcdMembers members(folder_.path(), 1, {}, {}, {"--quota-backend-bytes=4194304"});
  const auto etcd = members.options();
  const auto tell = [&](const std::string& what, const std::string& body) {
    return ask(etcd.members.front(), "POST", "/v3/" + what, body);
  };
  const auto log = opened(etcd);
  begin(*log);
  ASSERT_TRUE(put_one(*log));
  const auto before = log->state();
  // Somebody else fills it: "junk" is a key of another prefix.
  const std::string junk = R"({"key":"anVuaw==","value":")" + std::string(1'000'000, 'A') + "\"}";
  int status = 200;
  for (int n = 0; n != 20 && status == 200; ++n) status = tell("kv/put", junk).status;
  ASSERT_NE(status, 200) << "it was to be full";

  const auto put = put_one(*log);
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::io);
  EXPECT_THAT(put.error().what, HasSubstr("database space exceeded"));
  EXPECT_THAT(put.error().what, HasSubstr("disarm its alarm"));
  const auto next = opened(etcd);
  EXPECT_EQ(next->state(), before) << "what was acknowledged is read as ever";
  const auto led = next->lead();
  ASSERT_FALSE(led);
  EXPECT_THAT(led.error().what, HasSubstr("database space exceeded"));

  const auto head = tell("kv/deleterange", R"({"key":"anVuaw=="})");
  const auto number_of = [&](const std::string& name) {
    const auto at = head.body.find('"' + name + "\":\"") + name.size() + 4;
    return head.body.substr(at, head.body.find('"', at) - at);
  };
  const auto compacted = tell("kv/compaction", R"({"physical":true,"revision":")" + number_of("revision") + "\"}");
  ASSERT_EQ(compacted.status, 200) << compacted.body;
  ASSERT_EQ(tell("maintenance/defragment", "{}").status, 200);
  const auto disarmed = tell(
      "maintenance/alarm", R"({"action":"DEACTIVATE","alarm":"NOSPACE","memberID":")" + number_of("member_id") + "\"}");
  ASSERT_EQ(disarmed.status, 200) << disarmed.body;
  const auto again = opened(etcd);
  EXPECT_EQ(again->state().last_cut, before.last_cut);
  begin(*again);
  EXPECT_TRUE(put_one(*again));
}

TEST_F(EtcdCutLog, RefusesAnEtcdThatWasRestoredFromAnOlderState) {
  EtcdMembers members(folder_.path(), 1);
  const auto restore = [&](const std::filesystem::path& from) {
    members.kill(0);
    std::filesystem::remove_all(members.data(0));
    std::filesystem::copy(from, members.data(0), std::filesystem::copy_options::recursive);
    members.start(0);
    ASSERT_TRUE(members.answers(0));
  };
  const auto keep = [&](const std::filesystem::path& to) {
    members.kill(0);
    std::filesystem::copy(members.data(0), to, std::filesystem::copy_options::recursive);
    members.start(0);
    ASSERT_TRUE(members.answers(0));
  };
  const auto log = opened(members.options());
  keep(folder_.path() / "before-the-epoch");
  begin(*log);
  ASSERT_TRUE(put_one(*log));
  keep(folder_.path() / "of-the-epoch");
  ASSERT_TRUE(put_one(*log));
  const auto standby = opened(members.options());
  restore(folder_.path() / "of-the-epoch");
  const auto led = standby->lead();
  ASSERT_FALSE(led) << "it has seen more";
  EXPECT_EQ(led.error().code, ErrorCode::corruption);
  EXPECT_THAT(led.error().what, HasSubstr("etcd has lost what it acknowledged: cut 3"));
  const auto gone = put_one(*log);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::corruption);
  EXPECT_THAT(gone.error().what, HasSubstr("etcd has lost what it acknowledged: cut 3"));

  const auto next = opened(members.options());
  begin(*next);
  restore(folder_.path() / "before-the-epoch");
  const auto older = put_one(*next);
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, ErrorCode::corruption);
  EXPECT_THAT(older.error().what, HasSubstr("etcd has lost what it acknowledged: epoch 2"));
}

TEST_F(EtcdCutLog, KnowsItsOwnPutWhoseAnswerDidNotCome) {
  EtcdMembers members(folder_.path(), 1);
  evershard::testing::Relay late(members.options().members.front());
  auto etcd = members.options();
  etcd.members.insert(etcd.members.begin(), late.address());
  const auto log = opened(etcd);
  begin(*log);
  // It gets there in time, and its answer does not come back in time.
  late.delay(etcd.try_timeout * 2 / 3);
  const auto put = put_one(*log);
  ASSERT_TRUE(put) << put.error().what;
  ASSERT_TRUE(put_one(*log));
  const auto before = log->state();
  EXPECT_EQ(before.last_cut, CutNumber{3});
  EXPECT_EQ(opened(members.options())->state(), before);
}

TEST_F(EtcdCutLog, SaysWhoLeadsItAndWhere) {
  EtcdMembers members(folder_.path(), 1);
  auto said = cluster::EtcdLeader::open(members.options()).value();
  auto read = cluster::EtcdLeader::open(members.options()).value();
  EXPECT_EQ(read->read().value(), std::nullopt);
  const auto one = opened(members.options());
  EXPECT_EQ(read->read().value(), std::nullopt);
  const auto epoch = one->lead()->epoch;
  EXPECT_EQ(read->read().value(), (cluster::Leader{epoch, "", 0}));  // it has not said so yet

  ASSERT_TRUE(said->say({epoch, "one:1", 1}));
  EXPECT_EQ(read->read().value(), (cluster::Leader{epoch, "one:1", 1}));
  ASSERT_TRUE(said->say({epoch, "one:1", 2}));
  EXPECT_EQ(read->read().value(), (cluster::Leader{epoch, "one:1", 2}));
  begin(*one);  // it leads again: the row is no part of what is put
  const auto fenced = said->say({epoch, "one:1", 3});
  ASSERT_FALSE(fenced);
  EXPECT_EQ(fenced.error().code, ErrorCode::fenced);
  EXPECT_EQ(read->read().value(), (cluster::Leader{one->state().epoch, "", 0}));
  ASSERT_TRUE(said->say({one->state().epoch, "one:1", 0}));

  // Who opens it anew does not take the row for a cut.
  const auto two = opened(members.options());
  ASSERT_TRUE(two->lead());
  EXPECT_EQ(two->state().last_cut, one->state().last_cut);
  EXPECT_EQ(said->say({one->state().epoch, "one:1", 1}).error().code, ErrorCode::fenced);
}

TEST_F(EtcdCutLog, KeepsTheKeySpaceSmallWhileItOnlyBeats) {
  EtcdMembers members(folder_.path(), 1);
  const auto log = opened(members.options());
  const auto epoch = log->lead()->epoch;
  auto leader = cluster::EtcdLeader::open(members.options()).value();
  for (std::uint64_t beat = 1; beat <= 300; ++beat) ASSERT_TRUE(leader->say({epoch, "one:1", beat}));
  // Revisions of before cannot be read any more: "eA==" is any key.
  const auto old = ask(members.options().members.front(), "POST", "/v3/kv/range", R"({"key":"eA==","revision":100})");
  EXPECT_THAT(old.body, HasSubstr("compacted")) << old.status;
}

TEST_F(EtcdCutLog, KeepsTheKeySpaceSmall) {
  EtcdMembers members(folder_.path(), 1);
  const auto log = opened(members.options());
  begin(*log);
  for (int round = 0; round < 5; ++round) {
    for (int n = 0; n < 150; ++n) ASSERT_TRUE(put_one(*log));
    ASSERT_TRUE(log->fold(log->state().epoch, std::vector<sharding::HeldBy>{{1, log->state().last_cut}}));
    EXPECT_TRUE(log->cuts_after(log->state().last_cut, 1'000)->cuts.empty());
  }
  const auto before = log->state();
  EXPECT_EQ(opened(members.options())->state(), before);
  EXPECT_TRUE(opened(members.options())->cuts_after(CutNumber{0}, 1'000'000)->cuts.empty());
}

TEST_F(EtcdCutLog, ComesInAsAUser) {
  EtcdMembers members(folder_.path(), 1);
  const auto tell = [&](const std::string& what, const std::string& body) {
    const auto answer = ask(members.options().members.front(), "POST", "/v3/auth/" + what, body);
    ASSERT_EQ(answer.status, 200) << what << ": " << answer.body;
  };
  tell("user/add", R"({"name":"root","password":"of-root"})");
  tell("role/add", R"({"name":"root"})");
  tell("user/grant", R"({"user":"root","role":"root"})");
  tell("enable", "{}");

  const auto nobody = cluster::open_etcd_cut_log({.etcd = members.options()});
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::unauthenticated) << nobody.error().what;
  auto etcd = members.options();
  etcd.user = "root";
  etcd.password = "guessed";
  const auto guessed = cluster::open_etcd_cut_log({.etcd = etcd});
  ASSERT_FALSE(guessed);
  EXPECT_EQ(guessed.error().code, ErrorCode::unauthenticated) << guessed.error().what;
  etcd.password = "of-root";
  const auto log = opened(etcd);
  begin(*log);
  EXPECT_TRUE(put_one(*log));
  members.kill(0);
  members.start(0);  // it has forgotten the token
  const auto put = put_one(*log);
  EXPECT_TRUE(put) << put.error().what;
}

TEST_F(EtcdCutLog, ComesInWithTls) {
  const EtcdMembers::Papers papers{folder_.path()};
  const auto openssl = [&](const std::string& words) {
    const auto command = "cd " + folder_.path().string() +
                         " && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 " +
                         words + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  };
  openssl("-subj /CN=ca -keyout ca.key -out ca.pem");
  openssl("-subj /CN=other -keyout other.key -out other.pem");
  for (const std::string name : {"member", "client"}) {
    openssl("-CA ca.pem -CAkey ca.key -subj /CN=" + name +
            " -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=IP:127.0.0.1 -keyout " + name +
            ".key -out " + name + ".pem");
  }
  EtcdMembers members(folder_.path(), 1, papers);
  const auto log = opened(members.options());
  begin(*log);
  EXPECT_TRUE(put_one(*log));
  auto stranger = members.options();
  stranger.timeout = 4s;
  stranger.tls_ca = papers.certificate("other");
  const auto refused = cluster::open_etcd_cut_log({.etcd = stranger});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_THAT(refused.error().what, HasSubstr("handshake failed"));
  auto plain = stranger;
  plain.tls = false;
  const auto not_understood = cluster::open_etcd_cut_log({.etcd = plain});
  ASSERT_FALSE(not_understood);
  EXPECT_EQ(not_understood.error().code, ErrorCode::unavailable);
  EXPECT_THAT(not_understood.error().what, HasSubstr("cannot be connected to: "));
  stranger.tls_ca = folder_.path() / "nothing.pem";
  const auto unread = cluster::open_etcd_cut_log({.etcd = stranger});
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, ErrorCode::invalid_argument);
}

TEST(EtcdAddress, IsReadOrRefused) {
  const auto three = cluster::etcd_options_of("etcds://h1:2379,h2:2379,[::1]:9/shop");
  ASSERT_TRUE(three) << three.error().what;
  EXPECT_EQ(three->members, (std::vector<std::string>{"h1:2379", "h2:2379", "[::1]:9"}));
  EXPECT_EQ(three->prefix, "shop/");
  EXPECT_TRUE(three->tls);
  EXPECT_EQ(cluster::etcd_options_of("etcd://h:1")->prefix, "evershard/");
  for (const auto* wrong : {"", "etcd://", "h:1", "http://h:1", "etcd://h", "etcd://h:0", "etcd://h:70000",
                            "etcd://h:1,", "etcd://h:1,h:1", "etcd://h:1/a/b", "etcd://:1"}) {
    const auto refused = cluster::etcd_options_of(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace evershard::storage
