// ServedStore: a store in memory behind a door of its own, and clients of it.

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/doors/grpc/door.hpp"
#include "evershard/doors/remote/remote.hpp"
#include "evershard/local/local.hpp"

namespace evershard {

class ServedStore {
 public:
  explicit ServedStore(door::DoorOptions options = {}, const std::string& tokens = {}, LocalOptions local_options = {})
      : options_(std::move(options)), local(open(std::move(local_options))) {
    if (!tokens.empty()) {
      auto read = serving::Access::of_tokens(tokens, "tokens");
      EXPECT_TRUE(read) << read.error().what;
      access = std::make_shared<const serving::Access>(*std::move(read));
    }
    if (options_.listen == door::DoorOptions{}.listen) options_.listen = {"127.0.0.1:0"};
    start();
    options_.listen = {address()};  // the same one, when it is started again
  }
  ~ServedStore() { stop(); }

  void start() {
    watch = std::make_unique<serving::HeadWatch>(local);
    served =
        std::make_unique<serving::Served>(serving::Served{local, local, pool, *watch, [this] { return access; },
                                                          [] { return Result<RegisteredTypes>(RegisteredTypes{}); }});
    served->fork = fork.empty() ? local.stats().value().info.fork_id : fork;
    served->groups = &local.groups();
    served->own_projections = &local.projections();
    served->tables = &local.tables();
    served->documents = &local.documents();
    served->scheduled = &local.scheduled();
    served->processes = &local.processes();
    served->retention = &local.retention();
    if (commands) served->commands = &*commands;
    auto opened = door::Door::start(*served, options_);
    for (int tries = 0; tries < 6'000 && !opened; ++tries) {  // the port may be busy for a moment
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      opened = door::Door::start(*served, options_);
    }
    ASSERT_TRUE(opened) << opened.error().what;
    door = *std::move(opened);
  }
  /// Before the first call.
  template <class... Aggregates>
  void host(HostOptions options = {}) {
    std::vector<std::shared_ptr<const AggregateKind>> kinds{make_kind<Aggregates>().value()...};
    for (const auto& kind : kinds) ASSERT_TRUE(local.host_kind(kind, options));
    commands.emplace(local, kinds);
    served->commands = &*commands;
  }
  void stop(std::chrono::milliseconds drain = std::chrono::milliseconds(0)) {
    if (door) door->stop(drain);
    door.reset();
  }
  [[nodiscard]] std::string address() const { return door ? door->addresses().front() : options_.listen.front(); }

  [[nodiscard]] Remote connect(RemoteOptions options = {}) const {
    if (options.server == RemoteOptions{}.server) options.server = address();
    auto remote = Remote::connect(std::move(options));
    EXPECT_TRUE(remote) << remote.error().what;
    return *std::move(remote);
  }

 private:
  static Local open(LocalOptions options) {
    auto store = Local::open(std::move(options));
    EXPECT_TRUE(store) << store.error().what;
    return *std::move(store);
  }
  door::DoorOptions options_;

 public:
  Local local;
  std::shared_ptr<const serving::Access> access = std::make_shared<const serving::Access>(serving::Access::open());
  cluster::WorkPool pool{2};
  std::unique_ptr<serving::HeadWatch> watch;
  std::optional<serving::HostedCommands> commands;
  std::string fork{};  ///< that it says from its next start on; empty: its own
  std::unique_ptr<serving::Served> served;
  std::unique_ptr<door::Door> door;
};

/// Positions of what a stream gives; what it ends with, if not well.
inline std::vector<std::uint64_t> positions_of(EventStream stream) {
  std::vector<std::uint64_t> positions;
  for (const auto& event : stream) positions.push_back(event.position.value);
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return positions;
}

inline void append_events(EventStore& store, int count, std::size_t payload_bytes = 10, const std::string& type = "T") {
  Append append;
  for (int i = 0; i < count; ++i) {
    append.event("n-" + std::to_string(i % 7), type, std::string(payload_bytes, 'p'), {"all"});
    if (append.events.size() < 200 && i + 1 < count && append.events.size() * payload_bytes < (3u << 20)) continue;
    const auto done = store.append(std::exchange(append, {}));
    ASSERT_TRUE(done) << done.error().what;
  }
}

}  // namespace evershard
