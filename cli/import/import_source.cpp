#include "evershard/cli/import/import_source.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {
namespace {

struct Scheme {
  std::string_view begins;
  Result<std::unique_ptr<ImportSource>> (*open)(const std::string& address, const SourceAccess& access);
};

constexpr std::array import_schemes{Scheme{"umadb://", open_umadb_source}};

}  // namespace

Result<std::unique_ptr<ImportSource>> open_source(const std::string& url, const SourceAccess& access) {
  for (const auto& scheme : import_schemes) {
    if (url.starts_with(scheme.begins) && url.size() > scheme.begins.size())
      return scheme.open(url.substr(scheme.begins.size()), access);
  }
  return refuse(ErrorCode::invalid_argument, in_quotes(url, 300) + " is no store to import from: umadb://HOST:PORT");
}

}  // namespace evershard::cli
