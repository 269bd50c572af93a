#include "evershard/doors/server/member_settings.hpp"

#include "evershard/doors/server/peer_settings.hpp"
#include "evershard/doors/server/server_settings.hpp"
#include "evershard/doors/settings/settings_text.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::server {
namespace {

struct Membership {
  std::uint32_t node = 0;
  std::string coordinator{};
  std::string peers_listen = "127.0.0.1:0";
  std::string peers_address{};
  std::string advertise{};
  std::string kurrent_advertise{};
  bool gateway = false;
  std::string zone{};
  std::uint64_t learn_bytes_per_second = 64u << 20;
  bool skip_lost = false;
  PeerSettings peers{};
};

const settings::BoundTable<Membership>& memberships() {
  static const auto all = [] {
    constexpr std::uint64_t node_max = 1'000'000;
    settings::BoundTable<Membership> made;
    settings::BoundTable<Membership>::Group group(made, "cluster");
    settings::bounded(
        group.number("node", "Which node this is, from 1; for good.", EVERSHARD_SETTING_FIELD(Membership, node)), 0,
        node_max);
    group.text("coordinator",
               "Where the coordinator listens: HOST:PORT; of several, all: HOST:PORT,HOST:PORT. One of them leads.",
               EVERSHARD_SETTING_FIELD(Membership, coordinator));
    group.text("peers-listen", "Where this node listens for the others: HOST:PORT; port 0 takes any free one.",
               EVERSHARD_SETTING_FIELD(Membership, peers_listen));
    group.text("peers-address", "Where they reach it: HOST:PORT; without it, where it listens.",
               EVERSHARD_SETTING_FIELD(Membership, peers_address));
    group.text("advertise", "Where clients are told to reach its gRPC door: HOST:PORT; without it, its first `listen`.",
               EVERSHARD_SETTING_FIELD(Membership, advertise));
    group.text("kurrent-advertise",
               "Where KurrentDB's clients are told to reach it: HOST:PORT; without it, its first `kurrent-listen`.",
               EVERSHARD_SETTING_FIELD(Membership, kurrent_advertise));
    group.yes_no(
        "gateway",
        "It is given no shards: it serves what the other nodes have, and its data directory can be lost without harm.",
        EVERSHARD_SETTING_FIELD(Membership, gateway));
    group.text("zone",
               "What may fail together with this node, such as a rack: replicas of a shard are put into different "
               "zones, where there are as many. Without it, nothing.",
               EVERSHARD_SETTING_FIELD(Membership, zone));
    group.size("learn-rate",
               "At most so many bytes a second are fetched of shards that this node is to keep and does not have yet. "
               "0: as fast as they come.",
               EVERSHARD_SETTING_FIELD(Membership, learn_bytes_per_second));
    group.yes_no("skip-lost",
                 "Reads pass over events that an operator gave up with `cluster assign --accept-loss`, instead of "
                 "being refused.",
                 EVERSHARD_SETTING_FIELD(Membership, skip_lost));
    add_peers<Membership>(group);
    return made;
  }();
  return all;
}

Refused needed(std::string_view name, std::string_view what) {
  return refuse(ErrorCode::invalid_argument, std::string(name) + " is needed: " + std::string(what) + "; --" +
                                                 std::string(name) + ", " + settings::environment_name(name) + ", or " +
                                                 std::string(name) + " in a file");
}

}  // namespace

const settings::Table& membership_settings() {
  static const settings::Table table = memberships().table();
  return table;
}

const settings::Table& member_settings() {
  static const settings::Table table = [] {
    auto made = server_settings();
    made.insert(made.end(), membership_settings().begin(), membership_settings().end());
    return made;
  }();
  return table;
}

Result<MemberOptions> member_options_of(const settings::Settings& settings) {
  const auto given = memberships().options(settings);
  if (given.node == 0) return needed("node", "the node's number, from 1, for good");
  if (given.coordinator.empty()) return needed("coordinator", "where the coordinator listens, HOST:PORT");
  MemberOptions member;
  member.node = given.node;
  cluster::LinkIdentity who;
  who.node = cluster::on_links(member.node);
  who.role = cluster::NodeRole::node;
  who.shards = static_cast<std::uint32_t>(settings.value("shards").number);
  who.hash = sharding::hash_id;
  auto link = link_options_of(given.peers, std::move(who));
  if (!link) return refuse(std::move(link).error());
  const auto listen = place_of(settings, "peers-listen");
  if (!listen) return refuse(listen.error());
  auto coordinators = targets_of(settings, "coordinator");
  if (!coordinators) return refuse(std::move(coordinators).error());
  EVERSHARD_TRY(cluster::check_host(*link, listen->host));
  for (const auto& coordinator : *coordinators) EVERSHARD_TRY(cluster::check_host(*link, coordinator.host));
  if (!given.peers_address.empty())
    EVERSHARD_TRY(target_of(settings, "peers-address"));
  else if (cluster::is_of_all(*listen))
    return needed("peers-address",
                  "peers-listen stands for all addresses of this machine: where do the others reach it, HOST:PORT");
  if (!given.advertise.empty()) EVERSHARD_TRY(target_of(settings, "advertise"));
  if (!given.kurrent_advertise.empty()) EVERSHARD_TRY(target_of(settings, "kurrent-advertise"));
  if (!settings.value("keys").text.empty())
    return settings::unfit(settings, "keys",
                           "is no setting of a node: in a cluster the keys lie at the coordinator, so give it to that");
  member.links.link = *std::move(link);
  member.links.listen_host = listen->host;
  member.links.listen_port = listen->port;
  member.links.coordinators = *std::move(coordinators);
  member.address = given.peers_address;
  member.door = given.advertise;
  member.kurrent_door = given.kurrent_advertise;
  member.gateway = given.gateway;
  member.zone = given.zone;
  member.learn_bytes_per_second = given.learn_bytes_per_second;
  member.skip_lost = given.skip_lost;
  return member;
}

std::string member_configuration_sample() {
  return "# Settings of a node of an Evershard cluster. Each is shown with its default; docs/configuration.md has the "
         "rest.\n"
         "# `evershard node --config THIS_FILE --check` says what is in force, from where, and what is wrong.\n\n" +
         settings::sample_file_of(member_settings());
}

}  // namespace evershard::server
