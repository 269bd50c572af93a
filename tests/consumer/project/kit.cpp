// The aggregate's test, as its author would write it.

#include <evershard/test_kit.hpp>

#include "counter.hpp"

void test_with_the_kit() {
  consumer::Add add;
  add.set_value(2);
  consumer::Added added;
  added.set_value(2);
  consumer::Count count;
  count.set_value(2);
  evershard::TestKit<Counter> kit;
  kit.given().when(add).then(added).replied(count);
  kit.given().when(consumer::Add{}).rejected("a counter only grows").then();
}
