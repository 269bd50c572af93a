// Connection: one client: reads a request, has it answered, writes the answer, and begins again.

#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/steady_timer.hpp>

#include "evershard/doors/http/network.hpp"
#include "evershard/doors/http/request_reader.hpp"
#include "evershard/doors/http/socket.hpp"

namespace evershard::http {

/// In the network thread only. What it holds is bounded: what a request may have, one answer or one piece of a stream,
/// and 16 KiB that a client sent ahead.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  /// `address`: of the client, without its port.
  Connection(Network& network, std::shared_ptr<Network> keeps, std::unique_ptr<Socket> socket, std::string address);
  ~Connection();

  void start();
  /// Instead of start(): says that there is no room, and ends.
  void turn_away();

  /// It can be closed with nobody harmed: no request is being handled.
  [[nodiscard]] bool is_idle() const;
  [[nodiscard]] std::chrono::steady_clock::time_point since() const { return since_; }
  /// The server is stopping: ends where there is nothing to answer, and a live stream in good order.
  void wind_down();
  void close();
  /// Tokens were read anew: a live stream that would not be admitted any more ends.
  void look_at_token_again();

 private:
  enum class State { greeting, waiting, head, body, working, writing, streaming, lingering, closed };

  void enter(State state);
  void arm(std::chrono::milliseconds time, std::function<void()> expired);
  void disarm();
  void read();
  void received(const Socket::Error& error, std::size_t bytes);
  void parse();
  void head_known();
  [[nodiscard]] bool account_body();
  void late();

  void handle();
  void give(Answer answer);
  void respond(Response response);
  void begin_stream(std::shared_ptr<Stream> stream);
  void pump();
  void piece(Piece piece);
  void write_out(std::function<void()> then);
  void write_some();
  void next_request();
  void linger();
  void end_request(std::optional<ErrorCode> refused);
  void count(bool counted);

  Network& network_;
  const std::shared_ptr<Network> keeps_;
  const std::unique_ptr<Socket> socket_;
  const std::string address_;
  boost::asio::steady_timer timer_;
  std::uint64_t armed_ = 0;  ///< an expiry that was on its way when it was armed again, or disarmed, is none
  State state_ = State::greeting;
  std::chrono::steady_clock::time_point since_;
  std::array<char, 16u << 10> chunk_;
  bool reading_ = false;
  bool ended_ = false;  ///< the client sends nothing more
  std::string in_;
  std::size_t discarded_ = 0;

  // Of the request at hand.
  std::unique_ptr<RequestReader> reader_;
  std::optional<Asked> asked_;
  const Route* route_ = nullptr;
  std::string client_;  ///< who is counted
  std::string token_;
  std::optional<serving::Scope> scope_;  ///< that the request needed
  std::size_t body_bytes_ = 0;
  bool only_head_ = false;
  bool http_1_0_ = false;
  bool keep_alive_ = true;
  bool counted_ = false;  ///< in Network::requests
  std::chrono::steady_clock::time_point began_;
  std::shared_ptr<Interest> interest_;
  std::shared_ptr<Stream> stream_;
  serving::ClientGate::Stream held_;  ///< one of the client's
  bool streaming_ended_ = false;
  std::optional<std::chrono::steady_clock::time_point>
      farewell_;  ///< the server is stopping: then a stream has said its last
  bool writing_ = false;

  std::size_t answer_bytes_ = 0;  ///< of them, in Network::answer_bytes
  std::string out_;
  std::size_t out_at_ = 0;
  std::function<void()> then_;
};

}  // namespace evershard::http
