// expects: evershard: reply\(x\): x is neither of the reply type of the handler's Effect nor a function of the state
// names: shop::Left
#include "shop.hpp"

Effect<shop::Left> effect = persist(shop::Taken{1}).reply(shop::Taken{1});
