// The whole store in one process: #include <evershard/local.hpp>, evershard::Local::open(...).

#pragma once

#include "evershard/local/local.hpp"
