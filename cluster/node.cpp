#include "evershard/cluster/node.hpp"

#include <utility>

#include "evershard/protocol/validate.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::cluster {
Result<std::shared_ptr<Node>> Node::open(storage::StoreOptions options, const Limits& limits) {
  EVERSHARD_TRY(check(limits));
  auto store = storage::open_store(std::move(options));
  if (!store) return refuse(std::move(store).error());
  return std::make_shared<Node>(*std::move(store), limits);
}

Node::Node(std::unique_ptr<storage::Store> store, const Limits& limits)
    : limits_(limits),
      store_(std::move(store)),
      reader_(*store_),
      committer_(*store_, {.limits = limits}) {}

Result<Gate::Pass> Node::enter() {
  auto pass = gate_.enter();
  if (!pass) return refuse(ErrorCode::unavailable, "the store is closed");
  return pass;
}

void Node::close() {
  std::call_once(closed_, [this] {
    gate_.close();      // whoever is inside is answered: the committer still runs
    committer_.stop();  // and so is whatever was sent without waiting; who waits for the watermark is told
    held_.close();      // before the store: what they hold is the store's
    store_->close();
  });
}

}  // namespace evershard::cluster
