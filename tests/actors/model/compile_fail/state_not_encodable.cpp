// expects: evershard: the aggregate's State cannot be encoded
// names: AggregateRules<Broken>
#include "shop.hpp"

struct Broken : Shop {
  using State = shop::Plain;
};
auto kind = make_kind<Broken>();
