// The command line with the counter in it.

#include <evershard/command_line.hpp>

#include "counter.hpp"

int main(int argc, char** argv) { return evershard::command_line<Counter>(argc, argv); }
