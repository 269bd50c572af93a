// What an operator asks, at every door: a row each. What is answered over HTTP, the program says too, of a store in a
// directory and, over gRPC, of a server.

#include "tests/cli/program.hpp"
#include "tests/doors/http/http_client.hpp"

namespace evershard::testing {
namespace {

struct Everywhere {
  Words command;
  const char* method;
  const char* path;
};
const Everywhere everywhere[] = {
    {{"stats"}, "GET", "/api/v1/stats"},
    {{"position", "--at", "2999-01-31T12:00:00Z"}, "GET", "/api/v1/position?at=2999-01-31T12:00:00Z"},
    {{"verify"}, "POST", "/api/v1/admin/verify"},
    {{"vacuum"}, "POST", "/api/v1/admin/vacuum"},
};

Words with(Words command, const char* option, const std::string& value) {
  command.insert(command.end(), {option, value});
  return command;
}

class AdministrationCommands : public Program {};

TEST_F(AdministrationCommands, SayTheSameAtEveryDoor) {
  const std::string data = store("store", 4);
  append(data, R"({"aggregate":"a-1","type":"T","payload":1})"
               "\n");
  std::vector<Json> of_directory;
  for (const auto& row : everywhere) of_directory.push_back(shown(with(row.command, "--data", data)).at(0));
  Process server(words(
      {"serve", "--data", data, "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", "--log-file", path("log")}));
  const auto lines = server.lines(1);
  ASSERT_EQ(lines.size(), 1u) << server.errors();
  const auto& ready = lines.front();  // ready HOST:PORT http HOST:PORT
  const auto other = ready.find(" http ");
  ASSERT_NE(other, std::string::npos) << ready;
  const auto grpc = ready.substr(6, other - 6), http = ready.substr(other + 6);

  for (std::size_t i = 0; i != std::size(everywhere); ++i) {
    const auto& row = everywhere[i];
    const Json of_server = shown(with(row.command, "--server", grpc)).at(0);
    const auto answer = ask(http, row.method, row.path, row.method == std::string("POST") ? "{}" : "");
    ASSERT_EQ(answer.status, 200) << row.path << ": " << answer.body;
    const auto over_http = answer.json();
    EXPECT_FALSE(over_http.empty()) << row.path;
    for (const auto& [name, value] : over_http.items()) {
      EXPECT_TRUE(of_directory[i].contains(name)) << row.path << " --data: " << name;
      EXPECT_TRUE(of_server.contains(name)) << row.path << " --server: " << name;
    }
  }
}

}  // namespace
}  // namespace evershard::testing
