// Server: the list of the parts of a serving process: a store, what the doors stand on, the doors. Started and stopped
// in order.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "evershard/doors/server/running_door.hpp"
#include "evershard/doors/server/server_options.hpp"
#include "evershard/doors/server/store_in_service.hpp"
#include "evershard/doors/serving/log.hpp"

namespace evershard::server {

class Server {
 public:
  /// Reads the tokens, opens the store, then the doors in order.
  ///
  /// Errors: those of TokenFile::load, `open` and StartDoor; nothing is left open
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(ServerOptions options, serving::Log& log,
                                                             const std::vector<StartDoor>& doors,
                                                             const OpenStore& open = open_whole_store);
  /// stop(0)
  ~Server();
  Server(const Server&) = delete;

  [[nodiscard]] const RunningDoors& doors() const;
  /// Whether the store answers, and writes.
  [[nodiscard]] bool is_well() const;
  /// Why it is to end, to be started again: StoreInService::failed.
  [[nodiscard]] std::optional<Error> failed() const;
  /// StoreInService::cannot_write.
  [[nodiscard]] std::optional<Error> cannot_write() const;
  /// StoreInService::short_of_disk.
  [[nodiscard]] std::optional<Error> short_of_disk() const;
  /// From now on health checks at every door are told that the server is not well, for good.
  void tell_unwell();
  /// Reads the tokens anew, and has the store and the doors do so with their files. Errors: the first there is; what
  /// could not be read stays in force as it was
  [[nodiscard]] Result<void> reload();
  /// The doors' certificates alone, as they are taken by themselves when their files change. Errors: as reload()
  [[nodiscard]] Result<void> reload_tls();
  /// All doors at once take nothing new and drain, long work is cancelled, then the store is closed. Any number of
  /// times.
  void stop(std::chrono::milliseconds drain);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace evershard::server
