// Tests of aggregates with the real actors: #include <evershard/actor_kit.hpp>.

#pragma once

#include "evershard/actors/kit/actor_kit.hpp"
#include "evershard/actors/model/aggregate_ref.hpp"
#include "evershard/actors/model/typed_kind.hpp"
