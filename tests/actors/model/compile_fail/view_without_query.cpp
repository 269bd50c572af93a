// expects: evershard: the view has no static evershard::Query query\(const Command&\) for this command
// names: ViewRules<All, shop::Take>
#include "shop.hpp"

struct All {
  using Events = Types<shop::Taken>;
  void apply(const shop::Taken&) {}
};
struct Broken : Shop {
  using Views = Types<All>;
  static Effect<shop::Left> on(const State&, const shop::Take&, const All&) { return reply(left); }
  static shop::Left on(const State& state, const shop::Look&) { return left(state); }
};
auto kind = make_kind<Broken>();
