// Response: an answer before it becomes bytes; which status an error has.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/error.hpp"

namespace evershard::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Response {
  int status = 200;
  std::string content_type = "application/json";  ///< empty: no body
  Headers headers{};
  std::string body{};
  std::string_view embedded{};  ///< instead of `body`: bytes that are in the program
  std::optional<ErrorCode> refused{};

  [[nodiscard]] std::string_view content() const { return embedded.empty() ? std::string_view(body) : embedded; }
};

/// A request that gets no further: a status of its own where the code's would say too little.
struct Refusal {
  int status = 0;
  Error error;
  Headers headers{};
};

[[nodiscard]] int status_of(ErrorCode code);
[[nodiscard]] std::string_view reason_of(int status);

[[nodiscard]] Response json_response(std::string json);
/// `{"error":{"code":...,"message":...,...}}`
[[nodiscard]] std::string error_json(const Error& error);
[[nodiscard]] Response refused(const Error& error);
[[nodiscard]] Response refused(const Refusal& refusal);

/// Gzip, where its size makes it worth it and it is not compressed yet.
void compress(Response& response);
/// Whether one of a comma-separated list is `word`, without its parameters, and not with q=0.
[[nodiscard]] bool lists(std::string_view list, std::string_view word);

enum class Framing { length, chunked, until_close };
/// The status line and all headers, with those that every answer has. `bytes`: of the body, where the framing is
/// `length`.
[[nodiscard]] std::string head_of(const Response& response, Framing framing, std::size_t bytes, bool keep_alive,
                                  bool http_1_0);

}  // namespace evershard::http
