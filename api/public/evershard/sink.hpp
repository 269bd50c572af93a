// A projection whose rows lie in a database of the application's: #include <evershard/sink.hpp>,
// evershard::Sink::begin(...).

#pragma once

#include "evershard/api/sink.hpp"
