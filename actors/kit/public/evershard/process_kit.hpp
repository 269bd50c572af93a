// Tests of processes and timers with the runtime: #include <evershard/process_kit.hpp>.

#pragma once

#include <evershard/process.hpp>

#include "evershard/actors/kit/process_kit.hpp"
