#include "evershard/doors/serving/process_figures.hpp"

namespace evershard::serving {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

struct ProcessFamily {
  const char* name;
  const char* help;
  MetricType type;
  std::uint64_t (*value)(const ProcessInfo&);
};
constexpr ProcessFamily process_families[] = {
    {"evershard_process_lag", "Positions between what a process has done and the head.", MetricType::Gauge,
     [](const ProcessInfo& info) { return info.lag(); }},
    {"evershard_process_waiting", "Events, commands and effects of a process that are under way.", MetricType::Gauge,
     [](const ProcessInfo& info) { return info.state.figures.waiting; }},
    {"evershard_process_failing", "Of these: they failed, and wait to be tried again.", MetricType::Gauge,
     [](const ProcessInfo& info) { return info.state.figures.failing; }},
    {"evershard_process_running", "1: a program runs the process; 0: it ended, or said nothing for half a minute.",
     MetricType::Gauge, [](const ProcessInfo& info) { return std::uint64_t{info.running}; }},
    {"evershard_process_stopped", "1: somebody stopped the process.", MetricType::Gauge,
     [](const ProcessInfo& info) { return std::uint64_t{info.state.stopped}; }},
    {"evershard_process_stopped_instances", "Instances of a process that somebody stopped.", MetricType::Gauge,
     [](const ProcessInfo& info) { return std::uint64_t{info.state.stopped_instances.size()}; }},
    {"evershard_process_events_total", "Events that instances of a process were told, since it runs there.",
     MetricType::Counter, [](const ProcessInfo& info) { return info.state.figures.reacted; }},
    {"evershard_process_commands_total", "Commands of a process that were answered, since it runs there.",
     MetricType::Counter, [](const ProcessInfo& info) { return info.state.figures.sent; }},
    {"evershard_process_commands_rejected_total", "Of these: the aggregate rejected them.", MetricType::Counter,
     [](const ProcessInfo& info) { return info.state.figures.rejected; }},
    {"evershard_process_effects_performed_total", "Effects of a process that were performed, since it runs there.",
     MetricType::Counter, [](const ProcessInfo& info) { return info.state.figures.performed; }},
    {"evershard_process_effects_given_up_total", "Effects of a process that were given up, since it runs there.",
     MetricType::Counter, [](const ProcessInfo& info) { return info.state.figures.given_up; }},
    {"evershard_process_failed_total", "Tries of a process that failed, since it runs there.", MetricType::Counter,
     [](const ProcessInfo& info) { return info.state.figures.failed; }},
    {"evershard_process_damaged_total", "Events that a process cannot read and passed over, since it runs there.",
     MetricType::Counter, [](const ProcessInfo& info) { return info.state.figures.damaged; }},
};

}  // namespace

std::vector<MetricFamily> ProcessFigureFamilies::Collect() const {
  std::vector<MetricFamily> families;
  if (processes_.empty()) return families;
  for (const auto& one : process_families) {
    auto& family = families.emplace_back(MetricFamily{one.name, one.help, one.type, {}});
    for (const auto& process : processes_) {
      auto& metric = family.metric.emplace_back();
      metric.label.push_back({"process", process.name});
      (one.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
          static_cast<double>(one.value(process));
    }
  }
  return families;
}

}  // namespace evershard::serving
