// expects: evershard: reply\(x\): x is neither of the reply type of the handler's Effect nor a function of the state
#include "shop.hpp"

Effect<shop::Left> effect = reply([](const auto& state) { return shop::Left{state.count}; });
