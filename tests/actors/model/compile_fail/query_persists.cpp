// expects: evershard: a handler that returns its reply itself is a query and cannot persist
// names: shop::Left
#include "shop.hpp"

struct Broken : Shop {
  using Shop::on;
  static shop::Left on(const State&, const shop::Look&) { return persist(shop::Taken{1}).reply(left); }
};
auto kind = make_kind<Broken>();
