#include "evershard/cluster/link/link_reply.hpp"

namespace evershard::cluster {

void LinkReply::operator()(Result<std::string> outcome) {
  if (const auto to = std::exchange(to_, nullptr)) to->answer(node_, session_, number_, std::move(outcome));
}

void LinkReply::drop() {
  if (to_) (*this)(refuse(ErrorCode::timeout, "the outcome is unknown: what was asked gave no answer"));
}

}  // namespace evershard::cluster
