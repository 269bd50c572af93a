#include "tests/doors/http/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace evershard {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

HttpClient::HttpClient(const std::string& address, int receive_buffer) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
  if (::connect(socket_, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) {
    ::close(socket_);
    socket_ = -1;
  }
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      ended_(other.ended_),
      in_(std::move(other.in_)),
      events_(std::move(other.events_)),
      streaming_(other.streaming_) {}

HttpClient::~HttpClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpClient::half_close() { ::shutdown(socket_, SHUT_WR); }

void HttpClient::vanish() {
  const linger hard{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  ::close(std::exchange(socket_, -1));
}

std::string HttpClient::receive_some(std::chrono::milliseconds time) {
  pollfd ready{socket_, POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(0, time.count()))) <= 0) return {};
  std::string bytes(64u << 10, '\0');
  const auto got = ::recv(socket_, bytes.data(), bytes.size(), 0);
  if (got <= 0) ended_ = true;
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  return bytes;
}

bool HttpClient::closes_within(std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  while (!ended_ && Clock::now() < until)
    (void)receive_some(std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()));
  return ended_;
}

bool HttpClient::more(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  if (ended_ || left.count() <= 0) return false;
  const auto bytes = receive_some(left);
  in_ += bytes;
  return !bytes.empty();
}

std::optional<HttpAnswer> HttpClient::read_head(Clock::time_point until) {
  while (in_.find("\r\n\r\n") == std::string::npos) {
    if (!more(until)) return std::nullopt;
  }
  const auto end = in_.find("\r\n\r\n");
  HttpAnswer answer;
  std::string_view head(in_.data(), end);
  answer.status = std::stoi(std::string(head.substr(9, 3)));
  for (auto line_end = head.find("\r\n"); line_end != std::string_view::npos; line_end = head.find("\r\n")) {
    head.remove_prefix(line_end + 2);
    const auto line = head.substr(0, head.find("\r\n"));
    const auto colon = line.find(": ");
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    answer.headers[name] = std::string(line.substr(colon + 2));
  }
  in_.erase(0, end + 4);
  return answer;
}

bool HttpClient::read_chunk(std::string& into, Clock::time_point until) {
  while (in_.find("\r\n") == std::string::npos) {
    if (!more(until)) return false;
  }
  const auto line = in_.find("\r\n");
  const auto size = std::stoul(in_.substr(0, line), nullptr, 16);
  while (in_.size() < line + 2 + size + 2) {
    if (!more(until)) return false;
  }
  into += in_.substr(line + 2, size);
  in_.erase(0, line + 2 + size + 2);
  if (size == 0) stream_finished = true;
  return size != 0;
}

std::optional<HttpAnswer> HttpClient::read_answer(bool only_head, std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  auto answer = read_head(until);
  if (!answer || only_head || answer->status == 204 || answer->status == 304) return answer;
  if (answer->header("transfer-encoding") == "chunked") {
    while (read_chunk(answer->body, until)) continue;
    return answer;
  }
  const auto length = static_cast<std::size_t>(std::stoul(answer->headers.at("content-length")));
  while (in_.size() < length) {
    if (!more(until)) return std::nullopt;
  }
  answer->body = in_.substr(0, length);
  in_.erase(0, length);
  return answer;
}

std::optional<ServerEvent> HttpClient::read_event(std::chrono::milliseconds time) {
  const auto until = Clock::now() + time;
  if (!streaming_) {
    const auto head = read_head(until);
    if (!head || head->status != 200 || head->header("content-type") != "text/event-stream") return std::nullopt;
    streaming_ = true;
  }
  for (;;) {
    const auto end = events_.find("\n\n");
    if (end == std::string::npos) {
      if (!read_chunk(events_, until)) return std::nullopt;
      continue;
    }
    const auto block = events_.substr(0, end + 1);
    events_.erase(0, end + 2);
    ServerEvent event;
    for (std::size_t at = 0; at < block.size();) {
      const auto line_end = block.find('\n', at);
      const auto line = block.substr(at, line_end - at);
      at = line_end + 1;
      if (line.starts_with("event: ")) event.name = line.substr(7);
      if (line.starts_with("id: ")) event.id = line.substr(4);
      if (line.starts_with("data: ")) event.data += line.substr(6);
      if (line.starts_with(":")) ++heartbeats;
    }
    if (!event.name.empty()) return event;
  }
}

HttpAnswer HttpClient::ask(std::string_view method, std::string_view target, std::string_view body,
                           std::string_view headers) {
  std::string request =
      std::string(method) + ' ' + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers);
  if (!body.empty())
    request += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  if (!send(request + "\r\n" + std::string(body))) return {};
  return read_answer(method == "HEAD").value_or(HttpAnswer{});
}

HttpAnswer ask(const std::string& address, std::string_view method, std::string_view target, std::string_view body,
               std::string_view headers) {
  return HttpClient(address).ask(method, target, body, headers);
}

}  // namespace evershard
