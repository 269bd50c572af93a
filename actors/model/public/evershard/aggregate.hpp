// What an aggregate is written with: #include <evershard/aggregate.hpp>. It pulls in neither the runtime nor the store.

#pragma once

#include "evershard/actors/model/aggregate_ref.hpp"
#include "evershard/actors/model/effect.hpp"
#include "evershard/actors/model/rules.hpp"
#include "evershard/actors/model/typed_answer.hpp"
#include "evershard/actors/model/typed_event.hpp"
#include "evershard/actors/model/typed_kind.hpp"
