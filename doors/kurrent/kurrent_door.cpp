#include "evershard/doors/kurrent/kurrent_door.hpp"

#include <algorithm>
#include <utility>

#include "evershard/doors/grpc/make_service.hpp"
#include "evershard/doors/kurrent/discovery_services.hpp"
#include "evershard/doors/kurrent/kurrent.hpp"
#include "evershard/doors/kurrent/operations_service.hpp"
#include "evershard/doors/kurrent/persistent_groups.hpp"
#include "evershard/doors/kurrent/persistent_service.hpp"
#include "evershard/doors/kurrent/projections_service.hpp"
#include "evershard/doors/kurrent/streams_service.hpp"
#include "evershard/doors/kurrent/streams_v2_service.hpp"

namespace evershard::kurrent {
namespace {

template <class Service>
std::shared_ptr<grpc::Service> service_over(const std::shared_ptr<Kurrent>& kurrent) {
  auto service = std::make_shared<Service>(kurrent);
  EVERSHARD_CHECK(service->is_complete(), "a service lacks a row of its .proto");
  return service;
}

}  // namespace

Result<std::unique_ptr<door::Door>> start_door(serving::Served& served, door::DoorOptions options,
                                               KurrentOptions kurrent) {
  options.message_bytes_max = std::max(options.message_bytes_max, message_bytes_most);
  return door::Door::start(served, std::move(options),
                           {"kurrent", [kurrent](door::Calls& calls) {
                              calls.writes_to = calls.served.all_names;
                              calls.takes_passwords = true;
                              const auto all = std::make_shared<Kurrent>(calls, kurrent);
                              // Who may have what is known to one process.
                              if (calls.served.cluster == nullptr)
                                all->persistent = std::make_shared<PersistentGroups>(*all);
                              return std::vector<std::shared_ptr<grpc::Service>>{
                                  service_over<ServerFeaturesService>(all), service_over<GossipService>(all),
                                  service_over<StreamsService>(all),        service_over<StreamsV2Service>(all),
                                  service_over<PersistentService>(all),     service_over<OperationsService>(all),
                                  service_over<ProjectionsService>(all)};
                            }});
}

}  // namespace evershard::kurrent
