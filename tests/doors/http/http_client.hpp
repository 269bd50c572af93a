// HttpClient: a client that does exactly what a test says, also what no decent client does.

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace evershard {

struct HttpAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body, nullptr, false); }
  [[nodiscard]] std::string code() const {
    const auto read = json();
    return read.is_object() && read.contains("error") ? read["error"].value("code", "") : "";
  }
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? "" : found->second;
  }
};

struct ServerEvent {
  std::string name, id, data;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(data, nullptr, false); }
};

class HttpClient {
 public:
  explicit HttpClient(const std::string& address, int receive_buffer = 0);
  HttpClient(HttpClient&& other) noexcept;
  ~HttpClient();

  [[nodiscard]] bool connected() const { return socket_ >= 0; }
  /// False: the other side is gone.
  bool send(std::string_view bytes);
  void half_close();
  /// With RST.
  void vanish();
  /// What comes in so long; empty: nothing, or the end.
  std::string receive_some(std::chrono::milliseconds time = std::chrono::seconds(60));
  [[nodiscard]] bool at_end() const { return ended_; }
  /// Waits for the end of the connection.
  bool closes_within(std::chrono::milliseconds time);

  std::optional<HttpAnswer> read_answer(bool only_head = false,
                                        std::chrono::milliseconds time = std::chrono::seconds(60));
  /// Of a live stream, its header included at the first call.
  std::optional<ServerEvent> read_event(std::chrono::milliseconds time = std::chrono::seconds(60));
  std::size_t heartbeats = 0;
  bool stream_finished = false;  ///< the last chunk came

  HttpAnswer ask(std::string_view method, std::string_view target, std::string_view body = {},
                 std::string_view headers = {});

 private:
  std::optional<HttpAnswer> read_head(std::chrono::steady_clock::time_point until);
  bool more(std::chrono::steady_clock::time_point until);
  bool read_chunk(std::string& into, std::chrono::steady_clock::time_point until);

  int socket_ = -1;
  bool ended_ = false;
  std::string in_;
  std::string events_;
  bool streaming_ = false;
};

/// One connection, one request.
HttpAnswer ask(const std::string& address, std::string_view method, std::string_view target, std::string_view body = {},
               std::string_view headers = {});

}  // namespace evershard
