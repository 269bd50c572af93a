// Report: figures next to their ceilings, as text and as JSON.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace evershard::bench {

/// Latencies in microseconds; percentiles are exact (all samples are kept).
class Latencies {
 public:
  void add(double us) { samples_.push_back(static_cast<float>(us)); }
  void add(const Latencies& other) { samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end()); }
  [[nodiscard]] double percentile(double p);
  [[nodiscard]] double max();
  [[nodiscard]] std::size_t count() const { return samples_.size(); }

 private:
  std::vector<float> samples_;
};

/// A figure held against another one of the same run.
struct Comparison {
  std::string ceiling;
  double ratio = 0;  ///< this figure's value to the ceiling's: the median of the rounds that measured both
  double low = 0;    ///< the rounds' lowest, and highest
  double high = 0;
  std::string target{};  ///< in words; empty: none
  std::optional<bool> reached{};
};

/// One measurement, with what it is to be held against.
struct Figure {
  std::string workload;
  double value = 0;
  std::string unit;  ///< "events/s", "us", ...
  std::vector<Comparison> comparisons{};
  std::string target{};  ///< of the value itself, in words
  std::optional<bool> reached{};
  std::vector<std::pair<std::string, double>> more{};  ///< p50_us, p99_us, cpu_us, ...
};

class Report {
 public:
  explicit Report(std::function<void(const std::string&)> print) : print_(std::move(print)) {}
  /// Prints the figure's line at once, keeps it for JSON.
  void add(Figure figure);
  void heading(const std::string& text);
  [[nodiscard]] const Figure* find(const std::string& workload) const;
  [[nodiscard]] double value(const std::string& workload) const;  ///< 0 if it was not measured
  [[nodiscard]] std::string json() const;
  void fact(std::string name, std::string value) { facts_.emplace_back(std::move(name), std::move(value)); }

 private:
  std::function<void(const std::string&)> print_;
  std::vector<Figure> figures_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

/// `p50_us`, `p90_us`, `p99_us`, `p99.9_us`, `max_us`.
std::vector<std::pair<std::string, double>> percentiles(Latencies& latencies);

/// User and system time of this process, in seconds.
double cpu_seconds();
double now_seconds();
std::uint64_t resident_bytes();

}  // namespace evershard::bench
