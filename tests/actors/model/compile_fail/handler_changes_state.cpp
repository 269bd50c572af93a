// expects: evershard: the handler of this command takes State&: it must take const State&
// names: CommandRules<Broken, shop::Take>
#include "shop.hpp"

struct Broken : Shop {
  static Effect<shop::Left> on(State&, const shop::Take&) { return reply(left); }
  static shop::Left on(const State& state, const shop::Look&) { return left(state); }
};
auto kind = make_kind<Broken>();
