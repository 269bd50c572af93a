// Keys of subjects on a real etcd: what all places of keys promise, over three members; and what is etcd's own: the
// master key, who leads, the history, members that are away.

#include "evershard/cluster/etcd/etcd_keys.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "evershard/cluster/etcd/etcd_cut_log.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/hex.hpp"
#include "tests/cluster/etcd/etcd_members.hpp"
#include "tests/contract/subject_keys_contract.hpp"
#include "tests/doors/http/http_client.hpp"
#include "tests/process/relay.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using evershard::testing::EtcdMembers;
using ::testing::HasSubstr;
using ::testing::Not;

MasterKey master(char of = 'm') { return MasterKey::parse(hex(std::string(32, of))).value(); }

/// What is in an etcd, past our client.
class RawEtcd {
 public:
  explicit RawEtcd(const EtcdOptions& etcd) : member_(etcd.members.front()) {}

  /// Returns: the value; absent: it is not there. `revision`: as of this one; 0: the newest.
  std::optional<std::string> get(const std::string& name, std::int64_t revision = 0) {
    const auto found = tell("range", {{"key", to_base64(name)}, {"revision", revision}});
    if (!found.contains("kvs") || found["kvs"].empty()) return std::nullopt;
    return from_base64(found["kvs"][0].value("value", ""));
  }
  std::map<std::string, std::string> all(const std::string& begin) {
    auto end = begin;
    ++end.back();
    std::map<std::string, std::string> rows;
    const auto found = tell("range", {{"key", to_base64(begin)}, {"range_end", to_base64(end)}});
    if (found.contains("kvs"))
      for (const auto& row : found["kvs"])
        rows.emplace(*from_base64(row["key"].get<std::string>()), *from_base64(row.value("value", "")));
    return rows;
  }
  void put(const std::string& name, const std::string& value) {
    tell("put", {{"key", to_base64(name)}, {"value", to_base64(value)}});
  }
  void erase(const std::string& name) { tell("deleterange", {{"key", to_base64(name)}}); }
  std::int64_t revision() {
    return std::stoll(tell("range", {{"key", to_base64("x")}})["header"]["revision"].get<std::string>());
  }
  /// What etcd says of reading this key as of that revision.
  std::string error_of(const std::string& name, std::int64_t revision) {
    return ask(member_, "POST", "/v3/kv/range", nlohmann::json{{"key", to_base64(name)}, {"revision", revision}}.dump())
        .body;
  }

 private:
  nlohmann::json tell(const std::string& what, const nlohmann::json& body) {
    const auto answer = ask(member_, "POST", "/v3/kv/" + what, body.dump());
    EXPECT_EQ(answer.status, 200) << what << ": " << answer.body;
    return answer.status == 200 ? answer.json() : nlohmann::json::object();
  }
  const std::string member_;
};

/// Whose cut log is led already, under its newest epoch.
std::unique_ptr<EtcdKeys> led(const EtcdOptions& etcd, const MasterKey& key = master()) {
  const auto log = open_etcd_cut_log({.etcd = etcd, .shards = 1});
  EXPECT_TRUE(log) << log.error().what;
  if (!log) return nullptr;
  if ((*log)->state().epoch == Epoch{0}) {
    EXPECT_TRUE((*log)->lead());
  }
  auto keys = EtcdKeys::open(etcd, key);
  EXPECT_TRUE(keys) << keys.error().what;
  if (!keys) return nullptr;
  EXPECT_TRUE((*keys)->lead((*log)->state().epoch));
  return *std::move(keys);
}

/// By a coordinator that leads from now on.
std::unique_ptr<EtcdKeys> led_anew(const EtcdOptions& etcd) {
  const auto log = open_etcd_cut_log({.etcd = etcd, .shards = 1});
  EXPECT_TRUE(log && (*log)->lead());
  return log ? led(etcd) : nullptr;
}

class InEtcd final : public PlaceOfKeys {
 public:
  explicit InEtcd(EtcdOptions etcd) : etcd_(std::move(etcd)), raw_(etcd_), rows_(etcd_.prefix, master()) {}
  std::unique_ptr<SubjectKeys> open() override { return led(etcd_); }
  void lose(const KeyId& id) override { raw_.erase(rows_.key(id)); }
  void damage(const KeyId& id) override {
    auto row = raw_.get(rows_.key(id)).value();
    row.back() ^= 1;
    raw_.put(rows_.key(id), row);
  }
  std::size_t keys() override { return raw_.all(rows_.keys()).size(); }
  std::size_t erased() override { return raw_.all(rows_.erasures()).size(); }

