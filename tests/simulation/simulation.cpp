#include "tests/simulation/simulation.hpp"

#include "tests/simulation/hosts.hpp"

namespace evershard::simulation {

Simulation::Simulation(SimulationOptions options)
    : options_(std::move(options)), network_(options_.seed), history_(options_.shards), log_(options_.shards) {}

Simulation::~Simulation() = default;

SimulationOutcome Simulation::run() {
  constexpr std::uint64_t clients = 3;
  try {
    if (options_.off == Off::log_sync) log_.stop_syncing();
    if (options_.processes) played_ = std::make_unique<Played>(options_.shards);
    elect();
    for (std::uint32_t n = 1; n <= options_.nodes; ++n) {
      nodes_.push_back(std::make_unique<Node>());
      nodes_.back()->number = n;
    }
    for (auto& node : nodes_) start(*node);
    for (std::uint64_t n = 0; n != clients; ++n) client(n);
    network_.after(Network::second, [this] { fault(); });
    for (; steps_ != options_.steps; ++steps_) network_.step();
    come_to_rest();
  } catch (const Broken& broken) {
    outcome_.invariant = broken.invariant();
    outcome_.what = broken.what();
    tell(broken.what());
  }
  outcome_.steps = steps_;
  outcome_.placed = history_.sequence().size();
  outcome_.placed_over_several = history_.placed_over_several;
  outcome_.placed_conditional = history_.placed_conditional;
  outcome_.refused_conditional = history_.refused_conditional;
  outcome_.pages = history_.pages;
  outcome_.losses = history_.losses;
  outcome_.snapshots = history_.snapshots;
  outcome_.letters = letters_.counts;
  return std::move(outcome_);
}

}  // namespace evershard::simulation
