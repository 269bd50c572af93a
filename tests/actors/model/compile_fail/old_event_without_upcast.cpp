// expects: evershard: there is no static upcast\(const OldEvent&\) for this event of OldEvents
// names: OldEventRules<Broken, shop::TakenV1>
#include "shop.hpp"

struct Broken : Shop {
  using OldEvents = Types<shop::TakenV1>;
};
auto kind = make_kind<Broken>();