 private:
  const EtcdOptions etcd_;
  RawEtcd raw_;
  const KeyRows rows_;
};

EtcdOptions own_prefix(const std::filesystem::path& folder) {
  auto etcd = evershard::testing::etcd_of_three().options(std::hash<std::string>{}(folder.string()) % 3);
  etcd.prefix = folder.filename().string() + '/';
  return etcd;
}

std::unique_ptr<PlaceOfKeys> in_etcd(const std::filesystem::path& folder) {
  return std::make_unique<InEtcd>(own_prefix(folder));
}

INSTANTIATE_TEST_SUITE_P(Etcd, SubjectKeysContract, ::testing::Values(PlaceOfKeysKind{"etcd", 5, in_etcd}));

class KeysOnEtcd : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  const EtcdOptions etcd_ = own_prefix(folder_.path());
  RawEtcd raw_{etcd_};
  const KeyRows rows_{etcd_.prefix, master()};
};

TEST_F(KeysOnEtcd, AreRefusedToWhoHasAnotherMasterKeyBeforeAnythingIsWritten) {
  const auto ada = led(etcd_)->key_for("ada").value();
  const auto before = raw_.all(etcd_.prefix);

  const auto refused = EtcdKeys::open(etcd_, master('x'));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, HasSubstr("the master key is not the one"));
  EXPECT_EQ(raw_.all(etcd_.prefix), before);
  EXPECT_EQ(led(etcd_)->find(ada.id).value()->secret(), ada.secret());
}

TEST_F(KeysOnEtcd, ShowNobodyASecretOrWhoseAKeyIs) {
  const auto ada = led(etcd_)->key_for("person-ada").value();
  const std::string secret(ada.secret().begin(), ada.secret().end());
  const auto rows = raw_.all(rows_.all());
  EXPECT_EQ(rows.size(), 3u) << "of the master key, of names, and hers";
  for (const auto& [name, row] : rows) {
    for (const auto& bytes : {name, row}) {
      EXPECT_THAT(bytes, Not(HasSubstr("person")));
      EXPECT_THAT(bytes, Not(HasSubstr(secret)));
      EXPECT_THAT(bytes, Not(HasSubstr(std::string(32, 'm'))));
    }
  }
  auto other = etcd_;
  other.prefix = "other-" + etcd_.prefix;
  EXPECT_NE(led(other)->key_for("person-ada")->id, ada.id) << "nobody can look whether a subject has a key";
}

TEST_F(KeysOnEtcd, ARowThatIsMissingIsNotMadeAnew) {
  const auto ada = led(etcd_)->key_for("ada").value();
  for (const auto& name : {rows_.check(), rows_.names()}) {
    const auto row = raw_.get(name).value();
    raw_.erase(name);
    const auto refused = EtcdKeys::open(etcd_, master());
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, ErrorCode::corruption);
    EXPECT_THAT(refused.error().what, HasSubstr("is missing"));
    EXPECT_EQ(raw_.get(name), std::nullopt);
    raw_.put(name, row);
  }
  EXPECT_EQ(led(etcd_)->key_for("ada")->id, ada.id);
}

TEST_F(KeysOnEtcd, ARowCountsUnderItsOwnNameAlone) {
  const auto keys = led(etcd_);
  const auto ada = keys->key_for("ada").value(), bob = keys->key_for("bob").value();
  const auto eve = keys->key_for("eve").value();
  ASSERT_TRUE(keys->destroy(eve.id));

  // Hers for his: he would seal for her, and be erased with her.
  const auto of_bob = raw_.get(rows_.key(bob.id)).value();
  raw_.put(rows_.key(bob.id), raw_.get(rows_.key(ada.id)).value());
  const auto found = led(etcd_)->find(bob.id);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::corruption);
  EXPECT_THAT(found.error().what, HasSubstr(bob.id.text()));
  EXPECT_EQ(led(etcd_)->key_for("bob").error().code, ErrorCode::corruption);
  raw_.put(rows_.key(bob.id), of_bob);

  // That another one was destroyed: what is lost would be taken for erased.
  raw_.put(rows_.erased(bob.id), raw_.get(rows_.erased(eve.id)).value());
  EXPECT_EQ(led(etcd_)->find(bob.id).error().code, ErrorCode::corruption);
  EXPECT_EQ(led(etcd_)->current("bob").error().code, ErrorCode::corruption);
  raw_.erase(rows_.erased(bob.id));
  EXPECT_EQ(led(etcd_)->find(bob.id).value()->secret(), bob.secret());

  const auto names = raw_.get(rows_.names()).value();
  raw_.put(rows_.names(), raw_.get(rows_.key(ada.id)).value());
  const auto refused = EtcdKeys::open(etcd_, master());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  raw_.put(rows_.names(), names);
}

