#include "evershard/cli/peer_flags.hpp"

#include <utility>

namespace evershard::cli {

cluster::HostAndPort host_and_port(const std::string& flag, const std::string& text) {
  auto place = cluster::host_and_port(text);
  if (!place) throw UsageError("--" + flag + " is \"" + text + "\", not HOST:PORT");
  return *std::move(place);
}

void add_peer_flags(Options& options) {
  options.value("cluster", "NAME", "the cluster's name: the same for all its processes", "evershard")
      .value("secret-file", "FILE", "the secret that all processes of the cluster share; readable by its owner only")
      .value("peers-cert", "FILE", "mutual TLS between the processes: this one's certificate")
      .value("peers-key", "FILE", "its key")
      .value("peers-ca", "FILE", "the CA of the cluster's certificates, and of nothing else")
      .flag("peers-insecure", "lets processes of other machines in without TLS: what they say can be read and changed on the way");
}

tl::expected<cluster::LinkOptions, Failure> link_options(const Arguments& arguments, cluster::LinkIdentity who) {
  cluster::LinkOptions options;
  options.who = std::move(who);
  options.who.cluster = *arguments.text("cluster");
  options.insecure = arguments.has("peers-insecure");
  if (const auto file = arguments.text("secret-file")) {
    auto secret = cluster::secret_of_file(*file);
    if (!secret) return tl::unexpected(Failure(std::move(secret).error()));
    options.secret = std::move(*secret);
  }
  const auto given = [&](const char* name) { return arguments.text(name).value_or(""); };
  if (arguments.has("peers-cert") || arguments.has("peers-key") || arguments.has("peers-ca")) {
    options.tls = cluster::LinkTls{given("peers-cert"), given("peers-key"), given("peers-ca"), {}};
  }
  if (auto checked = cluster::check(options); !checked) return tl::unexpected(Failure(std::move(checked).error(), "give --secret-file, or --peers-cert, --peers-key and --peers-ca"));
  return options;
}

}  // namespace evershard::cli
