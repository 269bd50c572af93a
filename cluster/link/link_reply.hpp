// LinkReply and LinkReceipt: what a handler owes to whom it was asked by.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "evershard/cluster/link/session/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Takes what comes back from handlers, from any thread, also when the link has ended.
class LinkReturns {
 public:
  virtual ~LinkReturns() = default;
  virtual void answer(NodeNumber node, SessionNumber session, CallNumber number, Result<std::string> outcome) = 0;
  virtual void release(NodeNumber node, SessionNumber session, std::uint64_t cost) = 0;
};

/// The answer to one request: given once, from any thread, at any time. Dropped without one, the caller hears
/// `timeout`.
class LinkReply {
 public:
  LinkReply() = default;
  LinkReply(std::shared_ptr<LinkReturns> to, NodeNumber node, SessionNumber session, CallNumber number)
      : to_(std::move(to)), node_(node), session_(session), number_(number) {}
  LinkReply(LinkReply&&) = default;
  LinkReply& operator=(LinkReply&& other) noexcept {
    drop();
    to_ = std::move(other.to_), node_ = other.node_, session_ = other.session_, number_ = other.number_;
    return *this;
  }
  ~LinkReply() { drop(); }

  /// Nothing happens when it was called before.
  void operator()(Result<std::string> outcome);

 private:
  void drop();

  std::shared_ptr<LinkReturns> to_;
  NodeNumber node_{};
  SessionNumber session_{};
  CallNumber number_{};
};

/// The memory of one message: given back when it is destroyed.
class LinkReceipt {
 public:
  LinkReceipt() = default;
  LinkReceipt(std::shared_ptr<LinkReturns> to, NodeNumber node, SessionNumber session, std::uint64_t cost)
      : to_(std::move(to)), node_(node), session_(session), cost_(cost) {}
  LinkReceipt(LinkReceipt&&) = default;
  LinkReceipt& operator=(LinkReceipt&& other) noexcept {
    give_back();
    to_ = std::move(other.to_), node_ = other.node_, session_ = other.session_, cost_ = other.cost_;
    return *this;
  }
  ~LinkReceipt() { give_back(); }

 private:
  void give_back() {
    if (const auto to = std::exchange(to_, nullptr)) to->release(node_, session_, cost_);
  }

  std::shared_ptr<LinkReturns> to_;
  NodeNumber node_{};
  SessionNumber session_{};
  std::uint64_t cost_ = 0;
};

}  // namespace evershard::cluster
