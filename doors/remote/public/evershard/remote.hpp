// The store of a server, as if it were here: #include <evershard/remote.hpp>, evershard::Remote::connect(...).

#pragma once

#include "evershard/doors/remote/remote.hpp"
