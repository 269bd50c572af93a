// expects: evershard: the aggregate has several handlers for this command
// names: CommandRules<Broken, shop::Take>
#include "shop.hpp"

struct All {
  using Events = Types<shop::Taken>;
  static Query query(const shop::Take&) { return Query::all(); }
  void apply(const shop::Taken&) {}
};
struct Broken : Shop {
  using Views = Types<All>;
  using Shop::on;
  static Effect<shop::Left> on(const State&, const shop::Take&, const All&) { return reply(left); }
};
auto kind = make_kind<Broken>();
