// Guard: who asks, and whether a browser was lured into asking.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/http/request.hpp"
#include "evershard/doors/http/response.hpp"
#include "evershard/doors/http/router.hpp"
#include "evershard/doors/serving/access.hpp"
#include "evershard/doors/serving/wrong_tokens.hpp"
#include "tl/expected.hpp"

namespace evershard::http {

struct Surroundings {
  bool loopback = true;  ///< the door listens on a loopback address
  bool tls = false;
  std::vector<std::string> hosts{};  ///< HttpOptions::hosts
};

inline constexpr std::string_view token_cookie = "evershard_token";

struct GivenToken {
  std::string token;  ///< empty: none
  bool by_header = false;
};
/// `Authorization: Bearer TOKEN`, else the cookie.
[[nodiscard]] GivenToken token_of(const Request& request);

/// The value of Set-Cookie; an empty token takes the cookie away.
[[nodiscard]] std::string cookie_with(std::string_view token, bool tls);

/// Whether the name the client calls this server by is one of its own.
/// Errors: 400 (no Host, or several), 421
[[nodiscard]] std::optional<Refusal> check_host(const Request& request, const Surroundings& around, bool open);

/// What a foreign page could make a browser send is refused: it can send a cookie, but neither an Authorization header
/// nor JSON without being asked first, and it cannot lie in Origin and Sec-Fetch-Site. Errors: 403, 415 Source:
/// docs/http-api.md, "Browsers"
[[nodiscard]] std::optional<Refusal> check_origin(const Request& request, const Surroundings& around,
                                                  const GivenToken& token, const Route& route);

/// All of it, in order. `address`: of the client. Errors: as above; 401, 403, 429
[[nodiscard]] tl::expected<serving::Caller, Refusal> admit(const Request& request, const Route& route,
                                                           const Surroundings& around, const serving::Access& access,
                                                           serving::WrongTokens& wrong_tokens,
                                                           const std::string& address);

}  // namespace evershard::http
