// `evershard snapshot put`, `get`, `list`.

#include "tests/cli/program.hpp"

namespace evershard::testing {
namespace {

class SnapshotCommand : public Program {
 protected:
  void SetUp() override {
    data_ = store();
    for (int i = 0; i < 5; ++i)
      append(data_, R"({"aggregate":"order-1","type":"T"})"
                    "\n");
  }
  Finished put(const std::string& version, Words more) {
    Words all{"snapshot", "put", "order-1", "--version", version, "--data", data_, "--format", "json"};
    all.insert(all.end(), more.begin(), more.end());
    return evershard(all);
  }
  std::vector<Json> get(Words more) {
    Words all{"snapshot", "get", "order-1", "--data", data_};
    all.insert(all.end(), more.begin(), more.end());
    return shown(all);
  }
  std::string data_;
};

TEST_F(SnapshotCommand, GivesBackWhatWasPut) {
  write_file("state", std::string("\0\xff", 2));

  ASSERT_EQ(put("3", {"--payload-file", path("state"), "--payload-format", "2", "--schema-revision", "4"}).status, 0);

  const Json snapshot = get({}).at(0);
  EXPECT_EQ(snapshot.at("version"), 3);
  EXPECT_EQ(snapshot.at("position"), 3);
  EXPECT_EQ(snapshot.at("payload"), "AP8=");
  EXPECT_EQ(snapshot.at("payload_format"), 2);
  EXPECT_EQ(snapshot.at("schema_revision"), 4);
  EXPECT_EQ(snapshot.at("latest"), true);
  EXPECT_EQ(evershard({"snapshot", "get", "order-1", "--raw", "--data", data_}).out, read_file("state"));
}

TEST_F(SnapshotCommand, FindsEarlierCopies) {
  for (const auto* version : {"1", "3", "5"}) ASSERT_EQ(put(version, {"--payload", version, "--keep", "5"}).status, 0);

  EXPECT_EQ(get({}).at(0).at("version"), 5);
  EXPECT_EQ(get({"--version", "4"}).at(0).at("payload"), 3);
  EXPECT_EQ(get({"--up-to", "2"}).at(0).at("payload"), 1);
  EXPECT_GE(shown({"snapshot", "list", "order-1", "--data", data_}).size(), 3u);
}

TEST_F(SnapshotCommand, SaysWhatIsNotThere) {
  const Finished absent = evershard({"snapshot", "get", "order-1", "--data", data_, "--format", "json"});
  const Finished ahead = put("9", {"--payload", "1"});

  EXPECT_EQ(absent.status, 4);
  EXPECT_EQ(error_of(absent).at("code"), "not_found");
  EXPECT_EQ(ahead.status, 4);
  EXPECT_EQ(put("1", {}).status, 2);
  EXPECT_EQ(put("0", {"--payload", "1"}).status, 2);
}

}  // namespace
}  // namespace evershard::testing
