// Handlers of tables in C++: #include <evershard/tables.hpp>, local.add_table_handler(...), TypedTableHandler,
// TableChanges, TableRow.

#pragma once

#include "evershard/local/local.hpp"
#include "evershard/services/names/typed_table_handler.hpp"
#include "evershard/services/tables/table_changes.hpp"

namespace evershard {

using actors::TableChanges;
using actors::TableRow;

}  // namespace evershard