TEST_F(KeysOnEtcd, WhatWasDestroyedIsInNoRevisionEither) {
  const auto keys = led(etcd_);
  const auto ada = keys->key_for("ada").value();
  const auto before = raw_.revision();
  ASSERT_TRUE(raw_.get(rows_.key(ada.id), before));

  ASSERT_TRUE(keys->destroy(ada.id));

  EXPECT_THAT(raw_.error_of(rows_.key(ada.id), before), HasSubstr("has been compacted"));
  EXPECT_EQ(raw_.get(rows_.key(ada.id)), std::nullopt);
  EXPECT_TRUE(raw_.get(rows_.erased(ada.id)));
}

TEST_F(KeysOnEtcd, TwoCoordinatorsThatBeginAtOnceNameKeysAlike) {
  for (int round = 0; round < 10; ++round) {
    auto etcd = etcd_;
    etcd.prefix = std::to_string(round) + etcd_.prefix;
    const auto log = open_etcd_cut_log({.etcd = etcd, .shards = 1});
    ASSERT_TRUE(log && (*log)->lead());
    std::unique_ptr<EtcdKeys> first, second;
    std::thread beginning([&] { first = led(etcd); });
    second = led(etcd);
    beginning.join();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->key_for("ada")->secret(), second->key_for("ada")->secret());
  }
}

TEST_F(KeysOnEtcd, OnlyWhoLeadsGivesMakesOrDestroysThem) {
  const auto first = led(etcd_);
  const auto ada = first->key_for("ada").value();
  const auto standby = EtcdKeys::open(etcd_, master());
  ASSERT_TRUE(standby) << standby.error().what;
  EXPECT_EQ((*standby)->find(ada.id).error().code, ErrorCode::unavailable);

  const auto second = led_anew(etcd_);
  const auto before = raw_.all(rows_.all());

  const auto found = first->find(ada.id);
  ASSERT_FALSE(found) << "whoever destroys it now does not know that it is lent";
  EXPECT_EQ(found.error().code, ErrorCode::unavailable);
  EXPECT_THAT(found.error().what, HasSubstr("another one does under epoch 2"));
  EXPECT_EQ(first->key_for("ada").error().code, ErrorCode::unavailable);
  EXPECT_EQ(first->key_for("bob").error().code, ErrorCode::unavailable);
  EXPECT_EQ(first->current("ada").error().code, ErrorCode::unavailable);
  EXPECT_EQ(first->destroy(ada.id).error().code, ErrorCode::unavailable);
  EXPECT_EQ(raw_.all(rows_.all()), before);
  EXPECT_EQ(second->find(ada.id).value()->secret(), ada.secret());
  ASSERT_TRUE(second->destroy(ada.id));
  EXPECT_FALSE(first->find(ada.id));
}

TEST_F(KeysOnEtcd, WhoLeadsNextKnowsWhatWasDestroyed) {
  const auto first = led(etcd_);
  const auto standby = EtcdKeys::open(etcd_, master());
  ASSERT_TRUE(standby);
  const auto ada = first->key_for("ada").value();
  ASSERT_TRUE(first->destroy(ada.id));
  const auto log = open_etcd_cut_log({.etcd = etcd_, .shards = 1});
  ASSERT_TRUE(log && (*log)->lead());

  ASSERT_TRUE((*standby)->lead((*log)->state().epoch));

  EXPECT_EQ((*standby)->find(ada.id).value(), std::nullopt);
  EXPECT_EQ((*standby)->erasures(), 0u);
  EXPECT_NE((*standby)->key_for("ada")->id, ada.id);
}

TEST_F(KeysOnEtcd, DoNotDisturbTheCutLogBesideThem) {
  const auto keys = led(etcd_);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(keys->key_for("subject-" + std::to_string(i)));
  const auto log = open_etcd_cut_log({.etcd = etcd_, .create = false});
  ASSERT_TRUE(log) << log.error().what;
  EXPECT_TRUE((*log)->lead());
}

