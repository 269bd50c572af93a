// expects: evershard: replied\(...\): this is not the command's reply type
// names: shop::Taken
#include "shop.hpp"

void test() { TestKit<Shop>().given().when(shop::Take{}).replied(shop::Taken{}); }
