// expects: evershard: the effect has no reply: add .reply
// names: shop::Left
#include "shop.hpp"

Effect<shop::Left> effect = persist(shop::Taken{1});
