// expects: evershard: the aggregate has no static on\(const State&, const Command&\) for this command, nor one with a
// view of Views names: CommandRules<Broken, shop::Take>
#include "shop.hpp"

struct All {
  using Events = Types<shop::Taken>;
  static Query query(const shop::Take&) { return Query::all(); }
  void apply(const shop::Taken&) {}
};
struct Broken : Shop {
  static Effect<shop::Left> on(const State&, const shop::Take&, const All&) { return reply(left); }
  static shop::Left on(const State& state, const shop::Look&) { return left(state); }
};
auto kind = make_kind<Broken>();
