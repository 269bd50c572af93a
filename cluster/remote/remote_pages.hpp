// RemotePages: a read over the wire; goes on behind what it gave when the connection breaks.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "evershard/cluster/remote/connection.hpp"

namespace evershard::remote {

class RemotePages final : public PageSource {
 public:
  RemotePages(std::shared_ptr<Connection> connection, pb::ReadRequest request);

  Result<Page> next_page() override;
  void cancel() override;

 private:
  struct Try {
    std::unique_ptr<grpc::ClientContext> context;
    std::unique_ptr<grpc::ClientReader<grpc::ByteBuffer>> reader;  ///< bytes: pages have a faster way to values than by messages
  };

  void open();
  void go_on_behind(const Page& page);
  [[nodiscard]] bool backwards() const;

  const std::shared_ptr<Connection> connection_;
  pb::ReadRequest request_;  ///< what is left to read
  std::mutex mutex_;         ///< of try_, against cancel()
  std::shared_ptr<Try> try_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::remote
