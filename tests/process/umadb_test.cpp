// UmaDB's protocol through the program: one process, and any node of a cluster.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "evershard/umadb/umadb.grpc.pb.h"
#include "tests/process/cluster_processes.hpp"
#include "tests/process/process.hpp"

namespace evershard::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace pb = ::umadb::v1;
namespace fs = std::filesystem;

class UmaDbProgram : public ::testing::Test {
 protected:
  UmaDbProgram() : folder_(fs::temp_directory_path() / ("umadb-" + std::to_string(::getpid()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~UmaDbProgram() override { fs::remove_all(folder_); }
  const fs::path folder_;
};

/// What stands behind `umadb ` on the line of a program that is ready.
std::string umadb_address(std::string line) {
  const std::string mark = "umadb ";
  const auto at = line.find(mark);
  if (at == std::string::npos) return {};
  line.erase(0, at + mark.size());
  return line.substr(0, line.find(' '));
}

class UmaClient {
 public:
  explicit UmaClient(const std::string& address)
      : stub_(pb::DCB::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))) {}

  grpc::Status append(const std::string& type, const std::string& tag, std::uint64_t tracking = 0, bool once = false) {
    pb::AppendRequest request;
    auto& event = *request.add_events();
    event.set_event_type(type);
    event.add_tags(tag);
    event.set_data("data");
    if (tracking != 0) {
      request.mutable_tracking_info()->set_source("source");
      request.mutable_tracking_info()->set_position(tracking);
    }
    if (once) request.mutable_condition()->mutable_fail_if_events_match()->add_items()->add_tags(tag);
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    pb::AppendResponse response;
    const auto status = stub_->Append(&context, request, &response);
    appended = response.position();
    return status;
  }
  std::vector<std::string> types() {
    grpc::ClientContext context;
    const auto reader = stub_->Read(&context, {});
    std::vector<std::string> types;
    for (pb::ReadResponse page; reader->Read(&page);)
      for (const auto& event : page.events()) types.push_back(event.event().event_type());
    EXPECT_TRUE(reader->Finish().ok());
    return types;
  }
  std::uint64_t tracked() {
    grpc::ClientContext context;
    pb::TrackingRequest request;
    request.set_source("source");
    pb::TrackingResponse response;
    EXPECT_TRUE(stub_->GetTrackingInfo(&context, request, &response).ok());
    return response.position();
  }

  std::uint64_t appended = 0;

 private:
  std::unique_ptr<pb::DCB::Stub> stub_;
};

std::vector<std::string> serving(const fs::path& folder, const std::string& umadb) {
  return {EVERSHARD_PROGRAM, "serve",         "--data", (folder / "data").string(), "--listen",
          "127.0.0.1:0",     "--http-listen", "none",   "--umadb-listen",           umadb};
}

TEST_F(UmaDbProgram, IsServedWhereItIsAskedFor) {
  Process server(serving(folder_, "127.0.0.1:0"));
  const auto lines = server.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  const auto address = umadb_address(lines.front());
  ASSERT_FALSE(address.empty());
  UmaClient client(address);
  EXPECT_TRUE(client.append("A", "t").ok());
  EXPECT_TRUE(client.append("B", "t").ok());
  EXPECT_THAT(client.types(), ElementsAre("A", "B"));
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().status, 0);
}

TEST_F(UmaDbProgram, IsNotServedOtherwise) {
  Process server(serving(folder_, "none"));
  const auto lines = server.lines(1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(umadb_address(lines.front()), "");
}

TEST_F(UmaDbProgram, IsNotServedToOthersWithoutTlsAndTokens) {
  const auto done = run(serving(folder_, "0.0.0.0:0"));
  EXPECT_EQ(done.status, 5);
  EXPECT_THAT(done.err, HasSubstr("umadb-listen \"0.0.0.0:0\" can be reached from other machines"));
}

TEST_F(UmaDbProgram, IsServedByEveryNodeOfACluster) {
  constexpr std::uint32_t nodes = 3;
  ClusterProcesses::Options options;
  options.nodes = nodes;
  options.flags = [](std::uint32_t number) -> std::map<std::string, std::string> {
    if (ClusterProcesses::is_coordinator(number)) return {};
    return {{"--umadb-listen", "127.0.0.1:0"}};
  };
  ClusterProcesses cluster(folder_, options);
  std::vector<std::unique_ptr<UmaClient>> clients;
  for (std::uint32_t node = 1; node <= nodes; ++node) {
    const auto log = cluster.log(node);
    const std::string mark = "speaks=umadb address=";
    const auto at = log.find(mark);
    ASSERT_NE(at, std::string::npos) << log;
    clients.push_back(std::make_unique<UmaClient>(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size())));
  }
  const auto before = clients[0]->types().size();  // what the cluster was asked by to see that it is whole

  for (std::uint64_t i = 0; i < 30; ++i) {
    auto& client = *clients[i % nodes];
    ASSERT_TRUE(client.append("T" + std::to_string(i), "t:" + std::to_string(i), i + 1, true).ok());
    EXPECT_EQ(client.types().size(), before + i + 1) << "a client sees what it has written";
  }
  std::vector<std::string> expected;
  for (int i = 0; i < 30; ++i) expected.push_back("T" + std::to_string(i));
  for (auto& client : clients) {
    std::vector<std::string> types;
    for (const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
         types.size() != before + 30 && std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(std::chrono::milliseconds(20)))
      types = client->types();
    ASSERT_EQ(types.size(), before + 30);
    types.erase(types.begin(), types.begin() + static_cast<std::ptrdiff_t>(before));
    EXPECT_EQ(types, expected);
    EXPECT_EQ(client->tracked(), 30u);
    EXPECT_EQ(client->append("late", "t", 30).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(client->append("again", "t:7", 0, true).error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  }
}

}  // namespace
}  // namespace evershard::testing
