// The program `evershard`.

#include "evershard/command_line.hpp"

int main(int argc, char** argv) { return evershard::command_line<>(argc, argv); }
