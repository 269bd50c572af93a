// Who waits for events waits without their payloads: a server's watch looks at them as they are stored.

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "evershard/doors/server/server.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/services/copy/forwarding_store.hpp"

namespace evershard::server {
namespace {

/// What opens payloads.
class OpenedEvents final : public testing::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  using ForwardingStore::read;
  EventStream read(Query query, ReadOptions options = {}) override {
    ++reads;
    return ForwardingStore::read(std::move(query), std::move(options));
  }
  std::atomic<int> reads{0};
};

class SealedService final : public StoreInService {
 public:
  explicit SealedService(std::unique_ptr<StoreInService> behind) : behind_(std::move(behind)) {}
  [[nodiscard]] EventStore& store() override { return opened; }
  [[nodiscard]] EventStore& unopened() override { return behind_->store(); }
  [[nodiscard]] Administration& administration() override { return behind_->administration(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return behind_->scheduled(); }
  [[nodiscard]] Processes& processes() override { return behind_->processes(); }
  [[nodiscard]] HistoryRetention& retention() override { return behind_->retention(); }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    return behind_->retain(order, progress);
  }
  [[nodiscard]] Result<void> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                      const Progress& progress) override {
    return behind_->remove_settled_schedules(keep, order, progress);
  }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override {
    return behind_->vacuum_events(progress);
  }
  [[nodiscard]] Result<void> vacuum_documents(unsigned percent, const Progress& progress) override {
    return behind_->vacuum_documents(percent, progress);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned percent, const Progress& progress) override {
    return behind_->vacuum_projections(percent, progress);
  }
  void close() override { behind_->close(); }

 private:
  const std::unique_ptr<StoreInService> behind_;

 public:
  OpenedEvents opened{behind_->store()};
};

TEST(ServersWatch, OpensNoPayload) {
  TemporaryFolder folder;
  const auto log = serving::Log::nowhere();
  serving::Served* served = nullptr;
  SealedService* service = nullptr;
  ServerOptions options;
  options.store.data_dir = folder.path() / "data";
  options.store.create = true;
  options.vacuum_every = std::chrono::milliseconds(0);
  const auto door = [&](serving::Served& of, const ServerOptions&,
                        const RunningDoors&) -> Result<std::unique_ptr<RunningDoor>> {
    served = &of;
    return std::unique_ptr<RunningDoor>();
  };
  const auto server =
      Server::start(options, *log, {door},
                    [&](const ServerOptions& with, serving::Log& to) -> Result<std::unique_ptr<StoreInService>> {
                      auto behind = open_whole_store(with, to);
                      if (!behind) return behind;
                      auto made = std::make_unique<SealedService>(*std::move(behind));
                      service = made.get();
                      return made;
                    });
  ASSERT_TRUE(server) << server.error().what;
  ASSERT_NE(served, nullptr);

  std::promise<serving::HeadWatch::Why> woken;
  served->watch.when_matching(GlobalPosition{0}, Query{}.types({"Wanted"}),
                              serving::HeadWatch::Clock::now() + std::chrono::hours(1),
                              [&](serving::HeadWatch::Why why, GlobalPosition) { woken.set_value(why); });
  for (const auto* type : {"Other", "Wanted"}) {
    Event event;
    event.aggregate = AggregateId{"order", "1"};
    event.type = type;
    ASSERT_TRUE(served->store.append(Append{}.event(event)));
  }
  EXPECT_EQ(woken.get_future().get(), serving::HeadWatch::Why::something);
  EXPECT_EQ(service->opened.reads, 0);
  (*server)->stop(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace evershard::server
