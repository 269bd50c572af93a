// Report: figures next to their ceilings, as text and as JSON.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evershard/bench/run.hpp"

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
  Report(BenchOptions::Style style, std::function<void(const std::string&)> print)
      : style_(style), print_(std::move(print)) {}
  /// What the figures were measured with; before the first of them.
  void fact(const std::string& name, const std::string& value);
  void heading(const std::string& text);
  /// Prints the figure's line at once, keeps it for the document.
  void add(Figure figure);
  /// Prints the document, where one was asked for.
  void finish();
  [[nodiscard]] double value(const std::string& workload) const;  ///< 0 if it was not measured

 private:
  BenchOptions::Style style_;
  std::function<void(const std::string&)> print_;
  std::vector<Figure> figures_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

/// `p50_us`, `p90_us`, `p99_us`, `p99.9_us`, `max_us`.
std::vector<std::pair<std::string, double>> percentiles(Latencies& latencies);

/// User and system time of this process, in seconds.
double cpu_seconds();
/// Of this thread, in seconds: what is waited for does not count.
double thread_cpu_seconds();
double now_seconds();
std::uint64_t resident_bytes();

}  // namespace evershard::bench
