// expects: evershard: this event is listed twice in Events
// names: EventRules<Broken, shop::Taken>
#include "shop.hpp"

struct Broken : Shop {
  using Events = Types<shop::Taken, shop::Taken>;
};
auto kind = make_kind<Broken>();
