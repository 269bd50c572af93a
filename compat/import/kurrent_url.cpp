#include "evershard/compat/import/kurrent_url.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/percent.hpp"

namespace evershard::cli {
namespace {

constexpr std::string_view port_by_default = "2113";

/// Of the clients' settings those that say nothing to an import.
constexpr std::array<std::string_view, 9> passed_over{
    "connectionname",   "defaultdeadline",     "discoveryinterval", "gossiptimeout",       "keepaliveinterval",
    "keepalivetimeout", "maxdiscoverattempts", "nodepreference",    "throwonappendfailure"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

Refused bad(const std::string& why) { return refuse(ErrorCode::invalid_argument, "the address of KurrentDB: " + why); }

/// Calls `take` for each part.
template <class Take>
Result<void> each(std::string_view text, char between, const Take& take) {
  while (true) {
    const auto end = text.find(between);
    EVERSHARD_TRY(take(text.substr(0, end)));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

Result<std::string> host_of(std::string_view text) {
  // An IPv6 address stands in brackets.
  const auto bracket = text.starts_with('[') ? text.find(']') : 0;
  const auto colon = bracket == std::string_view::npos ? bracket : text.find(':', bracket);
  const auto host = text.substr(0, colon);
  const auto port = colon == std::string_view::npos ? port_by_default : text.substr(colon + 1);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  const bool good = error == std::errc() && end == port.data() + port.size() && number > 0 && number <= 65'535;
  if (host.empty() || bracket == std::string_view::npos || !good) return bad(in_quotes(text, 300) + " is no HOST:PORT");
  return std::string(host) + ':' + std::string(port);
}

Result<bool> flag_of(std::string_view key, std::string_view value) {
  const auto word = lower(value);
  if (word == "true" || word == "false") return word == "true";
  return bad(std::string(key) + " is true or false, not " + in_quotes(value, 100));
}

Result<void> read_setting(std::string_view text, KurrentUrl& url) {
  if (text.empty()) return {};
  const auto equals = text.find('=');
  const auto key = text.substr(0, equals);
  const auto value =
      percent_decoded(equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1), true);
  if (!value) return bad("what " + in_quotes(key, 100) + " is set to is no text: a % without two digits");
  const auto name = lower(key);
  if (name == "tls") {
    const auto tls = flag_of(key, *value);
    if (!tls) return refuse(tls.error());
    url.tls = *tls;
    return {};
  }
  if (name == "tlsverifycert") {
    const auto verified = flag_of(key, *value);
    if (!verified) return refuse(verified.error());
    if (*verified) return {};
    return bad("certificates are always looked at (tlsVerifyCert): give their CA, by tlsCaFile or --from-tls-ca");
  }
  if (name == "tlscafile") {
    url.tls_ca = *value;
    return {};
  }
  if (name == "usercertfile" || name == "userkeyfile")
    return bad(in_quotes(key, 100) + " is not offered: give a user and a password");
  if (std::ranges::find(passed_over, name) != passed_over.end()) return {};
  return bad(in_quotes(key, 100) + " is no setting that is known");
}

}  // namespace

Result<KurrentUrl> KurrentUrl::parse(std::string_view text) {
  KurrentUrl url;
  const auto question = text.find('?');
  auto place = text.substr(0, question);
  if (const auto at = place.rfind('@'); at != std::string_view::npos) {
    const auto who = place.substr(0, at);
    const auto colon = who.find(':');
    if (colon == std::string_view::npos) return bad("a user has a password: USER:PASSWORD@HOST:PORT");
    const auto user = percent_decoded(who.substr(0, colon), false);
    const auto password = percent_decoded(who.substr(colon + 1), false);
    if (!user || !password || user->empty()) return bad("USER:PASSWORD is no text: a % without two digits, or no user");
    url.user = *user;
    url.password = *password;
    place.remove_prefix(at + 1);
  }
  while (place.ends_with('/')) place.remove_suffix(1);
  EVERSHARD_TRY(each(place, ',', [&](std::string_view part) -> Result<void> {
    auto host = host_of(part);
    if (!host) return refuse(std::move(host).error());
    url.hosts.push_back(*std::move(host));
    return {};
  }));
  if (question == std::string_view::npos) return url;
  EVERSHARD_TRY(each(text.substr(question + 1), '&', [&](std::string_view part) { return read_setting(part, url); }));
  return url;
}

std::string KurrentUrl::name() const {
  std::string name = "kurrentdb://";
  for (const auto& host : hosts) name += (&host == hosts.data() ? "" : ",") + host;
  return name;
}

}  // namespace evershard::cli
