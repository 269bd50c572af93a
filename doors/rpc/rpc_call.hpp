// RpcCall: one gRPC call on a stream of HTTP/2, between the stream and the Reactor that answers it.

#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/doors/http2/session.hpp"
#include "evershard/doors/rpc/context.hpp"
#include "evershard/doors/rpc/message_reader.hpp"
#include "evershard/doors/rpc/method.hpp"
#include "evershard/doors/rpc/reactor.hpp"

namespace evershard::rpc {

/// Owner:  the network's thread, but for wake().
/// Source: gRPC over HTTP2 (PROTOCOL-HTTP2.md of github.com/grpc/grpc)
class RpcCall : public std::enable_shared_from_this<RpcCall> {
 public:
  /// The connection of a call.
  class Network {
   public:
    virtual ~Network() = default;
    /// run() is called soon, in the network's thread. Any thread; also when the connection is gone.
    virtual void wake(std::shared_ptr<RpcCall> call) = 0;
  };

  /// `session`: until over(). `network`: lives as long as the call.
  RpcCall(http2::Session& session, http2::Session::Stream stream, std::shared_ptr<Network> network,
          const Methods& methods, std::string peer, std::size_t message_bytes_max);
  ~RpcCall();
  RpcCall(const RpcCall&) = delete;

  // As http2::Session::Events tells them.
  void request(http2::Headers&& headers, bool last, Context::Clock::time_point now);
  void body(std::string_view bytes);
  void body_ends();
  void sent();
  void over();

  /// Sees what the Reactor started.
  void run();
  /// Its deadline has passed.
  void expire();
  [[nodiscard]] const std::optional<Context::Clock::time_point>& deadline() const { return context_.deadline(); }
  /// Its stream is over, and so is its Reactor: it may go.
  [[nodiscard]] bool is_done() const { return over_ && reactor_ == nullptr; }

  /// Any thread.
  void wake();

 private:
  void begin(const Method& method);
  void look();
  bool look_at_read();
  void see(Reactor::Started started);
  void respond();
  void send(Bytes message);
  void end(const grpc::Status& status);
  void end_too_large();
  void answer_at_once(std::string_view http_status, const grpc::Status& status);
  [[nodiscard]] http2::Headers answer_headers() const;
  [[nodiscard]] http2::Headers trailers(const grpc::Status& status) const;

  http2::Session* session_;
  const http2::Session::Stream stream_;
  const std::shared_ptr<Network> network_;
  const Methods& methods_;
  Context context_;
  MessageReader reader_;
  const Method* method_ = nullptr;
  Reactor* reactor_ = nullptr;
  Bytes in_, out_;

  Bytes* read_into_ = nullptr;
  bool body_ended_ = false;
  bool writing_ = false;
  bool responded_ = false;
  std::optional<grpc::Status> finished_;  ///< by the Reactor
  bool ended_ = false;                    ///< the answer's end is on its way
  bool over_ = false;                     ///< the stream
  bool told_cancel_ = false;
  bool running_ = false;
};

}  // namespace evershard::rpc
