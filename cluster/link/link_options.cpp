#include "evershard/cluster/link/link_options.hpp"

#include <arpa/inet.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "evershard/cluster/link/session/secret_proof.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/percent.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t secret_file_bytes_max = 4'096;

Refused wrong_option(std::string what) { return refuse(ErrorCode::invalid_argument, std::move(what)); }

Result<void> check_secret(const std::string& secret) {
  if (secret.size() >= secret_bytes_min) return {};
  return wrong_option("the link's secret has " + std::to_string(secret.size()) + " bytes: fewer than " +
                      std::to_string(secret_bytes_min) + " can be guessed");
}

}  // namespace

std::string member_uri(const LinkIdentity& who) {
  std::string uri = "evershard://" + percent_encoded(who.cluster);
  const bool stands_by = who.role == NodeRole::coordinator && who.node.value >= standby_numbers_from;
  return uri + (who.node.value == 0 || stands_by ? "/coordinator" : "/node/" + std::to_string(who.node.value));
}

Result<void> check(const LinkOptions& options) {
  const auto& who = options.who;
  if (who.cluster.empty() || who.cluster.size() > 64)
    return wrong_option("the cluster id has " + std::to_string(who.cluster.size()) + " bytes, not from 1 to 64");
  if ((who.shards == 0 && !may_ask_shards(who)) || who.shards > shards_max) {
    return wrong_option("the shard count is " + std::to_string(who.shards) + ", not from 1 to " +
                        std::to_string(shards_max));
  }
  if (options.greetings_max == 0 || options.peers_max == 0)
    return wrong_option("greetings_max and peers_max must be above 0: nobody could connect");
  if (options.versions.oldest == 0 || options.versions.oldest > options.versions.newest)
    return wrong_option("the versions spoken are none");
  EVERSHARD_TRY(check(options.limits));
  if (options.secret.empty() && !options.tls)
    return wrong_option("the link needs a shared secret or TLS: without them anybody could be a node");
  if (!options.secret.empty()) EVERSHARD_TRY(check_secret(options.secret));
  if (options.tls && (options.tls->certificate.empty() || options.tls->key.empty() || options.tls->ca.empty())) {
    return wrong_option("the link's TLS needs a certificate, its key and the cluster's CA: both sides show theirs");
  }
  return {};
}

bool is_loopback(std::string_view host) {
  const std::string text(host);
  in_addr four{};
  if (::inet_pton(AF_INET, text.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (::inet_pton(AF_INET6, text.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

Result<void> check_host(const LinkOptions& options, std::string_view host) {
  if (options.tls || options.insecure || is_loopback(host)) return {};
  return wrong_option(
      in_quotes(host, 200) +
      " is reached over a network, and the link has no TLS: what it carries could be read and changed on the way;"
      " give certificates (peers-cert, peers-key, peers-ca), or allow it with peers-insecure");
}

Result<std::string> text_of_secret_file(const std::filesystem::path& path, std::string_view whose) {
  const std::string name = std::string(whose) + " file " + in_quotes(path.string(), 300);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    return refuse(ErrorCode::io, name + " is not there, or is no file");
  if ((status.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) != 0)
    return wrong_option(name + " can be read or written by others: chmod 600");
  if (static_cast<std::size_t>(status.st_size) > secret_file_bytes_max)
    return wrong_option(name + " is larger than 4096 bytes");
  std::ifstream in(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) return refuse(ErrorCode::io, name + " cannot be read");
  constexpr const char* blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  text = first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
  return text;
}

Result<std::string> secret_of_file(const std::filesystem::path& path) {
  auto text = text_of_secret_file(path, "the link's secret");
  if (text) EVERSHARD_TRY(check_secret(*text));
  return text;
}

}  // namespace evershard::cluster
