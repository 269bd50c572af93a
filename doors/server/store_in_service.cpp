#include "evershard/doors/server/store_in_service.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace evershard::server {
namespace {

class WholeStore final : public StoreInService {
 public:
  WholeStore(Local store, bool hosts) : store_(std::move(store)), hosts_(hosts) {}
  [[nodiscard]] EventStore& store() override { return store_; }
  [[nodiscard]] EventStore& all_names() override { return store_.all_names(); }
  [[nodiscard]] Administration& administration() override { return store_; }
  [[nodiscard]] Groups* groups() override { return &store_.groups(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return store_.scheduled(); }
  [[nodiscard]] Processes& processes() override { return store_.processes(); }
  [[nodiscard]] AggregateDoor* aggregates() override { return hosts_ ? &store_ : nullptr; }
  [[nodiscard]] HistoryRetention& retention() override { return store_.retention(); }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    auto done = store_.retention().apply_retention(order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Tables* tables() override { return &store_.tables(); }
  [[nodiscard]] Documents* documents() override { return &store_.documents(); }
  [[nodiscard]] Projections* projections() override { return &store_.projections(); }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override { return store_.vacuum_events(progress); }
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) override {
    return store_.vacuum_documents(removed_percent, progress);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) override {
    return store_.vacuum_projections(removed_percent, progress);
  }
  void close() override { store_.close(); }

 private:
  Local store_;
  const bool hosts_;
};

}  // namespace

Result<std::unique_ptr<StoreInService>> open_whole_store(const ServerOptions& options, serving::Log&) {
  // Beside a new store keys may begin. A store that is there has its keys too: a directory that is missing is a wrong
  // name.
  auto open = options.store;
  std::error_code looked;
  open.create_keys = !std::filesystem::exists(open.data_dir / "db" / "CURRENT", looked);
  auto store = Local::open(std::move(open));
  if (!store) return refuse(std::move(store).error());
  for (const auto& kind : options.kinds) EVERSHARD_TRY(store->host_kind(kind, {}));
  return std::make_unique<WholeStore>(*std::move(store), !options.kinds.empty());
}

}  // namespace evershard::server
