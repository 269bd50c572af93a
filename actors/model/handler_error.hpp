// What a user's code threw, as an Error: in one place, so that nothing of it goes further.

#pragma once

#include <string>
#include <typeinfo>

#include "evershard/protocol/error.hpp"

namespace evershard {

/// To be called in `catch (...)`. Returns: `<what_ran> threw: <what()>`.
[[nodiscard]] Error thrown(ErrorCode code, const std::string& what_ran);
/// The name of a C++ type as a person writes it: for errors and tests, never for the disk.
[[nodiscard]] std::string cpp_name(const std::type_info& type);

}  // namespace evershard
