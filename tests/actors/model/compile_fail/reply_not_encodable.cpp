// expects: evershard: what the handler of this command replies cannot be encoded
// names: CommandRules<Broken, shop::Look>
#include "shop.hpp"

struct Broken : Shop {
  static Effect<shop::Left> on(const State&, const shop::Take&) { return reply(left); }
  static shop::Plain on(const State&, const shop::Look&) { return {}; }
};
auto kind = make_kind<Broken>();
