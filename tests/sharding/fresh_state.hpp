// The state of an order that holds nothing yet.

#pragma once

#include <cstddef>

#include "evershard/sharding/ordering.hpp"

namespace evershard::sharding {

inline OrderState fresh(std::size_t shards) {
  OrderState state;
  state.shards.resize(shards);
  return state;
}

}  // namespace evershard::sharding
