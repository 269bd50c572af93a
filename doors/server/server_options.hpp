// ServerOptions: all that `evershard serve` can be told, as the parts take it.

#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/model/kind.hpp"
#include "evershard/actors/process/process_definition.hpp"
#include "evershard/actors/process/process_door.hpp"
#include "evershard/actors/threads/long_reads.hpp"
#include "evershard/doors/grpc/door.hpp"
#include "evershard/doors/http/http_options.hpp"
#include "evershard/doors/serving/client_limits.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/local/local.hpp"

namespace evershard::server {

/// When and where space of superseded rows is given back.
struct RowsVacuum {
  std::chrono::milliseconds every = std::chrono::hours(24);  ///< 0: never
  unsigned factor = 20;  ///< the percentage of removed rows from which a table is compacted; 100: only on demand
};

/// A kind of aggregate of the program, and what it is hosted with.
struct ServedKind {
  std::shared_ptr<const AggregateKind> kind{};
  std::function<HostOptions()> options{};  ///< asked once; null: the defaults
  [[nodiscard]] HostOptions host_options() const { return options ? options() : HostOptions{}; }
};

/// A process of the program, and what it is run with.
struct ServedProcess {
  std::shared_ptr<const ProcessDefinition> definition{};
  ProcessOptions options{};
  std::function<Effects()> effects{};  ///< asked once, before anything runs; null: it has none
};

struct ServerOptions {
  LocalOptions store{};
  std::vector<ServedKind> kinds{};         ///< of the program: hosted here, and asked over the doors
  std::vector<ServedProcess> processes{};  ///< the same: run here
  door::DoorOptions door{};
  http::HttpOptions http{};
  std::string umadb_listen{};                 ///< HOST:PORT where UmaDB's clients are answered; empty: nowhere
  std::vector<std::string> kurrent_listen{};  ///< where KurrentDB's protocol is served; none: nowhere
  std::filesystem::path tokens{};             ///< of Access; empty: everybody may do everything
  std::filesystem::path unix_socket{};        ///< one more address of the door; empty: none
  bool insecure = false;                      ///< listens beyond this machine without what SafetyCheck asks for
  serving::ClientLimitOptions clients{};      ///< of all doors together
  std::size_t read_threads = 4;               ///< for what may wait for the disk
  cluster::LongReadOptions long_reads{};
  std::chrono::milliseconds drain_timeout = std::chrono::seconds(30);  ///< calls under way have so long at the end
  std::chrono::milliseconds vacuum_every = std::chrono::hours(24);     ///< of events; 0: never
  RowsVacuum projections_vacuum{}, documents_vacuum{};
  std::chrono::milliseconds retention_every{0};                          ///< 0: never
  std::chrono::milliseconds schedule_keep = std::chrono::hours(24 * 7);  ///< of those that are settled; 0: for good
  serving::LogOptions log{};
  std::function<std::string()> settings_json{};  ///< `{"settings":[...]}`, what is in force now; from any thread
};

}  // namespace evershard::server
