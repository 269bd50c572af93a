// expects: evershard: this is not the command's reply type
// names: shop::Taken
#include "shop.hpp"

Answer<shop::Left> answer(AnyAnswer::rejected("", SeqNr{0}));
Answer<shop::Taken> wrong = answer;
