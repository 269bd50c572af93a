// expects: evershard: upcast of this event gives neither an event of Events or OldEvents
// names: OldEventRules<Broken, shop::TakenV1>
#include "shop.hpp"

struct Broken : Shop {
  using OldEvents = Types<shop::TakenV1>;
  static std::optional<shop::Left> upcast(const shop::TakenV1&) { return {}; }
};
auto kind = make_kind<Broken>();
