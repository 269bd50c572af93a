// Program: what this is the command line of: its name, and the aggregates and processes that were built into it.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/actors/model/kind.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/command_line.hpp"
#include "evershard/doors/server/server_options.hpp"

namespace evershard::cli {

class Program {
 public:
  /// `evershard`, without aggregates.
  Program() = default;
  /// Errors: invalid_argument, too_large: a name in a kind or process; invalid_argument: a type that stands there twice
  [[nodiscard]] static Result<Program> of(std::string name, const std::vector<CommandLineKind>& kinds,
                                          const std::vector<CommandLineProcess>& processes = {});

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool has_aggregates() const { return !kinds_.empty(); }
  /// In order.
  [[nodiscard]] std::vector<std::string> aggregate_types() const;
  /// Those that are asked commands: instances of processes are not.
  [[nodiscard]] std::vector<server::ServedKind> kinds() const;
  [[nodiscard]] const std::vector<server::ServedProcess>& processes() const { return processes_; }
  /// Null: it is not one of them.
  [[nodiscard]] std::shared_ptr<const AggregateKind> kind(std::string_view aggregate_type) const;
  /// Whether aggregates of this type are instances of one of the processes.
  [[nodiscard]] bool is_of_process(std::string_view aggregate_type) const;
  /// Puts the kinds' own types before those that are registered.
  [[nodiscard]] Result<void> add_types(PayloadTypes& types) const;
  /// The same text, where it calls the program `evershard` with its name.
  [[nodiscard]] std::string said(std::string text) const;

 private:
  struct Known {
    std::shared_ptr<const AggregateKind> kind;
    RegisteredTypes types;
    bool of_process = false;
    std::function<HostOptions()> options{};
  };
  std::string name_ = "evershard";
  std::map<std::string, Known, std::less<>> kinds_;
  std::vector<server::ServedProcess> processes_;
};

}  // namespace evershard::cli
