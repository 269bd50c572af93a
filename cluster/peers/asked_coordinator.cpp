#include "evershard/cluster/peers/asked_coordinator.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "evershard/api/messages/cluster_messages.hpp"
#include "evershard/cluster/link/links.hpp"
#include "evershard/cluster/peers/leader_link.hpp"
#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/cluster/peers/peer_messages.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds again_pause{50};

}  // namespace

Result<ClusterStatus> status_of_coordinator(LinkOptions options, const std::vector<HostAndPort>& places,
                                            std::chrono::milliseconds timeout) {
  options.who.role = NodeRole::coordinator;
  options.who.shards = 0;
  options.who.hash = sharding::hash_id;
  options.who = standing_by(options.who);
  options.limits.queue_time_max = timeout;
  struct Refused {
    std::mutex mutex;
    std::string why;
  };
  const auto refused = std::make_shared<Refused>();
  LinkHandlers handlers;
  handlers.on_refused = [refused](const std::string&, const Error& why) {
    const std::lock_guard lock(refused->mutex);
    // What the leader says weighs more than that others, who stand by, take nobody in.
    if (refused->why.empty() || why.code != ErrorCode::unavailable) refused->why = why.what;
  };
  auto links = Links::open(std::move(options), std::move(handlers));
  if (!links) return refuse(std::move(links).error());
  PeerAddress coordinator{coordinator_on_links, places.front().host, places.front().port};
  coordinator.elsewhere.assign(places.begin() + 1, places.end());
  EVERSHARD_TRY((*links)->dial(std::move(coordinator)));
  const auto ask = [&](std::chrono::milliseconds left) {
    std::promise<Result<std::string>> answered;
    (*links)->request(coordinator_on_links, MessageKind{static_cast<std::uint16_t>(PeerKind::cluster_status)}, {}, left,
                      [&](Result<std::string> outcome) { answered.set_value(std::move(outcome)); });
    return answered.get_future().get();
  };
  const auto until = std::chrono::steady_clock::now() + timeout;
  auto bytes = ask(timeout);
  // One that begins or ceases to lead says so: it, or another one, leads in a moment.
  while (!bytes && bytes.error().code == ErrorCode::unavailable) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()) - again_pause;
    if (left.count() <= 0) break;
    std::this_thread::sleep_for(again_pause);
    bytes = ask(left);
  }
  (*links)->stop();
  if (!bytes) {
    std::string all;
    for (const auto& place : places) all += (all.empty() ? "" : ", ") + text_of(place);
    const std::lock_guard lock(refused->mutex);
    return refuse(bytes.error().code, "no coordinator answers at " + all + ": " +
                                          (refused->why.empty() ? bytes.error().what : refused->why));
  }
  v1::ClusterStatusResponse message;
  ClusterStatus status;
  if (!message.ParseFromString(*bytes)) return refuse(ErrorCode::corruption, "the coordinator's status is malformed");
  EVERSHARD_TRY(messages::get(message, status));
  return status;
}

}  // namespace evershard::cluster
