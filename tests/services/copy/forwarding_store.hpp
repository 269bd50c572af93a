// ForwardingStore: a store that is another one, for tests that change a call or two.

#pragma once

#include "evershard/api/event_store.hpp"

namespace evershard::testing {

class ForwardingStore : public ForwardedEvents {
 public:
  explicit ForwardingStore(EventStore& to) : to_(to) {}

 protected:
  EventStore& to_;

 private:
  [[nodiscard]] EventStore& events() const override { return to_; }
};

}  // namespace evershard::testing
