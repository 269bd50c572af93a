// RpcConnection: a client's socket, its HTTP/2 session and its calls.

#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "evershard/doors/http2/session.hpp"
#include "evershard/doors/rpc/loop.hpp"
#include "evershard/doors/rpc/rpc_call.hpp"

namespace evershard::rpc {

/// Owner: its loop's thread, but for wake().
class RpcConnection final : public http2::Session::Events,
                            public RpcCall::Network,
                            public std::enable_shared_from_this<RpcConnection> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  RpcConnection(Loop& loop, Socket socket, std::string peer);
  ~RpcConnection() override;

  void start();
  /// No new calls; it is closed when those that are open are answered.
  void go_away();
  /// All its calls are cancelled.
  void close();

  void wake(std::shared_ptr<RpcCall> call) override;

 private:
  using Stream = http2::Session::Stream;
  struct Open {
    std::shared_ptr<RpcCall> call;
    std::optional<Loop::Deadlines::iterator> deadline{};
  };

  void request(Stream stream, http2::Headers&& headers, bool last) override;
  void body(Stream stream, std::string_view bytes) override;
  void body_ends(Stream stream) override;
  void sent(Stream stream) override;
  void over(Stream stream, bool whole) override;

  void read();
  void take_input();
  void flush();
  void wait_for_room();
  /// What calls have started, and what is to be sent.
  void settle();
  void run_ready();
  void run(const std::shared_ptr<RpcCall>& call);
  void look_at_silence();
  void ended();

  Loop& loop_;
  Socket socket_;
  const std::string peer_;
  http2::Session session_;
  boost::asio::steady_timer silence_;
  std::unordered_map<Stream, Open> calls_;
  std::unordered_set<std::shared_ptr<RpcCall>> given_up_;  ///< their streams are over, their reactors are not
  std::vector<std::shared_ptr<RpcCall>> ready_;            ///< woken in this thread
  std::string out_;
  std::size_t out_at_ = 0;
  bool inside_ = false;  ///< this thread is at work for it, and comes to what is ready
  bool waits_for_room_ = false;
  bool reads_on_ = true;
  bool heard_ = false;      ///< since silence was looked at
  bool requested_ = false;  ///< ever
  bool closed_ = false;

  std::mutex mutex_;
  std::vector<std::shared_ptr<RpcCall>> woken_;  ///< by others
};

}  // namespace evershard::rpc
