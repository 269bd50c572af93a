// PeerSettings: how a process of a cluster shows the others who it is, and knows them. Nodes and coordinator have the
// same settings for it.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/link/link_options.hpp"
#include "evershard/doors/settings/bound_table.hpp"

namespace evershard::server {

struct PeerSettings {
  std::string cluster = "evershard";
  std::filesystem::path secret_file{};
  std::filesystem::path certificate{};
  std::filesystem::path key{};
  std::filesystem::path ca{};
  bool unbound = false;
  bool insecure = false;
};

/// Into a group, of options that have them as `peers`.
template <class Options>
void add_peers(typename settings::BoundTable<Options>::Group& group) {
  group.text("cluster", "The cluster's name: the same for all its processes.",
             EVERSHARD_SETTING_FIELD(Options, peers.cluster));
  group.path("secret-file",
             "A file with the secret that all processes of the cluster share; readable by its owner only.",
             EVERSHARD_SETTING_FIELD(Options, peers.secret_file));
  group.path("peers-cert", "Mutual TLS between the processes: this one's certificate chain, PEM.",
             EVERSHARD_SETTING_FIELD(Options, peers.certificate));
  group.path("peers-key", "Its private key, PEM.", EVERSHARD_SETTING_FIELD(Options, peers.key));
  group.path("peers-ca", "The CA of the cluster's certificates, and of nothing else, PEM.",
             EVERSHARD_SETTING_FIELD(Options, peers.ca));
  group.yes_no("peers-unbound-certs",
               "Takes certificates that do not name a node: whoever has one of the CA may be any node.",
               EVERSHARD_SETTING_FIELD(Options, peers.unbound));
  group.yes_no("peers-insecure",
               "Lets processes of other machines in without TLS: what they say can be read and changed on the way.",
               EVERSHARD_SETTING_FIELD(Options, peers.insecure));
}

/// Reads the secret's file.
/// Errors: invalid_argument: neither a secret nor certificates, or what check(LinkOptions) and secret_of_file refuse;
/// io
[[nodiscard]] Result<cluster::LinkOptions> link_options_of(const PeerSettings& peers, cluster::LinkIdentity who);

/// What is less safe than it could be, as asked for: sentences for the log.
[[nodiscard]] std::vector<std::string> unsafe(const cluster::LinkOptions& options);

/// Of a setting's value. Errors: invalid_argument, with where it stands
[[nodiscard]] Result<cluster::HostAndPort> place_of(const settings::Settings& settings, std::string_view name);
/// The same for an address that others are told to go to. Errors: also invalid_argument: an address that nobody can go
/// to
[[nodiscard]] Result<cluster::HostAndPort> target_of(const settings::Settings& settings, std::string_view name);
/// The same of several, with commas between them.
[[nodiscard]] Result<std::vector<cluster::HostAndPort>> targets_of(const settings::Settings& settings,
                                                                   std::string_view name);

}  // namespace evershard::server
