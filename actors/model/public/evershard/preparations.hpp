// What commands ask before they are decided: #include <evershard/preparations.hpp>, where aggregates are hosted.

#pragma once

#include "evershard/actors/model/preparations.hpp"
