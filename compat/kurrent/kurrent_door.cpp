#include "evershard/compat/kurrent/kurrent_door.hpp"

#include <algorithm>
#include <utility>

#include "evershard/compat/kurrent/cluster_subscriptions.hpp"
#include "evershard/compat/kurrent/discovery_services.hpp"
#include "evershard/compat/kurrent/kurrent.hpp"
#include "evershard/compat/kurrent/operations_service.hpp"
#include "evershard/compat/kurrent/persistent_host.hpp"
#include "evershard/compat/kurrent/persistent_service.hpp"
#include "evershard/compat/kurrent/projections_service.hpp"
#include "evershard/compat/kurrent/streams_service.hpp"
#include "evershard/compat/kurrent/streams_v2_service.hpp"
#include "evershard/doors/grpc/make_service.hpp"

namespace evershard::kurrent {
namespace {

template <class Service>
std::shared_ptr<grpc::Service> service_over(const std::shared_ptr<Kurrent>& kurrent) {
  auto service = std::make_shared<Service>(kurrent);
  EVERSHARD_CHECK(service->is_complete(), "a service lacks a row of its .proto");
  return service;
}

std::shared_ptr<PersistentSubscriptions> persistent_of(Kurrent& kurrent, const std::shared_ptr<PersistentHome>& home) {
  auto& served = kurrent.calls.served;
  EVERSHARD_CHECK((home == nullptr) == (served.homes == nullptr), "a door on a cluster lacks its node's home");
  if (home) return std::make_shared<ClusterSubscriptions>(served, *served.homes, home);
  return std::make_shared<PersistentHost>(kurrent, nullptr);
}

}  // namespace

std::shared_ptr<PersistentHome> start_home(serving::Served& served) {
  return served.homes == nullptr ? nullptr : PersistentHome::start(served, *served.homes);
}

void stop_home(PersistentHome& home) { home.stop(); }

Result<std::unique_ptr<door::Door>> start_door(serving::Served& served, door::DoorOptions options,
                                               KurrentOptions kurrent) {
  options.message_bytes_max = std::max(options.message_bytes_max, message_bytes_most);
  return door::Door::start(served, std::move(options),
                           {"kurrent", [kurrent](door::Calls& calls) {
                              calls.writes_to = calls.served.all_names;
                              calls.takes_passwords = true;
                              const auto all = std::make_shared<Kurrent>(calls, kurrent);
                              all->persistent = persistent_of(*all, kurrent.home);
                              return std::vector<std::shared_ptr<grpc::Service>>{
                                  service_over<ServerFeaturesService>(all), service_over<GossipService>(all),
                                  service_over<StreamsService>(all),        service_over<StreamsV2Service>(all),
                                  service_over<PersistentService>(all),     service_over<OperationsService>(all),
                                  service_over<ProjectionsService>(all)};
                            }});
}

}  // namespace evershard::kurrent
