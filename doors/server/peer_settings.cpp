#include "evershard/doors/server/peer_settings.hpp"

#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::server {

Result<cluster::LinkOptions> link_options_of(const PeerSettings& peers, cluster::LinkIdentity who) {
  cluster::LinkOptions options;
  options.who = std::move(who);
  options.who.cluster = peers.cluster;
  options.insecure = peers.insecure;
  if (!peers.secret_file.empty()) {
    auto secret = cluster::secret_of_file(peers.secret_file);
    if (!secret) return refuse(std::move(secret).error());
    options.secret = *std::move(secret);
  }
  if (!peers.certificate.empty() || !peers.key.empty() || !peers.ca.empty())
    options.tls = cluster::LinkTls{peers.certificate, peers.key, peers.ca, peers.unbound};
  if (options.secret.empty() && !options.tls)
    return refuse(ErrorCode::invalid_argument,
                  "the link needs a shared secret or TLS, without them anybody could be a node: give secret-file, or "
                  "peers-cert, peers-key and peers-ca");
  EVERSHARD_TRY(cluster::check(options));
  return options;
}

std::vector<std::string> unsafe(const cluster::LinkOptions& options) {
  std::vector<std::string> findings;
  if (options.tls && options.tls->unbound)
    findings.emplace_back(
        "certificates of the cluster's CA need not name a node (peers-unbound-certs): whoever has one may be any");
  if (options.insecure && !options.tls)
    findings.emplace_back(
        "what the cluster's processes say to each other is neither encrypted nor checked on the way (peers-insecure)");
  return findings;
}

Result<cluster::HostAndPort> place_of(const settings::Settings& settings, std::string_view name) {
  auto place = cluster::host_and_port(settings.value(name).text);
  if (!place)
    return settings::unfit(settings, name, "is " + in_quotes(settings.value(name).text, 200) + ", not HOST:PORT");
  return *std::move(place);
}

Result<cluster::HostAndPort> target_of(const settings::Settings& settings, std::string_view name) {
  auto place = place_of(settings, name);
  if (place && !cluster::can_be_reached(*place))
    return settings::unfit(settings, name,
                           "is " + in_quotes(settings.value(name).text, 200) + ": nobody can be told to go there");
  return place;
}

Result<std::vector<cluster::HostAndPort>> targets_of(const settings::Settings& settings, std::string_view name) {
  const auto& text = settings.value(name).text;
  auto places = cluster::hosts_and_ports(text);
  if (places.empty())
    return settings::unfit(settings, name, "is " + in_quotes(text, 200) + ", not HOST:PORT, or several with commas");
  for (const auto& place : places)
    if (!cluster::can_be_reached(place))
      return settings::unfit(settings, name, "is " + in_quotes(text, 200) + ": nobody can be told to go there");
  return places;
}

}  // namespace evershard::server
