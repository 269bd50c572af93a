// cut_back: a cut as it would be had nothing behind one of its positions been appended.

#pragma once

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"

namespace evershard::sharding {

/// The same cut, ended with `last`: the segments and offsets behind it are gone. A segment whose events all stay keeps
/// its refused offsets; openings stay, since an epoch that was begun is not begun again.
///
/// Shape: `last` is one of the cut's positions.
Cut cut_back(const Cut& cut, GlobalPosition last);

}  // namespace evershard::sharding
