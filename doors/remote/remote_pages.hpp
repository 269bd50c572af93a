// RemotePages: a read over the wire; goes on behind what it gave when the connection breaks.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/api/page_forms.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemotePages final : public PagesOfValues {
 public:
  /// `at_least`: what the caller wants to be reached; absent: what was seen.
  RemotePages(std::shared_ptr<Connection> connection, pb::ReadRequest request, std::optional<GlobalPosition> at_least);
  ~RemotePages() override;

  /// Errors: as the server has them; timeout: it said nothing for as long as the connection's time-out
  Result<Page> next_page() override;
  void cancel() override;

 private:
  class Try;

  [[nodiscard]] Result<void> open(Connection::Clock::time_point deadline);
  [[nodiscard]] Result<void> hear();
  void go_on_behind(const Page& page);
  [[nodiscard]] bool backwards() const;

  const std::shared_ptr<Connection> connection_;
  pb::ReadRequest request_;  ///< what is left to read
  const std::optional<GlobalPosition> at_least_;
  std::optional<GlobalPosition> watermark_;  ///< of the first page: it bounds the read, also after a break
  std::string fork_;                         ///< of the first page; empty: it did not say
  std::mutex mutex_;                         ///< of try_, against cancel()
  std::shared_ptr<Try> try_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::remote
