// Reactor: the side of a call that answers it: what it starts, and what it is told when that is done.

#pragma once

#include <grpcpp/support/status.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/doors/rpc/bytes.hpp"

namespace evershard::rpc {

class RpcCall;

/// One read, one write and the end may be under way at a time. Each that was started is told of once, with `ok`:
/// whether it was done; where the call was cancelled, it was not. It is told in the network's thread, and nothing of it
/// waits. finish() once, also where the call was cancelled; behind it, and behind all that was started, on_done() is
/// told, the last of all.
///
/// Any thread may start something, until on_done().
class Reactor {
 public:
  virtual ~Reactor() = default;
  virtual void on_read_done(bool /*ok*/) {}
  virtual void on_write_done(bool /*ok*/) {}
  virtual void on_cancel() {}
  virtual void on_done() = 0;

 protected:
  /// The next message of the client's; none: it sends no more.
  void start_read(Bytes* into) { start({Started::Kind::read, into, {}, {}}); }
  /// A message; done when it is on its way and needs no memory any more.
  void start_write(Bytes message) { start({Started::Kind::write, nullptr, std::move(message), {}}); }
  void finish(grpc::Status status) { start({Started::Kind::finish, nullptr, {}, std::move(status)}); }

 private:
  friend class RpcCall;
  struct Started {
    enum class Kind : std::uint8_t { read, write, finish } kind;
    Bytes* into;
    Bytes message;
    grpc::Status status;
  };
  void start(Started what);

  std::mutex mutex_;
  std::vector<Started> started_;   ///< not seen by the call yet
  std::shared_ptr<RpcCall> call_;  ///< absent: the call has not met it yet, or it is done
};

}  // namespace evershard::rpc
