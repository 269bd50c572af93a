// expects: evershard: the aggregate has no `using State
// names: AggregateRules<Broken>
#include "shop.hpp"

struct Broken {
  static constexpr std::string_view type = "broken";
  using Commands = Types<>;
  using Events = Types<shop::Taken>;
};
auto kind = make_kind<Broken>();
