#include "evershard/compat/import/import_source.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

struct Scheme {
  std::string_view begins;
  Result<std::unique_ptr<ImportSource>> (*open)(const std::string& address, const SourceAccess& access);
};

constexpr std::array import_schemes{Scheme{"umadb://", open_umadb_source}, Scheme{"kurrentdb://", open_kurrent_source},
                                    Scheme{"kurrentdb+discover://", open_kurrent_source},
                                    Scheme{"esdb://", open_kurrent_source},
                                    Scheme{"esdb+discover://", open_kurrent_source}};

}  // namespace

std::string SourcePlace::text() const {
  auto text = std::to_string(position);
  if (part != 0 || nth != 0) text += '/' + std::to_string(part);
  if (nth != 0) text += '/' + std::to_string(nth);
  return text;
}

SourcePlace SourcePlace::from(std::string_view text) {
  SourcePlace place;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (auto* number : {&place.position, &place.part, &place.nth}) {
    const auto [behind, error] = std::from_chars(at, end, *number);
    if (error != std::errc() || behind == end || *behind != '/') break;
    at = behind + 1;
  }
  return place;
}

Result<std::unique_ptr<ImportSource>> open_source(const std::string& url, const SourceAccess& access) {
  for (const auto& scheme : import_schemes) {
    if (url.starts_with(scheme.begins) && url.size() > scheme.begins.size())
      return scheme.open(url.substr(scheme.begins.size()), access);
  }
  // The message has only the scheme: the rest of the address may hold a password.
  return refuse(ErrorCode::invalid_argument,
                in_quotes(url.substr(0, url.find(':')), 100) +
                    " is no store to import from: umadb://HOST:PORT, kurrentdb://HOST:PORT");
}

}  // namespace evershard::cli
