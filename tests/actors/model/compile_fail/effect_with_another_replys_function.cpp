// expects: evershard: reply\(f\): f\(const State&\) does not give the reply type of the handler's Effect
// names: shop::Left
#include "shop.hpp"

Effect<shop::Left> effect = reply([](const shop::Stock&) { return shop::Taken{}; });
