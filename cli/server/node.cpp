// `evershard node`: a node of a cluster, which serves the whole store.

#include "evershard/cli/command.hpp"
#include "evershard/cli/help/version.hpp"
#include "evershard/cli/server/serve.hpp"
#include "evershard/cli/server/serve_settings.hpp"
#include "evershard/doors/server/doors.hpp"
#include "evershard/doors/server/member_settings.hpp"

namespace evershard::cli {
namespace {

Options node_options() { return settings_options(server::member_settings()); }

Result<server::OpenStore> as_member(const settings::Settings& settings) {
  auto member = server::member_options_of(settings);
  if (!member) return refuse(std::move(member).error());
  member->version = version_number();
  return server::open_member(*std::move(member));
}

Outcome run_node(const Invocation& invocation) {
  return serve(invocation, server::all_doors(),
               {server::member_settings(), server::member_configuration_sample, as_member});
}

}  // namespace

Command node_command() {
  return {"node",
          "server",
          "Runs a node of a cluster until SIGTERM. It serves the whole store.",
          "evershard node --node 1 --data node-1 --coordinator 127.0.0.1:7430 --secret-file secret",
          node_options,
          run_node};
}

}  // namespace evershard::cli
