#include "evershard/doors/http/guard.hpp"

#include <algorithm>
#include <cctype>

#include "evershard/doors/http/target.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/percent.hpp"

namespace evershard::http {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Without the port.
std::string name_of_host(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(0, host.find(']') + 1));
  return lower(host.substr(0, host.rfind(':')));
}

/// A name can be made to point here by whoever owns it, an address cannot.
bool is_address(std::string_view name) {
  if (name.starts_with('[')) return name.ends_with(']');
  return std::count(name.begin(), name.end(), '.') == 3 &&
         std::all_of(name.begin(), name.end(), [](char c) { return c == '.' || (c >= '0' && c <= '9'); });
}

bool is_api(const Route& route) { return route.path.starts_with("/api/") || route.path == "/metrics"; }

Refusal denied(std::string what) { return {403, {ErrorCode::permission_denied, std::move(what)}, {}}; }

}  // namespace

GivenToken token_of(const Request& request) {
  const auto authorization = trimmed(request.field("authorization"));
  if (!authorization.empty()) {
    const bool bearer = lower(authorization.substr(0, 7)) == "bearer ";
    if (!bearer) return {};  // Basic: a browser can be lured into it
    return {std::string(trimmed(authorization.substr(7))), true};
  }
  for (const auto& [name, value] : request.fields) {
    if (name != "cookie") continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(';'), rest.size());
      const auto one = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const auto equals = one.find('=');
      if (equals == std::string_view::npos || one.substr(0, equals) != token_cookie) continue;
      if (auto token = percent_decoded(one.substr(equals + 1), false); token && !token->empty())
        return {*std::move(token), false};
    }
  }
  return {};
}

std::string cookie_with(std::string_view token, bool tls) {
  return std::string(token_cookie) + '=' + percent_encoded(token) + "; Path=/; HttpOnly; SameSite=Strict" +
         (tls ? "; Secure" : "") + (token.empty() ? "; Max-Age=0" : "");
}

std::optional<Refusal> check_host(const Request& request, const Surroundings& around, bool open) {
  const auto count = request.count("host");
  if (count > 1 || (count == 0 && !request.http_1_0)) {
    return Refusal{
        400,
        {ErrorCode::invalid_argument, count == 0 ? "the header Host is missing" : "the header Host comes twice"},
        {}};
  }
  if (!around.loopback && !open) return std::nullopt;  // a foreign name brings no cookie of ours
  if (count == 0) return std::nullopt;                 // no browser
  const auto name = name_of_host(request.field("host"));
  const auto ours = [&](const std::string& host) { return lower(host) == name; };
  if (is_address(name) || name == "localhost" || std::any_of(around.hosts.begin(), around.hosts.end(), ours))
    return std::nullopt;
  return Refusal{421,
                 {ErrorCode::permission_denied,
                  "the Host " + in_quotes(name, 100) +
                      " is not accepted: use an address, localhost, or a name in the setting http-hosts"},
                 {}};
}

std::optional<Refusal> check_origin(const Request& request, const Surroundings& around, const GivenToken& token,
                                    const Route& route) {
  const auto site = request.field("sec-fetch-site");
  const auto origin = request.field("origin");
  const bool writes = request.method != "GET" && request.method != "HEAD";
  if (is_api(route) && !token.by_header) {
    const bool navigates = !writes && site == "none";  // typed into the address bar
    if (!site.empty() && site != "same-origin" && !navigates)
      return denied("another site's page asked: Sec-Fetch-Site is " + in_quotes(site, 40));
    const std::string own = (around.tls ? "https://" : "http://") + lower(request.field("host"));
    if (!origin.empty() && lower(origin) != own)
      return denied("another site's page asked: Origin is " + in_quotes(origin, 100) + ", not " + in_quotes(own, 100));
    if (writes && site.empty() && origin.empty() && !token.token.empty()) {
      return denied(
          "with a cookie, a write says where it comes from: Origin or Sec-Fetch-Site; programs use Authorization");
    }
  }
  if (request.method != "POST") return std::nullopt;
  const auto type = request.field("content-type");
  const bool json = lower(trimmed(type.substr(0, type.find(';')))) == "application/json";
  const auto length = request.field("content-length");
  const bool body = request.count("transfer-encoding") > 0 || (!length.empty() && length != "0");
  if (json || (token.by_header && !body)) return std::nullopt;
  return Refusal{415,
                 {ErrorCode::invalid_argument,
                  "Content-Type must be application/json" + (type.empty() ? "" : ", is " + in_quotes(type, 60))},
                 {}};
}

tl::expected<serving::Caller, Refusal> admit(const Request& request, const Route& route, const Surroundings& around,
                                             const serving::Access& access, serving::WrongTokens& wrong_tokens,
                                             const std::string& address) {
  if (auto refusal = check_host(request, around, access.is_open())) return tl::unexpected(*std::move(refusal));
  const auto token = token_of(request);
  if (auto refusal = check_origin(request, around, token, route)) return tl::unexpected(*std::move(refusal));
  if (!route.scope) return serving::Caller{};
  auto caller = wrong_tokens.identify(access, token.token, address);
  if (caller)
    if (auto may = caller->check(*route.scope); !may) caller = tl::unexpected(std::move(may).error());
  if (!caller) {
    const auto code = caller.error().code;
    return tl::unexpected(Refusal{status_of(code), std::move(caller).error(), {}});
  }
  return *std::move(caller);
}

}  // namespace evershard::http
