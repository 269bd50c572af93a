// expects: evershard: persist\(\) without events
#include "shop.hpp"

Effect<> effect = persist();
