#include "evershard/sharding/watermark.hpp"

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

void Watermark::decide(GlobalPosition position) {
  EVERSHARD_CHECK(position >= decided_, "what is decided never goes back");
  decided_ = position;
}

void Watermark::show(GlobalPosition position) {
  EVERSHARD_CHECK(position >= shown_, "what is shown never goes back");
  EVERSHARD_CHECK(position <= decided_, "only what was decided is shown");
  shown_ = position;
}

}  // namespace evershard::sharding
