#include "report.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

namespace evershard::bench {

double Latencies::percentile(double p) {
  if (samples_.empty()) return 0;
  const auto k = std::min(samples_.size() - 1, static_cast<std::size_t>(p * static_cast<double>(samples_.size())));
  std::nth_element(samples_.begin(), samples_.begin() + static_cast<std::ptrdiff_t>(k), samples_.end());
  return samples_[k];
}

double Latencies::max() { return samples_.empty() ? 0 : *std::max_element(samples_.begin(), samples_.end()); }

std::vector<std::pair<std::string, double>> percentiles(Latencies& l) {
  return {{"p50_us", l.percentile(0.5)}, {"p90_us", l.percentile(0.9)}, {"p99_us", l.percentile(0.99)}, {"p99.9_us", l.percentile(0.999)}, {"max_us", l.max()}};
}

namespace {

std::string number(double v) {
  char text[40];
  if (v >= 10e6) std::snprintf(text, sizeof text, "%.1f M", v / 1e6);
  else if (v >= 10e3) std::snprintf(text, sizeof text, "%.1f k", v / 1e3);
  else if (v >= 100) std::snprintf(text, sizeof text, "%.0f", v);
  else std::snprintf(text, sizeof text, "%.2f", v);
  return text;
}

std::string target_text(const std::string& target, const std::optional<bool>& reached) {
  if (target.empty()) return {};
  return "  [target: " + target + (reached ? (*reached ? ": reached]" : ": NOT reached]") : "]");
}

}  // namespace

void Report::add(Figure f) {
  char head[160];
  std::snprintf(head, sizeof head, "%-58s %10s %-10s", f.workload.c_str(), number(f.value).c_str(), f.unit.c_str());
  std::string line = head;
  for (const auto& c : f.comparisons) {
    line += "  " + number(c.ratio) + " (" + number(c.low) + " to " + number(c.high) + ") of " + c.ceiling + target_text(c.target, c.reached);
  }
  line += target_text(f.target, f.reached);
  for (const auto& [name, v] : f.more) line += "  " + name + " " + number(v);
  print_(line);
  figures_.push_back(std::move(f));
}

void Report::heading(const std::string& text) { print_("\n" + text); }

const Figure* Report::find(const std::string& workload) const {
  for (const auto& figure : figures_)
    if (figure.workload == workload) return &figure;
  return nullptr;
}

double Report::value(const std::string& workload) const {
  const auto* figure = find(workload);
  return figure ? figure->value : 0;
}

std::string Report::json() const {
  nlohmann::ordered_json out;
  for (const auto& [name, text] : facts_) out["facts"][name] = text;
  out["figures"] = nlohmann::ordered_json::array();
  for (const auto& f : figures_) {
    nlohmann::ordered_json j{{"workload", f.workload}, {"value", f.value}, {"unit", f.unit}};
    for (const auto& c : f.comparisons) {
      nlohmann::ordered_json compared{{"ceiling", c.ceiling}, {"ratio", c.ratio}, {"ratio_min", c.low}, {"ratio_max", c.high}};
      if (!c.target.empty()) compared["target"] = c.target;
      if (c.reached) compared["reached"] = *c.reached;
      j["comparisons"].push_back(std::move(compared));
    }
    if (!f.target.empty()) j["target"] = f.target;
    if (f.reached) j["reached"] = *f.reached;
    for (const auto& [name, v] : f.more) j[name] = v;
    out["figures"].push_back(std::move(j));
  }
  return out.dump(2);
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace evershard::bench
