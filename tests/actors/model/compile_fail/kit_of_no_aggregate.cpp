// expects: evershard: the aggregate has no static void apply
// names: EventRules<Broken, shop::Left>
#include "shop.hpp"

struct Broken : Shop {
  using Events = Types<shop::Taken, shop::Left>;
};
TestKit<Broken> kit;
