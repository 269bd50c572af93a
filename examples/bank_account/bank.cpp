// `evershard` with the bank's aggregates in it: what an account was at any version, exactly, on the command line.
//
//   bank aggregate state bank_account-ann --data DIR --version 2
//   bank aggregate history bank_account-bob --data DIR      on a store that bank_account made: bank_account DIR

#include <evershard/command_line.hpp>

#include "examples/bank_account/bank_account.hpp"

int main(int argc, char** argv) { return evershard::command_line<BankAccount>(argc, argv); }
