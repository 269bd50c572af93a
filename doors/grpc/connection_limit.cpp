#include "evershard/doors/grpc/connection_limit.hpp"

#include <iterator>
#include <utility>

namespace evershard::door {
namespace {

constexpr auto looks_every = std::chrono::milliseconds(100);
constexpr auto retry_after = std::chrono::milliseconds(1'000);

}  // namespace

std::optional<ConnectionLimit::Refusal> ConnectionLimit::ask(const std::string& peer, Clock::time_point now) {
  if (peer.starts_with("unix")) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (answered_.contains(peer)) return std::nullopt;
  if (answered_.size() >= most_ && (!looked_at_ || now - *looked_at_ >= looks_every)) {
    looked_at_ = now;
    forget_gone();
  }
  if (answered_.size() < most_) {
    answered_.insert(peer);
    refused_.erase(peer);
    return std::nullopt;
  }
  const std::string what = "the server has the " + std::to_string(most_) +
                           " connections that it may have (max-connections); this one is one more";
  const bool first = refused_.size() < most_ ? refused_.insert(peer).second : !refused_.contains(peer);
  return Refusal{{ErrorCode::overloaded, what}, retry_after, first};
}

void ConnectionLimit::forget_gone() {
  auto peers = open_();
  const Peers open(std::make_move_iterator(peers.begin()), std::make_move_iterator(peers.end()));
  const auto gone = [&](const std::string& peer) { return !open.contains(peer); };
  std::erase_if(answered_, gone);
  std::erase_if(refused_, gone);
}

}  // namespace evershard::door
