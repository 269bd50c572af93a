// TableFault: why an event cannot have its effect on a table.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/error.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

struct TableFault {
  enum class Kind : std::uint8_t {
    store = 0,    ///< rows cannot be read: no policy helps
    unique = 1,   ///< two rows would have the same unique value
    value = 2,    ///< a value that is missing, of another type, too long; a field that is not there
    handler = 3,  ///< it threw
  };
  Kind kind{};
  Error error;
};

template <class T>
using Faultable = tl::expected<T, TableFault>;
using Faulted = tl::unexpected<TableFault>;

inline Faulted fault(TableFault::Kind kind, ErrorCode code, std::string what) {
  return Faulted(TableFault{kind, Error(code, std::move(what))});
}
inline Faulted bad_value(std::string what) {
  return fault(TableFault::Kind::value, ErrorCode::invalid_argument, std::move(what));
}
inline Faulted rows_failed(Error error) { return Faulted(TableFault{TableFault::Kind::store, std::move(error)}); }

/// `unique`, `value`, `handler`, `store`
[[nodiscard]] std::string_view name_of(TableFault::Kind kind);

}  // namespace evershard::actors
