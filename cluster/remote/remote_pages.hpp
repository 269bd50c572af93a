// RemotePages: a read over the wire; goes on behind what it gave when the connection breaks.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/cluster/remote/connection.hpp"

namespace evershard::remote {

class RemotePages final : public PageSource {
 public:
  RemotePages(std::shared_ptr<Connection> connection, pb::ReadRequest request);
  ~RemotePages() override;

  /// Errors: as the server has them; timeout: it said nothing for as long as the connection's time-out
  Result<Page> next_page() override;
  void cancel() override;

 private:
  class Try;

  void open();
  void go_on_behind(const Page& page);
  [[nodiscard]] bool backwards() const;

  const std::shared_ptr<Connection> connection_;
  pb::ReadRequest request_;  ///< what is left to read
  std::optional<GlobalPosition> watermark_;  ///< of the first page: it bounds the read, also after a break
  std::mutex mutex_;         ///< of try_, against cancel()
  std::shared_ptr<Try> try_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::remote
