#include "bench/peers/peer.hpp"

namespace evershard::bench {

Result<void> Peer::start() {
  port_ = free_port();
  auto process = PeerProcess::start(setup_.program, words(), port_, setup_.folder);
  if (!process) return refuse(std::move(process).error());
  process_ = std::move(*process);
  return {};
}

Result<void> Peer::restart_cold() {
  process_.reset();
  drop_pages(setup_.folder);
  return start();
}

Result<void> Peer::restart_with_cache(std::uint64_t bytes) {
  process_.reset();
  setup_.cache_bytes = bytes;
  return start();
}

}  // namespace evershard::bench
