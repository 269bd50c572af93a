// An aggregate's state, followed: #include <evershard/state_feed.hpp>, evershard::StateFeed<BankAccount>.

#pragma once

#include "evershard/services/states/state_feed.hpp"
