// A server for tests, without what `evershard serve` has around it: DATA (or - : in memory) LISTEN [TOKENS]. Prints
// `ready HOST:PORT` and serves until standard input ends, or SIGTERM comes. EVERSHARD_TEST_DRAIN_MS,
// EVERSHARD_TEST_HANDSHAKE_MS, EVERSHARD_TEST_DISK_RESERVE (bytes), EVERSHARD_TEST_UNREAD_MAX (bytes),
// EVERSHARD_TEST_UNREAD_MS change what their names say.

#include <evershard/local.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "evershard/doors/grpc/door.hpp"

namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void wait_for_the_end(int signals) {
  pollfd waiting[]{{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}};
  while (true) {
    (void)::poll(waiting, 2, -1);
    if (waiting[1].revents != 0) return;
    char part[4'096];
    if (waiting[0].revents != 0 && ::read(STDIN_FILENO, part, sizeof part) <= 0) return;
  }
}

}  // namespace

int main(int count, char** words) {
  using namespace evershard;
  if (count < 3) return 2;
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before the first thread: for all of them
  const int signals = ::signalfd(-1, &ends, SFD_CLOEXEC);

  const std::string data = words[1];
  LocalOptions options;
  options.data_dir = data == "-" ? "" : data;
  options.disk_reserve_bytes = number_of("EVERSHARD_TEST_DISK_RESERVE", 1 << 20);
  auto store = Local::open(options);
  if (!store) {
    std::cerr << store.error().what << '\n';
    return 1;
  }
  auto access = std::make_shared<const serving::Access>(serving::Access::open());
  if (count > 3) {
    auto tokens = serving::Access::of_tokens(words[3], "the tokens");
    if (!tokens) {
      std::cerr << tokens.error().what << '\n';
      return 1;
    }
    access = std::make_shared<const serving::Access>(*std::move(tokens));
  }
  cluster::WorkPool pool(2);
  serving::HeadWatch watch(*store);
  serving::Served served{*store,
                         *store,
                         pool,
                         watch,
                         [access] { return access; },
                         [] { return Result<RegisteredTypes>(RegisteredTypes{}); }};
  served.groups = &store->groups();
  served.own_projections = &store->projections();
  served.tables = &store->tables();
  served.documents = &store->documents();
  served.scheduled = &store->scheduled();
  served.processes = &store->processes();
  door::DoorOptions door_options;
  door_options.listen = {words[2]};
  door_options.handshake_timeout = std::chrono::milliseconds(number_of("EVERSHARD_TEST_HANDSHAKE_MS", 10'000));
  door_options.unread.bytes_max = number_of("EVERSHARD_TEST_UNREAD_MAX", door_options.unread.bytes_max);
  door_options.unread.patience = std::chrono::milliseconds(number_of("EVERSHARD_TEST_UNREAD_MS", 10'000));
  auto door = door::Door::start(served, door_options);
  if (!door) {
    std::cerr << door.error().what << '\n';
    return 1;
  }
  std::cout << "ready " << (*door)->addresses().front() << std::endl;
  wait_for_the_end(signals);
  (*door)->stop(std::chrono::milliseconds(number_of("EVERSHARD_TEST_DRAIN_MS", 1'000)));
  return 0;
}
