// expects: evershard: apply of this event takes the state by value or by const&
// names: EventRules<Broken, shop::Taken>
#include "shop.hpp"

struct Broken : Shop {
  static void apply(State state, const shop::Taken& e) { state.count -= e.count; }
};
auto kind = make_kind<Broken>();
