// ImportSource: a running store of another kind, from which `evershard import --from` copies.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// An event of the source's, as it is to be stored here.
struct ImportedEvent {
  std::uint64_t position = 0;  ///< in the source: ascending
  Event event{};
  std::string content{};  ///< all that the source knows of it, but its position: equal content, equal bytes
};

class ImportSource {
 public:
  virtual ~ImportSource() = default;

  /// The position of its last event; 0: it has none. Errors: unavailable, unauthenticated, permission_denied
  [[nodiscard]] virtual Result<std::uint64_t> head() = 0;
  /// The next events behind a position, up to about `events` of them. None: there are no more.
  /// Errors: those of head(), invalid_argument: an event that cannot be stored here, with its position
  [[nodiscard]] virtual Result<std::vector<ImportedEvent>> read_after(std::uint64_t position, std::size_t events) = 0;

  /// What the source would know of an event that is stored here.
  [[nodiscard]] virtual std::string content_of(const RecordedEvent& event) const = 0;
  /// Its id is another event's already: it gets another one, and content_of() shows the source's.
  virtual void give_other_id(Event& event) const = 0;
};

struct SourceAccess {
  std::string token{};   ///< empty: none
  std::string tls_ca{};  ///< a file; empty: no TLS
};

/// `url`: umadb://HOST:PORT. Errors: invalid_argument: no such source; io: the CA's file
[[nodiscard]] Result<std::unique_ptr<ImportSource>> open_source(const std::string& url, const SourceAccess& access);

/// Each lies in a file of its own; `address`: what follows the scheme.
[[nodiscard]] Result<std::unique_ptr<ImportSource>> open_umadb_source(const std::string& address,
                                                                      const SourceAccess& access);

}  // namespace evershard::cli
