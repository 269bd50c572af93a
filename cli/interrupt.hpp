// Interrupt: Ctrl-C and SIGTERM ask a command to stop at its next safe point; the second one stops it at once.

#pragma once

namespace evershard::cli {

/// Once, before any thread is started. Also: a closed pipe is an error of write(), not the end of the process.
void listen_for_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace evershard::cli
