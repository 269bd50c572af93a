// expects: evershard: this event cannot be encoded
// names: EventRules<Broken, shop::Plain>
#include "shop.hpp"

struct Broken : Shop {
  using Events = Types<shop::Taken, shop::Plain>;
  using Shop::apply;
  static void apply(State&, const shop::Plain&) {}
};
auto kind = make_kind<Broken>();
