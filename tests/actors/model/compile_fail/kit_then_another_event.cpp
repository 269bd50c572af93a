// expects: evershard: then\(...\): this is not one of the aggregate's Events
// names: shop::Left
#include "shop.hpp"

void test() { TestKit<Shop>().given().when(shop::Take{}).then(shop::Left{}); }
