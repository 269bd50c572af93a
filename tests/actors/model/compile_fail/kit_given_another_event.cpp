// expects: evershard: given\(...\): this is not one of the aggregate's Events or OldEvents
// names: shop::Left
#include "shop.hpp"

void test() { TestKit<Shop>().given(shop::Left{}); }
