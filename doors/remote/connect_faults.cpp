#include "evershard/doors/remote/connect_faults.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

#include "evershard/doors/remote/write_outcome.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::remote {
namespace {

constexpr auto a_moment = std::chrono::seconds(1);  ///< a server that is just being started again
constexpr std::string_view default_port = "7420";

struct FaultWords {
  std::string_view part;  ///< of gRPC's text, in lower case
  std::string_view words;
  bool at_once;
};

constexpr std::string_view not_trusted = "its certificate is not signed by anybody who is trusted here";
constexpr std::string_view other_name = "its certificate is made out to another name";
constexpr std::string_view not_tls = "it does not speak TLS";
constexpr std::string_view handshake =
    "the TLS handshake fails: it does not speak TLS, or its certificate is not trusted here";
constexpr std::string_view speaks_http = "it speaks HTTP/1, not gRPC: the HTTP door has a port of its own";
constexpr std::string_view nobody = "nobody listens there";
constexpr std::string_view no_host = "there is no host of that name";
constexpr std::string_view closes = "it closes the connection at once: it may want TLS";

constexpr FaultWords known_faults[] = {
    {"certificate_verify_failed", not_trusted, true},
    {"self-signed", not_trusted, true},
    {"self signed", not_trusted, true},
    {"unable to verify", not_trusted, true},
    {"unable to get local issuer", not_trusted, true},
    {"hostname verification", other_name, true},
    {"altnames", other_name, true},
    {"wrong_version_number", not_tls, true},
    {"wrong version number", not_tls, true},
    {"handshake failed", handshake, true},
    {"http1.x", speaks_http, true},
    {"failed parsing http/2", speaks_http, true},
    {"protocol error", speaks_http, true},
    {"connection refused", nobody, false},
    {"econnrefused", nobody, false},
    {"no such file or directory", nobody, false},
    {"enoent", nobody, false},
    {"errors resolving", no_host, false},
    {"dns resolution failed", no_host, false},
    {"name resolution failed", no_host, false},
    {"socket closed", closes, false},
    {"connection reset", closes, false},
    {"econnreset", closes, false},
    {"last error: failed to connect (", closes, false},
};

const FaultWords* fault_of(const Error& error) {
  if (!never_sent(error) || error.what.starts_with(no_connection)) return nullptr;
  std::string lower = error.what;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const auto* found = std::ranges::find_if(
      known_faults, [&](const FaultWords& known) { return lower.find(known.part) != std::string::npos; });
  return found == std::end(known_faults) ? nullptr : found;
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port != 0;
}

Refused no_address(std::string_view text, const char* why) {
  return refuse(ErrorCode::invalid_argument, in_quotes(text, 300) + " is no address: " + why);
}

}  // namespace

Result<std::string> whole_address(std::string_view text) {
  for (const std::string_view scheme : {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"}) {
    if (text.starts_with(scheme)) return std::string(text);
  }
  std::string_view host = text;
  std::optional<std::string_view> port;
  const bool bracketed = text.starts_with('[');
  if (bracketed) {
    const auto close = text.find(']');
    if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != ':'))
      return no_address(text, "HOST:PORT, [IPV6]:PORT or unix:PATH");
    host = text.substr(1, close - 1);
    if (close + 1 < text.size()) port = text.substr(close + 2);
  } else if (std::ranges::count(text, ':') == 1) {
    host = text.substr(0, text.find(':'));
    port = text.substr(text.find(':') + 1);
  }
  if (host.empty() || host.find_first_of(" \t\r\n/[]") != std::string_view::npos)
    return no_address(text, "HOST:PORT, [IPV6]:PORT or unix:PATH");
  if (port && !is_port(*port)) return no_address(text, "its port is no number from 1 to 65535");
  const bool v6 = host.find(':') != std::string_view::npos;
  return (v6 ? '[' + std::string(host) + ']' : std::string(host)) + ':' + std::string(port.value_or(default_port));
}

std::optional<std::string_view> fault_words(const Error& error) {
  const auto* known = fault_of(error);
  return known == nullptr ? std::nullopt : std::optional(known->words);
}

Error ConnectFaults::failed(std::size_t number, const std::string& address, Error error, bool told,
                            Clock::time_point now) {
  if (told) heard();
  const auto* known = heard_ ? nullptr : fault_of(error);
  if (known != nullptr) {
    since_.emplace(number, now);
    final_.try_emplace(number, ErrorCode::unavailable, no_connection + address + ": " + std::string(known->words));
  } else if (heard_ || !never_sent(error)) {
    since_.erase(number);
    final_.erase(number);
  }
  // An attempt that nobody looked at ends with its time, and hides why: what was said before counts.
  const auto seen = final_.find(number);
  if (seen == final_.end()) return error;
  if ((known != nullptr && known->at_once) || now - since_.at(number) >= a_moment) {
    ErrorDetails details;
    details.lasting = true;
    seen->second.details = std::make_shared<const ErrorDetails>(std::move(details));
  }
  return final_fault().value_or(std::move(error));
}

std::optional<Error> ConnectFaults::final_fault() const {
  const auto lasting = [](const auto& one) { return one.second.lasting(); };
  if (heard_ || static_cast<std::size_t>(std::ranges::count_if(final_, lasting)) < addresses_) return std::nullopt;
  return std::ranges::find_if(final_, lasting)->second;
}

}  // namespace evershard::remote
