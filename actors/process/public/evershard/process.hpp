// What a process is written with, and run with: #include <evershard/process.hpp>. The store comes with its own header.

#pragma once

#include "evershard/actors/process/effects.hpp"
#include "evershard/actors/process/process_aggregate.hpp"
#include "evershard/actors/process/process_definition.hpp"
#include "evershard/actors/process/process_door.hpp"
#include "evershard/actors/process/reaction.hpp"
