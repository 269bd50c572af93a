// expects: evershard: the aggregate has no static on\(const State&, const Command&\) for this command
// names: CommandRules<Broken, shop::Left>
#include "shop.hpp"

struct Broken : Shop {
  using Commands = Types<shop::Take, shop::Left>;
};
auto kind = make_kind<Broken>();
