// IfThere: what a create does where one of that name is there.

#pragma once

namespace evershard {

enum class IfThere : bool {
  refuse,  ///< already_exists
  give,    ///< it is given as it is, if its definition is the same; else already_exists
};

}  // namespace evershard
