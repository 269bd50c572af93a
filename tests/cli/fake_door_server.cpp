// `evershard serve` with a door of its own behind it, which misbehaves as FAKE_DOOR says: "hang": its stop() never
// comes back; "slow": it takes all the time it is given; "fail": it cannot be started; "lost": its store fails while it
// serves.

#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "evershard/cli/interrupt.hpp"
#include "evershard/cli/server/serve.hpp"
#include "evershard/cli/server/serve_settings.hpp"

namespace {

using namespace evershard;

class FakeDoor final : public server::RunningDoor {
 public:
  explicit FakeDoor(std::string how) : how_(std::move(how)) {}
  [[nodiscard]] std::string_view speaks() const override { return "fake"; }
  [[nodiscard]] std::vector<std::string> addresses() const override { return {"127.0.0.1:1", "unix:/fake"}; }
  void stop(std::chrono::milliseconds drain) override {
    if (how_ == "slow") std::this_thread::sleep_for(drain);
    while (how_ == "hang") ::pause();
  }

 private:
  const std::string how_;
};

/// The store in one process, but for that.
class FailingStore final : public server::StoreInService {
 public:
  explicit FailingStore(std::unique_ptr<StoreInService> store) : store_(std::move(store)) {}
  [[nodiscard]] EventStore& store() override { return store_->store(); }
  [[nodiscard]] Administration& administration() override { return store_->administration(); }
  [[nodiscard]] std::optional<Error> failed() override { return Error(ErrorCode::io, "the disk has been taken away"); }
  [[nodiscard]] HistoryRetention& retention() override { return store_->retention(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return store_->scheduled(); }
  [[nodiscard]] Processes& processes() override { return store_->processes(); }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    return store_->retain(order, progress);
  }
  [[nodiscard]] Result<void> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                      const Progress& progress) override {
    return store_->remove_settled_schedules(keep, order, progress);
  }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override {
    return store_->vacuum_events(progress);
  }
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) override {
    return store_->vacuum_documents(removed_percent, progress);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) override {
    return store_->vacuum_projections(removed_percent, progress);
  }
  void close() override { store_->close(); }

 private:
  const std::unique_ptr<StoreInService> store_;
};

}  // namespace

int main(int count, char** words) {
  cli::listen_for_interrupts();
  auto store = cli::whole_store();
  const auto options = cli::settings_options(store.table);
  const cli::Arguments arguments(options, {words + 1, words + count});
  const cli::Program program;
  const cli::Terminal terminal;
  Output out(STDOUT_FILENO);
  const char* set = std::getenv("FAKE_DOOR");
  const std::string how = set == nullptr ? "" : set;
  if (how == "lost") {
    store.opening = [](const settings::Settings&) -> Result<server::OpenStore> {
      return server::OpenStore(
          [](const server::ServerOptions& given, serving::Log& log) -> Result<std::unique_ptr<server::StoreInService>> {
            auto whole = server::open_whole_store(given, log);
            if (!whole) return whole;
            return std::make_unique<FailingStore>(*std::move(whole));
          });
    };
  }
  const server::StartDoor start = [how](serving::Served&, const server::ServerOptions&,
                                        const server::RunningDoors&) -> Result<std::unique_ptr<server::RunningDoor>> {
    if (how == "fail") return refuse(ErrorCode::unavailable, "this door does not open");
    return std::make_unique<FakeDoor>(how);
  };
  const auto outcome = cli::serve({arguments, program, terminal, cli::Format::jsonl, out}, {start, start}, store);
  if (outcome) return 0;
  std::cerr << cli::text_of(outcome.error(), program, false);
  return static_cast<int>(cli::exit_of(outcome.error().error.code));
}