/// As long as the next one is not asked for again within a second of etcd's silence.
template <class Ask>
auto once_etcd_is_back(Ask ask) {
  auto answer = ask();
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       !answer && answer.error().code == ErrorCode::unavailable && std::chrono::steady_clock::now() < until;
       answer = ask())
    std::this_thread::sleep_for(50ms);
  return answer;
}

TEST(KeysOnEtcdAlone, AreUnavailableAndNotDestroyedWhereEtcdIsAway) {
  const TemporaryFolder folder;
  EtcdMembers members(folder.path(), 3);
  auto etcd = members.options();
  etcd.timeout = 4s;
  const auto keys = led(etcd);
  const auto ada = keys->key_for("ada").value();
  members.kill(0);
  EXPECT_TRUE(once_etcd_is_back([&] { return keys->find(ada.id); })) << "two of three are a majority";
  members.kill(1);

  const auto began = std::chrono::steady_clock::now();
  const auto found = keys->find(ada.id);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unavailable) << found.error().what;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(keys->key_for("ada").error().code, ErrorCode::unavailable);
    EXPECT_EQ(keys->current("ada").error().code, ErrorCode::unavailable);
    EXPECT_EQ(keys->destroy(ada.id).error().code, ErrorCode::unavailable);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 200s) << "four seconds each";
  EXPECT_EQ(EtcdKeys::open(etcd, master()).error().code, ErrorCode::unavailable);

  members.start(0);
  ASSERT_TRUE(members.answers(0));
  const auto again = once_etcd_is_back([&] { return keys->find(ada.id); });
  ASSERT_TRUE(again) << again.error().what;
  ASSERT_TRUE(*again) << "nothing of it was done while there was no majority";
  EXPECT_EQ((*again)->secret(), ada.secret());
}

// It is gone, and its revision can be read: an answer would promise too much.
TEST(KeysOnEtcdAlone, DestroyedHalfWayIsSaidAndDoneByTheNextOne) {
  const TemporaryFolder folder;
  EtcdMembers members(folder.path(), 1);
  auto etcd = members.options();
  etcd.timeout = 4s;
  RawEtcd raw(etcd);
  const KeyRows rows(etcd.prefix, master());
  auto keys = led(etcd);
  const auto ada = keys->key_for("ada").value();
  const auto before = raw.revision();
  keys->watch_erasures([&] { members.kill(0); });  // between the transaction and what gives up the history

  const auto destroyed = keys->destroy(ada.id);

  keys->watch_erasures({});
  ASSERT_FALSE(destroyed);
  EXPECT_EQ(destroyed.error().code, ErrorCode::unavailable);
  EXPECT_THAT(destroyed.error().what, HasSubstr("the key is destroyed"));
  members.start(0);
  ASSERT_TRUE(members.answers(0));
  EXPECT_TRUE(raw.get(rows.key(ada.id), before)) << "what the test is about";
  EXPECT_EQ(once_etcd_is_back([&] { return keys->find(ada.id); }).value(), std::nullopt);

  keys = led_anew(etcd);
  ASSERT_TRUE(keys->destroy(ada.id));

  EXPECT_THAT(raw.error_of(rows.key(ada.id), before), HasSubstr("has been compacted"));
  EXPECT_TRUE(keys->destroy(ada.id));
  EXPECT_NE(keys->key_for("ada")->id, ada.id);
}

TEST(KeysOnEtcdAlone, ADestructionWhoseAnswerDidNotComeIsAnswered) {
  const TemporaryFolder folder;
  EtcdMembers members(folder.path(), 1);
  evershard::testing::Relay late(members.options().members.front());
  auto etcd = members.options();
  const auto other = led(etcd);
  etcd.members.insert(etcd.members.begin(), late.address());
  const auto keys = led(etcd);
  const auto ada = keys->key_for("ada").value();
  RawEtcd raw(members.options());
  const auto before = raw.revision();
  // It gets there in time, and its answer does not come back in time.
  late.delay(etcd.try_timeout * 2 / 3);
  const auto destroyed = keys->destroy(ada.id);
  ASSERT_TRUE(destroyed) << destroyed.error().what;
  EXPECT_EQ(other->find(ada.id).value(), std::nullopt);
  EXPECT_THAT(raw.error_of(KeyRows(etcd.prefix, master()).key(ada.id), before), HasSubstr("has been compacted"));
}

}  // namespace
}  // namespace evershard::cluster
