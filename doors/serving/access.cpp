#include "evershard/doors/serving/access.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>
#include <sstream>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::serving {
namespace {

constexpr std::size_t token_bytes_min = 16;
constexpr std::array scopes_known{Scope::read, Scope::append, Scope::admin};

std::string digest_of(std::string_view token) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

/// Absent: an unknown one.
std::optional<std::uint8_t> scopes_of(std::string_view list) {
  std::uint8_t scopes = 0;
  for (bool more = true; more;) {
    const auto end = list.find(',');
    const auto word = list.substr(0, end);
    more = end != std::string_view::npos;
    if (more) list.remove_prefix(end + 1);
    bool known = false;
    for (const auto scope : scopes_known) {
      if (word != name_of(scope)) continue;
      scopes |= static_cast<std::uint8_t>(scope);
      known = true;
    }
    if (!known) return std::nullopt;
  }
  return scopes;
}

}  // namespace

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::read:
      return "read";
    case Scope::append:
      return "append";
    case Scope::admin:
      return "admin";
  }
  return "unknown";
}

Result<void> Caller::check(Scope wanted) const {
  std::string missing;
  for (const auto scope : scopes_known)
    if ((static_cast<std::uint8_t>(wanted) & static_cast<std::uint8_t>(scope)) != 0 && !may(scope))
      missing += (missing.empty() ? "" : " and ") + std::string(name_of(scope));
  if (missing.empty()) return {};
  return refuse(ErrorCode::permission_denied, in_quotes(name, 60) + " does not have the scope " + missing);
}

Access Access::open() { return {}; }

Result<Access> Access::of_tokens(std::string_view text, std::string_view name) {
  Access access;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::uint64_t number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string who, scopes, token, more;
    if (!(words >> who) || who.starts_with('#')) continue;
    // No word of the line: in a line whose parts are in a wrong order, any of them may be the token.
    const auto wrong = [&](const std::string& what) {
      return refuse(ErrorCode::invalid_argument, std::string(name) + ", line " + std::to_string(number) + ": " + what);
    };
    if (!(words >> scopes >> token) || words >> more) return wrong("a line is NAME SCOPE[,SCOPE...] TOKEN");
    const auto may = scopes_of(scopes);
    // Of a line with its words in a wrong order any word may be the token: none is shown.
    if (!may || *may == 0) return wrong("the second word is no list of read, append and admin");
    if (token.size() < token_bytes_min) return wrong("the token has fewer than 16 bytes");
    auto digest = digest_of(token);
    for (const auto& known : access.tokens_) {
      if (known.caller.name == who) return wrong("the name is that of line " + std::to_string(known.line));
      if (known.digest == digest) return wrong("the token is that of line " + std::to_string(known.line));
    }
    access.tokens_.push_back({std::move(digest), Caller{std::move(who), *may}, number});
  }
  if (access.tokens_.empty()) return refuse(ErrorCode::invalid_argument, std::string(name) + " holds no token");
  return access;
}

Result<Caller> Access::identify(std::string_view token) const {
  if (is_open()) return Caller{"anybody", 0xff, false};
  const auto digest = digest_of(token);
  const Token* found = nullptr;
  for (const auto& known : tokens_) {
    if (CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) found = &known;
  }
  if (found == nullptr)
    return refuse(ErrorCode::unauthenticated, token.empty() ? "a token is needed" : "the token is not known");
  return found->caller;
}

Result<Caller> Access::admit(std::string_view token, Scope wanted) const {
  auto caller = identify(token);
  if (caller) EVERSHARD_TRY(caller->check(wanted));
  return caller;
}

}  // namespace evershard::serving
