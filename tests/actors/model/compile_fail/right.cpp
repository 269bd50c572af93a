#include "shop.hpp"

auto kind = make_kind<Shop>();
void test() { TestKit<Shop>().given(shop::Taken{}).when(shop::Take{1}).then(shop::Taken{1}).replied(shop::Left{1}); }
Answer<shop::Left> answer(AnyAnswer::rejected("", SeqNr{0}));
