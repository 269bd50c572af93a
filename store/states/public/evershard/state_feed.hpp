// An aggregate's state, followed: #include <evershard/state_feed.hpp>, evershard::StateFeed<BankAccount>.

#pragma once

#include "evershard/store/states/state_feed.hpp"
