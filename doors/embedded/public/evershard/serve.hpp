// The doors of `evershard serve` in a program of one's own: #include <evershard/serve.hpp>,
// auto doors = evershard::serve(store, {.listen = {"127.0.0.1:7420"}, .http_listen = "127.0.0.1:7421"});

#pragma once

#include "evershard/doors/embedded/serve.hpp"
