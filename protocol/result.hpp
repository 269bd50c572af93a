// Result<T>: a value or an Error. Nothing of ours throws across a module's boundary.

#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "evershard/protocol/error.hpp"

namespace evershard {

template <class T>
using Result = tl::expected<T, Error>;

using Refused = tl::unexpected<Error>;

inline Refused refuse(ErrorCode code, std::string what) { return Refused(Error(code, std::move(what))); }
inline Refused refuse(ErrorCode code, std::string what, ErrorDetails details) {
  return Refused(Error(code, std::move(what), std::move(details)));
}
inline Refused refuse(Error error) { return Refused(std::move(error)); }

}  // namespace evershard

/// Returns the error of `expression` from the enclosing function, if it has one.
#define EVERSHARD_TRY(expression)                                            \
  do {                                                                       \
    if (auto evershard_result = (expression); !evershard_result.has_value()) \
      return ::evershard::Refused(std::move(evershard_result).error());      \
  } while (false)
