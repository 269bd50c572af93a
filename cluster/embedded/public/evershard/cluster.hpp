// A node of a cluster in this process: #include <evershard/cluster.hpp>, evershard::Cluster::join(...).

#pragma once

#include "evershard/cluster/embedded/cluster.hpp"
