#include "evershard/bench/report.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
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
  return {{"p50_us", l.percentile(0.5)},
          {"p90_us", l.percentile(0.9)},
          {"p99_us", l.percentile(0.99)},
          {"p99.9_us", l.percentile(0.999)},
          {"max_us", l.max()}};
}

namespace {

std::string number(double v) {
  char text[40];
  if (v >= 10e6)
    std::snprintf(text, sizeof text, "%.1f M", v / 1e6);
  else if (v >= 10e3)
    std::snprintf(text, sizeof text, "%.1f k", v / 1e3);
  else if (v >= 100)
    std::snprintf(text, sizeof text, "%.0f", v);
  else
    std::snprintf(text, sizeof text, "%.2f", v);
  return text;
}

std::string target_text(const std::string& target, const std::optional<bool>& reached) {
  if (target.empty()) return {};
  return "  [target: " + target + (reached ? (*reached ? ": reached]" : ": NOT reached]") : "]");
}

std::string line_of(const Figure& f) {
  char head[160];
  std::snprintf(head, sizeof head, "%-64s %10s %-11s", f.workload.c_str(), number(f.value).c_str(), f.unit.c_str());
  std::string line = head;
  for (const auto& c : f.comparisons) {
    line += "  " + number(c.ratio) + " (" + number(c.low) + " to " + number(c.high) + ") of " + c.ceiling +
            target_text(c.target, c.reached);
  }
  line += target_text(f.target, f.reached);
  for (const auto& [name, v] : f.more) line += "  " + name + " " + number(v);
  return line;
}

nlohmann::ordered_json json_of(const Figure& f) {
  nlohmann::ordered_json json{{"workload", f.workload}, {"value", f.value}, {"unit", f.unit}};
  for (const auto& c : f.comparisons) {
    nlohmann::ordered_json compared{
        {"ceiling", c.ceiling}, {"ratio", c.ratio}, {"ratio_min", c.low}, {"ratio_max", c.high}};
    if (!c.target.empty()) compared["target"] = c.target;
    if (c.reached) compared["reached"] = *c.reached;
    json["comparisons"].push_back(std::move(compared));
  }
  if (!f.target.empty()) json["target"] = f.target;
  if (f.reached) json["reached"] = *f.reached;
  for (const auto& [name, v] : f.more) json[name] = v;
  return json;
}

}  // namespace

void Report::fact(const std::string& name, const std::string& value) {
  facts_.emplace_back(name, value);
  if (style_ == BenchOptions::Style::text) print_(name + ": " + value);
  if (style_ == BenchOptions::Style::json_lines)
    print_(nlohmann::ordered_json{{"fact", name}, {"value", value}}.dump());
}

void Report::heading(const std::string& text) {
  if (style_ == BenchOptions::Style::text) print_("\n" + text);
}

void Report::add(Figure figure) {
  if (style_ == BenchOptions::Style::text) print_(line_of(figure));
  if (style_ == BenchOptions::Style::json_lines) print_(json_of(figure).dump());
  figures_.push_back(std::move(figure));
}

void Report::finish() {
  if (style_ != BenchOptions::Style::json) return;
  nlohmann::ordered_json out;
  for (const auto& [name, text] : facts_) out["facts"][name] = text;
  out["figures"] = nlohmann::ordered_json::array();
  for (const auto& figure : figures_) out["figures"].push_back(json_of(figure));
  print_(out.dump(2));
}

double Report::value(const std::string& workload) const {
  for (const auto& figure : figures_)
    if (figure.workload == workload) return figure.value;
  return 0;
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

double thread_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace evershard::bench
