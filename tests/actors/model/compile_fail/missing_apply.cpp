// expects: evershard: the aggregate has no static void apply\(State&, const Event&\) for this event
// names: EventRules<Broken, shop::Left>
#include "shop.hpp"

struct Broken : Shop {
  using Events = Types<shop::Taken, shop::Left>;
};
auto kind = make_kind<Broken>();
