#include "evershard/doors/server/doors.hpp"

#include "evershard/compat/kurrent/kurrent_door.hpp"
#include "evershard/compat/umadb/uma_door.hpp"
#include "evershard/doors/http/http_door.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace evershard::server {
namespace {

class GrpcDoor final : public RunningDoor {
 public:
  GrpcDoor(std::string_view speaks, std::unique_ptr<door::Door> door) : speaks_(speaks), door_(std::move(door)) {}
  [[nodiscard]] std::string_view speaks() const override { return speaks_; }
  [[nodiscard]] std::vector<std::string> addresses() const override { return door_->addresses(); }
  [[nodiscard]] Result<void> reload_tls() override { return door_->reload_tls(); }
  void look_at_tokens_again() override { door_->look_at_tokens_again(); }
  void tell_ready() override { door_->tell_ready(); }
  void tell_unwell() override { door_->tell_unwell(); }
  void stop(std::chrono::milliseconds drain) override { door_->stop(drain); }

 private:
  const std::string_view speaks_;
  std::unique_ptr<door::Door> door_;
};

Result<std::unique_ptr<RunningDoor>> start_grpc(serving::Served& served, const ServerOptions& options,
                                                const RunningDoors&) {
  // What gRPC would print by itself comes back as errors, which are printed once.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  auto door = door::Door::start(served, options.door);
  if (!door) return refuse(std::move(door).error());
  return std::make_unique<GrpcDoor>("grpc", *std::move(door));
}

/// Another protocol over gRPC, at an address of its own, and otherwise as our own door is. Empty: nowhere.
Result<std::unique_ptr<RunningDoor>> start_other(serving::Served& served, const ServerOptions& options,
                                                 const std::string& listen, const door::DoorServices& offered) {
  if (listen.empty()) return nullptr;
  auto asked = options.door;
  asked.listen = {listen};
  auto door = door::Door::start(served, std::move(asked), offered);
  if (!door) return refuse(std::move(door).error());
  return std::make_unique<GrpcDoor>(offered.speaks, *std::move(door));
}

Result<std::unique_ptr<RunningDoor>> start_umadb(serving::Served& served, const ServerOptions& options,
                                                 const RunningDoors&) {
  return start_other(served, options, options.umadb_listen, umadb::services());
}

/// Both may be absent: a node of a cluster is a home without a door, one process is no home.
class KurrentDoor final : public RunningDoor {
 public:
  KurrentDoor(std::shared_ptr<kurrent::PersistentHome> home, std::unique_ptr<door::Door> door)
      : home_(std::move(home)), door_(std::move(door)) {}
  ~KurrentDoor() override { stop(std::chrono::milliseconds(0)); }
  [[nodiscard]] std::string_view speaks() const override { return "kurrent"; }
  [[nodiscard]] std::vector<std::string> addresses() const override {
    return door_ ? door_->addresses() : std::vector<std::string>();
  }
  [[nodiscard]] Result<void> reload_tls() override { return door_ ? door_->reload_tls() : Result<void>(); }
  void look_at_tokens_again() override {
    if (door_) door_->look_at_tokens_again();
  }
  void tell_ready() override {
    if (door_) door_->tell_ready();
  }
  void tell_unwell() override {
    if (door_) door_->tell_unwell();
  }
  void stop(std::chrono::milliseconds drain) override {
    if (door_) door_->stop(drain);
    if (home_) kurrent::stop_home(*home_);
  }

 private:
  const std::shared_ptr<kurrent::PersistentHome> home_;
  const std::unique_ptr<door::Door> door_;
};

Result<std::unique_ptr<RunningDoor>> start_kurrent(serving::Served& served, const ServerOptions& options,
                                                   const RunningDoors&) {
  auto home = kurrent::start_home(served);
  if (options.kurrent_listen.empty())
    return home ? std::make_unique<KurrentDoor>(std::move(home), nullptr) : std::unique_ptr<RunningDoor>();
  auto asked = options.door;
  asked.listen = options.kurrent_listen;
  auto door = kurrent::start_door(served, std::move(asked), {options.store.limits, home, served.cluster != nullptr});
  if (!door) {
    if (home) kurrent::stop_home(*home);
    return refuse(std::move(door).error());
  }
  return std::make_unique<KurrentDoor>(std::move(home), *std::move(door));
}

class PageDoor final : public RunningDoor {
 public:
  explicit PageDoor(std::unique_ptr<http::HttpDoor> door) : door_(std::move(door)) {}
  [[nodiscard]] std::string_view speaks() const override { return "http"; }
  [[nodiscard]] std::vector<std::string> addresses() const override { return {door_->address()}; }
  [[nodiscard]] Result<void> reload_tls() override { return door_->reload_tls(); }
  void look_at_tokens_again() override { door_->look_at_tokens_again(); }
  void stop(std::chrono::milliseconds drain) override { door_->stop(drain); }

 private:
  std::unique_ptr<http::HttpDoor> door_;
};

Result<std::unique_ptr<RunningDoor>> start_page(serving::Served& served, const ServerOptions& options,
                                                const RunningDoors& earlier) {
  if (options.http.listen.empty()) return nullptr;
  auto asked = options.http;
  asked.settings = options.settings_json;
  for (const auto& door : earlier) {
    if (door->addresses().empty()) continue;
    std::string all;
    for (const auto& address : door->addresses()) all += (all.empty() ? "" : ", ") + address;
    asked.other_doors.emplace_back(door->speaks(), std::move(all));
  }
  auto door = http::HttpDoor::start(served, std::move(asked));
  if (!door) return refuse(std::move(door).error());
  return std::make_unique<PageDoor>(*std::move(door));
}

}  // namespace

std::vector<StartDoor> all_doors() { return {start_grpc, start_umadb, start_kurrent, start_page}; }

std::vector<Exposure> exposures_of(const ServerOptions& options) {
  std::vector<Exposure> exposures;
  const auto& tls = options.door.tls;
  for (const auto& address : options.door.listen) {
    exposures.push_back(
        {address, "listen", tls.given(), tls.given() && !tls.client_ca.empty(), !options.tokens.empty()});
  }
  if (!options.umadb_listen.empty()) {
    exposures.push_back({options.umadb_listen, "umadb-listen", tls.given(), tls.given() && !tls.client_ca.empty(),
                         !options.tokens.empty()});
  }
  for (const auto& address : options.kurrent_listen) {
    exposures.push_back(
        {address, "kurrent-listen", tls.given(), tls.given() && !tls.client_ca.empty(), !options.tokens.empty()});
  }
  if (!options.http.listen.empty()) {
    exposures.push_back({options.http.listen, "http-listen", tls.given(), tls.given() && !tls.client_ca.empty(),
                         !options.tokens.empty()});
  }
  return exposures;
}

}  // namespace evershard::server
