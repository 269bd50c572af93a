#include "evershard/bench/served.hpp"

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <evershard/local.hpp>
#include <fstream>
#include <sstream>

#include "evershard/doors/grpc/door.hpp"
#include "evershard/v1/service.grpc.pb.h"

namespace evershard::bench {
namespace {

class EchoService final : public v1::EventStore::WithRawCallbackMethod_Append<v1::EventStore::Service> {
  grpc::ServerUnaryReactor* Append(grpc::CallbackServerContext* context, const grpc::ByteBuffer*,
                                   grpc::ByteBuffer* out) override {
    const grpc::Slice nothing;
    *out = grpc::ByteBuffer(&nothing, 1);
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int serve_for_benchmark(const char* directory) {
  auto store = Local::open({.data_dir = directory, .shards = 16});
  if (!store) return std::printf("%s\n", store.error().what.c_str()), 1;
  cluster::WorkPool pool(2);
  serving::HeadWatch watch(*store);
  const auto access = std::make_shared<const serving::Access>(serving::Access::open());
  serving::Served served{*store,
                         *store,
                         pool,
                         watch,
                         [access] { return access; },
                         [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  auto door = door::Door::start(served, {.listen = {"127.0.0.1:0"}});
  if (!door) return std::printf("%s\n", door.error().what.c_str()), 1;

  EchoService echo;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&echo);
  const auto echo_server = builder.BuildAndStart();

  std::printf("%s 127.0.0.1:%d\n", (*door)->addresses().front().c_str(), port);
  std::fflush(stdout);
  char ignored = 0;
  while (read(0, &ignored, 1) > 0) {
  }
  (*door)->stop(std::chrono::seconds(1));
  echo_server->Shutdown(std::chrono::system_clock::now());
  return 0;
}

Result<std::unique_ptr<ServedStore>> ServedStore::start(const std::filesystem::path& directory) {
  int in[2];
  int out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return refuse(ErrorCode::io, "cannot make a pipe");
  const auto program = std::filesystem::read_symlink("/proc/self/exe");  // not its link: valgrind knows this one
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (const int descriptor : {in[0], in[1], out[0], out[1]}) close(descriptor);
    execl(program.c_str(), "evershard", "--benchmark-serve", directory.c_str(), "0", nullptr);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  std::unique_ptr<ServedStore> served(new ServedStore(child, in[1]));
  std::string line;
  for (char c = 0; read(out[0], &c, 1) == 1 && c != '\n';) line += c;
  close(out[0]);
  std::istringstream words(line);
  if (!(words >> served->address_ >> served->echo_address_) || served->address_.find(':') == std::string::npos) {
    return refuse(ErrorCode::io, "the serving process failed: " + line);
  }
  return served;
}

ServedStore::~ServedStore() {
  close(input_);
  waitpid(child_, nullptr, 0);
}

std::uint64_t ServedStore::resident_bytes() const {
  std::ifstream statm("/proc/" + std::to_string(child_) + "/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double ServedStore::cpu_seconds() const {
  std::ifstream stat("/proc/" + std::to_string(child_) + "/stat");
  std::string text(std::istreambuf_iterator<char>(stat), {});
  std::istringstream words(text.substr(text.rfind(')') + 2));
  std::string word;
  double user = 0, system = 0;
  for (int i = 0; i < 11; ++i) words >> word;
  words >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace evershard::bench
