// Access: who may do what, by token. The same for every door.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/scope.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::serving {

using evershard::Scope;

/// Shape: one scope
std::string_view name_of(Scope scope);

/// Who is asking.
struct Caller {
  std::string name;  ///< for logs and limits; never the token
  std::uint8_t scopes = 0;
  bool by_token = true;  ///< false: nobody has to show one

  /// All of them.
  [[nodiscard]] bool may(Scope wanted) const {
    return (scopes & static_cast<std::uint8_t>(wanted)) == static_cast<std::uint8_t>(wanted);
  }
  /// Errors: permission_denied (names the scopes that are missing)
  [[nodiscard]] Result<void> check(Scope wanted) const;
};

/// Never changes once made: a door that reloads its tokens takes a new one.
class Access {
 public:
  /// No tokens: everybody may do everything. For loopback, or where somebody said --insecure.
  [[nodiscard]] static Access open();

  /// One token a line: NAME SCOPE[,SCOPE...] TOKEN; empty lines and # comments are skipped. `name`: of the text, for
  /// errors, which never show a token.
  ///
  /// Errors: invalid_argument (an unknown scope, a token under 16 bytes, a name or token that comes twice, no token at
  /// all)
  [[nodiscard]] static Result<Access> of_tokens(std::string_view text, std::string_view name);

  [[nodiscard]] bool is_open() const { return tokens_.empty(); }

  /// `token`: as it came, empty where none came. Takes as long for a wrong token as for a right one.
  ///
  /// Errors: unauthenticated, permission_denied (names the scopes that are missing)
  [[nodiscard]] Result<Caller> admit(std::string_view token, Scope wanted) const;
  /// Without a scope in mind. Errors: unauthenticated
  [[nodiscard]] Result<Caller> identify(std::string_view token) const;

 private:
  struct Token {
    std::string digest;  ///< SHA-256
    Caller caller;
    std::uint64_t line = 0;  ///< where it was given
  };
  std::vector<Token> tokens_;
};

}  // namespace evershard::serving
