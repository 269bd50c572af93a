// expects: evershard: the aggregate has no logical name
// names: AggregateRules<Broken>
#include "shop.hpp"

struct Broken {
  using State = shop::Stock;
  using Commands = Types<>;
  using Events = Types<shop::Taken>;
  static void apply(State&, const shop::Taken&) {}
};
auto kind = make_kind<Broken>();
