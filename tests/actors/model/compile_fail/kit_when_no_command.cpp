// expects: evershard: when\(...\): this is not one of the aggregate's Commands
// names: shop::Taken
#include "shop.hpp"

void test() { TestKit<Shop>().given().when(shop::Taken{}); }
