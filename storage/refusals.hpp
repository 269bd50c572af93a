// What the stores refuse in many places, in a word each.

#pragma once

#include <string>
#include <utility>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

inline Refused corrupt(std::string what) { return refuse(ErrorCode::corruption, std::move(what)); }
inline Refused invalid(std::string what) { return refuse(ErrorCode::invalid_argument, std::move(what)); }

}  // namespace evershard::storage
