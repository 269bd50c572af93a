#include "evershard/compat/kurrent/consumer_latencies.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace evershard::kurrent {
namespace {

struct Quantile {
  const char* name;
  std::size_t of_1000;
};
constexpr std::array shown_quantiles{
    Quantile{"Median", 500},     Quantile{"Quintile 1", 200},  Quantile{"Quintile 2", 400}, Quantile{"Quintile 3", 600},
    Quantile{"Quintile 4", 800}, Quantile{"Quintile 5", 1000}, Quantile{"90%", 900},        Quantile{"95%", 950},
    Quantile{"99%", 990},        Quantile{"99.5%", 995},       Quantile{"99.9%", 999}};

}  // namespace

void ConsumerLatencies::add(std::chrono::milliseconds latency) {
  if (ms_.size() < kept_max)
    ms_.push_back(latency.count());
  else
    ms_[next_] = latency.count();
  next_ = (next_ + 1) % kept_max;
}

std::vector<ConsumerLatencies::Measurement> ConsumerLatencies::measurements() const {
  if (ms_.empty()) return {};
  auto sorted = ms_;
  std::ranges::sort(sorted);
  const auto count = sorted.size();
  std::vector<Measurement> out;
  out.push_back(
      {"Mean", std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0}) / static_cast<std::int64_t>(count)});
  out.push_back({"Fastest", sorted.front()});
  for (const auto& quantile : shown_quantiles)
    out.push_back({quantile.name, sorted[(quantile.of_1000 * count + 999) / 1000 - 1]});
  out.push_back({"Highest", sorted.back()});
  return out;
}

}  // namespace evershard::kurrent
