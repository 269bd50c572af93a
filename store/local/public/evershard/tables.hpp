// Handlers of tables in C++: #include <evershard/tables.hpp>, local.add_table_handler(...), TypedTableHandler,
// TableChanges, TableRow.

#pragma once

#include "evershard/store/local/local.hpp"
#include "evershard/store/names/typed_table_handler.hpp"
#include "evershard/views/table/table_changes.hpp"

namespace evershard {

using actors::TableChanges;
using actors::TableRow;

}  // namespace evershard
