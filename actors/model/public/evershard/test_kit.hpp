// Tests of aggregates: #include <evershard/test_kit.hpp>.

#pragma once

#include "evershard/actors/model/test_kit.hpp"
