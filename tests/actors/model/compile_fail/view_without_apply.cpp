// expects: evershard: the view has no void apply\(const Event&\)
// names: ViewEventRules<All, shop::Taken>
#include "shop.hpp"

struct All {
  using Events = Types<shop::Taken>;
  static Query query(const shop::Take&) { return Query::all(); }
};
struct Broken : Shop {
  using Views = Types<All>;
  static Effect<shop::Left> on(const State&, const shop::Take&, const All&) { return reply(left); }
  static shop::Left on(const State& state, const shop::Look&) { return left(state); }
};
auto kind = make_kind<Broken>();
