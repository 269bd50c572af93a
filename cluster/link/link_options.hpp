// LinkOptions: who a process is on the link, how peers are known from strangers, and what is refused as unsafe.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/link/session/hello.hpp"
#include "evershard/cluster/link/session/limits.hpp"

namespace evershard::cluster {

/// Mutual TLS 1.3. The CA must be the cluster's own. A certificate says whose it is by a URI among its alternative
/// names, see member_uri.
struct LinkTls {
  std::filesystem::path certificate{};  ///< PEM, with its chain; used when dialling and when dialled
  std::filesystem::path key{};          ///< PEM, without a passphrase
  std::filesystem::path ca{};           ///< PEM
  /// Takes certificates that name no member: a process with any certificate of the CA may be any node. The own
  /// certificate is not looked at.
  bool unbound = false;
};

/// Where a peer listens.
struct PeerAddress {
  NodeNumber node{};
  std::string host{};
  std::uint16_t port = 0;
  std::string name{};  ///< what the peer's certificate must be for; empty: the host
  /// Where it may be instead: of several processes that may be this peer, one is at a time. Tried in turn.
  std::vector<HostAndPort> elsewhere{};
};

struct LinkOptions {
  LinkIdentity who{};  ///< `process` 0: a random one
  LinkLimits limits{};
  std::string secret{};  ///< shared by all processes; shown by proof, never sent. Empty: none
  std::optional<LinkTls> tls{};
  bool insecure = false;            ///< without TLS, let others than this machine in
  std::size_t greetings_max = 256;  ///< connections that have not shown who they are; of more, the oldest goes
  std::size_t peers_max = 1'024;
  LinkVersions versions{};  ///< this release's; others only to play another release in a test
};

/// How a certificate names a process: `evershard://CLUSTER/node/3`, `evershard://CLUSTER/coordinator` (number 0, and
/// those that stand by). In the cluster's name, what is neither letter nor digit nor one of -._~ is %XX.
[[nodiscard]] std::string member_uri(const LinkIdentity& who);

/// Without reading a file.
///
/// Errors: invalid_argument: an identity or a limit that cannot be; neither secret nor TLS; a secret that is short
[[nodiscard]] Result<void> check(const LinkOptions& options);
/// Whether that may be listened at, or dialled.
///
/// Errors: invalid_argument: from other machines, without TLS, unless LinkOptions::insecure
[[nodiscard]] Result<void> check_host(const LinkOptions& options, std::string_view host);
/// 127.x.y.z, ::1, localhost. Other names are not: they may mean anything.
[[nodiscard]] bool is_loopback(std::string_view host);

/// What a file holds, without blanks and newlines around it. `whose`: "the link's secret", for the error.
///
/// Errors: io: it cannot be read; invalid_argument: others than its owner may read it, or it is too long. No error
/// shows what is in it
[[nodiscard]] Result<std::string> text_of_secret_file(const std::filesystem::path& path, std::string_view whose);
/// The link's. Errors: those above; invalid_argument: it is short
[[nodiscard]] Result<std::string> secret_of_file(const std::filesystem::path& path);

}  // namespace evershard::cluster
