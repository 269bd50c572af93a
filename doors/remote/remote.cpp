#include "evershard/doors/remote/remote.hpp"

#include <utility>

#include "evershard/api/calls/documents_calls.hpp"
#include "evershard/api/calls/processes_calls.hpp"
#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/api/calls/scheduled_calls.hpp"
#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/doors/remote/connection.hpp"
#include "evershard/doors/remote/door_asker.hpp"
#include "evershard/doors/remote/remote_administration.hpp"
#include "evershard/doors/remote/remote_aggregates.hpp"
#include "evershard/doors/remote/remote_events.hpp"
#include "evershard/doors/remote/remote_groups.hpp"
#include "evershard/doors/remote/remote_retention.hpp"

namespace evershard {

using remote::Connection;
namespace pb = evershard::v1;

struct Remote::Impl {
  explicit Impl(std::shared_ptr<Connection> c)
      : connection(std::move(c)),
        asker(std::make_shared<remote::DoorAsker>(connection)),
        administration(remote::remote_administration(connection)),
        projections(asker),
        groups(connection, asker),
        documents(asker),
        tables(asker),
        retention(connection),
        scheduled(asker),
        processes(asker),
        events(connection, asker) {}
  std::shared_ptr<Connection> connection;
  std::shared_ptr<remote::DoorAsker> asker;
  std::unique_ptr<remote::RemoteAdministration> administration;
  calls::AskedProjections projections;
  remote::RemoteGroups groups;
  calls::AskedDocuments documents;
  calls::AskedTables tables;
  remote::RemoteRetention retention;
  calls::AskedScheduled scheduled;
  calls::AskedProcesses processes;
  remote::RemoteEvents events;  ///< last: appends that are in flight end first
};

Result<Remote> Remote::connect(RemoteOptions options) {
  auto connection = Connection::make(options);
  if (!connection) return refuse(std::move(connection).error());
  return Remote(std::make_unique<Impl>(*std::move(connection)));
}

Remote::Remote(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Remote::Remote(Remote&&) noexcept = default;
Remote& Remote::operator=(Remote&&) noexcept = default;
Remote::~Remote() = default;

Processes& Remote::processes() { return impl_->processes; }
AnyAnswer Remote::ask(const AggregateId& aggregate, std::string command_type, std::string command, AskOptions options) {
  return remote::ask(*impl_->connection, aggregate, std::move(command_type), std::move(command), std::move(options));
}
Result<HostedKinds> Remote::kinds() { return remote::hosted_kinds(*impl_->connection); }
ScheduledAppends& Remote::scheduled() { return impl_->scheduled; }
Documents& Remote::documents() { return impl_->documents; }

GlobalPosition Remote::seen() const { return impl_->connection->seen(); }

void Remote::see(GlobalPosition position) { impl_->connection->see(position); }

Tables& Remote::tables() { return impl_->tables; }

HistoryRetention& Remote::retention() { return impl_->retention; }

Projections& Remote::projections() { return impl_->projections; }

EventStore& Remote::events() const { return impl_->events; }

Administration& Remote::administration() const { return *impl_->administration; }

ClusterOrders& Remote::cluster() { return *impl_->administration; }

Groups& Remote::groups() { return impl_->groups; }

Result<std::string> Remote::types() {
  pb::GetTypesResponse response;
  EVERSHARD_TRY(
      impl_->connection->ask([&](remote::Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.events->GetTypes(&context, {}, &response);
      }));
  return response.types();
}

}  // namespace evershard
