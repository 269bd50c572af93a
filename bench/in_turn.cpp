#include "evershard/bench/in_turn.hpp"

#include <algorithm>
#include <cstdio>

#include "evershard/bench/parts.hpp"

namespace evershard::bench {
namespace {

/// The round in the middle when they are put in order; with an even number the lower one.
std::size_t median_round(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] < values[b]; });
  return order[(order.size() - 1) / 2];
}

Comparison compare(const Held& held, const std::string& ceiling, const std::vector<double>& ratios) {
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  Comparison out{ceiling, ratios[median_round(ratios)], *low, *high};
  if (held.least == 0 && held.most == 0) return out;
  char text[48];
  if (held.most > 0)
    std::snprintf(text, sizeof text, "%.2f to %.2f", held.least, held.most);
  else
    std::snprintf(text, sizeof text, "at least %.2f", held.least);
  out.target = text;
  out.reached = out.ratio >= held.least && (held.most == 0 || out.ratio <= held.most);
  return out;
}

}  // namespace

Result<std::vector<Figure>> in_turn(const BenchOptions& options, const std::vector<Contestant>& contestants) {
  std::vector<std::vector<Figure>> all(contestants.size());
  for (std::size_t round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      auto figure = contestants[i].measure();
      if (!figure) return refuse(std::move(figure).error());
      all[i].push_back(std::move(*figure));
      if (options.stop && options.stop())
        return refuse(ErrorCode::cancelled, "interrupted while \"" + all[i].back().workload + "\" was measured");
    }
  }
  std::vector<Figure> out;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    std::vector<double> values;
    for (const auto& figure : all[i]) values.push_back(figure.value);
    out.push_back(all[i][median_round(values)]);
    for (const auto& held : contestants[i].held) {
      const auto& against = all[held.against];
      std::vector<double> ratios;
      for (std::size_t round = 0; round < options.rounds; ++round)
        ratios.push_back(values[round] / against[round].value);
      out.back().comparisons.push_back(compare(held, against.front().workload, ratios));
    }
  }
  return out;
}

Result<void> report_in_turn(const BenchOptions& options, Report& report, const std::vector<Contestant>& contestants) {
  auto figures = in_turn(options, contestants);
  if (!figures) return refuse(std::move(figures).error());
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  return {};
}

}  // namespace evershard::bench
