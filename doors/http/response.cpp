#include "evershard/doors/http/response.hpp"

#include <algorithm>

#include "evershard/api/json/append_json.hpp"
#include "evershard/doors/serving/gzip.hpp"

namespace evershard::http {

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::already_exists:
      return 409;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
      return 400;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::overloaded:
      return 429;
    case ErrorCode::wrong_shard:
    case ErrorCode::fenced:
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timeout:
      return 504;
    case ErrorCode::corruption:
    case ErrorCode::io:
      return 500;
    case ErrorCode::cancelled:
      return 499;
    case ErrorCode::unauthenticated:
      return 401;
    case ErrorCode::permission_denied:
      return 403;
  }
  return 500;
}

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 499:
      return "Cancelled";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

Response json_response(std::string json) {
  Response response;
  response.body = std::move(json);
  response.body += '\n';
  return response;
}

std::string error_json(const Error& error) {
  JsonText json;
  json.begin_object().key("error").begin_object();
  write_error_members(json, error, {});
  json.end_object().end_object();
  return json.take();
}

Response refused(const Error& error) { return refused(Refusal{status_of(error.code), error}); }

Response refused(const Refusal& refusal) {
  Response response = json_response(error_json(refusal.error));
  response.status = refusal.status == 0 ? status_of(refusal.error.code) : refusal.status;
  response.headers = refusal.headers;
  response.refused = refusal.error.code;
  const bool says_when = std::any_of(response.headers.begin(), response.headers.end(),
                                     [](const auto& header) { return header.first == "Retry-After"; });
  if (response.status == 429 && !says_when) response.headers.emplace_back("Retry-After", "1");
  if (response.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

void compress(Response& response) {
  constexpr std::size_t worth_it = 1'024;
  if (response.body.size() < worth_it || !response.embedded.empty()) return;
  auto packed = serving::gzip(response.body);
  if (packed.size() >= response.body.size()) return;
  response.body = std::move(packed);
  response.headers.emplace_back("Content-Encoding", "gzip");
  response.headers.emplace_back("Vary", "Accept-Encoding");
}

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    auto one = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    const auto parameters = one.find(';');
    const bool refused_by = parameters != std::string_view::npos &&
                            one.substr(parameters).find("q=0") != std::string_view::npos &&
                            one.find_first_of("123456789", one.find("q=0")) == std::string_view::npos;
    one = one.substr(0, parameters);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (one == word) return !refused_by;
  }
  return false;
}

std::string head_of(const Response& response, Framing framing, std::size_t bytes, bool keep_alive, bool http_1_0) {
  std::string head =
      "HTTP/1.1 " + std::to_string(response.status) + ' ' + std::string(reason_of(response.status)) + "\r\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  };
  bool cached = false, policy = false;
  for (const auto& [name, value] : response.headers) {
    add(name, value);
    cached = cached || name == "Cache-Control";
    policy = policy || name == "Content-Security-Policy";
  }
  if (!response.content_type.empty()) add("Content-Type", response.content_type);
  if (!cached) add("Cache-Control", "no-store");
  if (!policy) add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  add("X-Content-Type-Options", "nosniff");
  add("X-Frame-Options", "DENY");
  add("Referrer-Policy", "no-referrer");
  add("Cross-Origin-Resource-Policy", "same-origin");
  add("Cross-Origin-Opener-Policy", "same-origin");
  if (framing == Framing::chunked) add("Transfer-Encoding", "chunked");
  if (framing == Framing::length && response.status != 204 && response.status != 304)
    add("Content-Length", std::to_string(bytes));
  if (!keep_alive)
    add("Connection", "close");
  else if (http_1_0)
    add("Connection", "keep-alive");
  return head + "\r\n";
}

}  // namespace evershard::http
