// ImportSource: a running store of another kind, from which `evershard import --from` copies.

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

/// Where an event is in the source's order: its position, and what tells it from others at the same one.
struct SourcePlace {
  std::uint64_t position = 0;
  std::uint64_t part = 0;
  std::uint64_t nth = 0;

  /// `12`, `12/7` or `12/7/1`: without zeros at its end.
  [[nodiscard]] std::string text() const;
  /// What is missing, or is no number, is 0.
  [[nodiscard]] static SourcePlace from(std::string_view text);
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};

/// Why an event of the source's cannot be stored here.
struct RefusedEvent {
  Error why{};          ///< with its position, and what stands in the way
  std::string shown{};  ///< the event: JSON of the source's own message, bytes in base64
};

/// An event of the source's, as it is to be stored here.
struct ImportedEvent {
  SourcePlace place{};  ///< ascending
  Event event{};
  std::string content{};  ///< all that the source knows of it, but its place: equal content, equal bytes
  /// Its number in its aggregate, from 0, where it has one there. Numbers that are left out are of events that are
  /// gone.
  std::optional<std::uint64_t> revision{};
  /// It cannot be stored: there is nothing else but its place.
  std::optional<RefusedEvent> refused{};
};

/// A page of a source is read to its end or, of large events, until it has so many bytes.
inline constexpr std::size_t page_bytes_enough = 16u << 20;

class ImportSource {
 public:
  virtual ~ImportSource() = default;

  /// What an import of it is called, where no other name is given: where it is, without passwords.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Where its last event is; 0: it has none. Errors: unavailable, unauthenticated, permission_denied
  [[nodiscard]] virtual Result<SourcePlace> head() = 0;
  /// The next events behind a place, up to about `events` of them and little more than page_bytes_enough. None: there
  /// are no more.
  /// Errors: those of head()
  [[nodiscard]] virtual Result<std::vector<ImportedEvent>> read_after(SourcePlace place, std::size_t events) = 0;
  /// How many events were read from its beginning on and are none to be imported: the server's own.
  [[nodiscard]] virtual std::uint64_t left_out() const { return 0; }

  /// What the source would know of an event that is stored here.
  [[nodiscard]] virtual std::string content_of(const RecordedEvent& event) const = 0;
  /// Its id is another event's already: it gets another one, and content_of() shows the source's.
  virtual void give_other_id(ImportedEvent& event) const = 0;
};

struct SourceAccess {
  std::string token{};    ///< empty: none
  std::string tls_ca{};   ///< a file; empty: none is given
  bool renumber = false;  ///< numbers in aggregates are not kept, and not compared
};

/// `url`: umadb://HOST:PORT, kurrentdb://USER:PASSWORD@HOST:PORT?tls=false. Errors: invalid_argument: no such source;
/// io: the CA's file
[[nodiscard]] Result<std::unique_ptr<ImportSource>> open_source(const std::string& url, const SourceAccess& access);

/// Each lies in a file of its own; `address`: what follows the scheme.
[[nodiscard]] Result<std::unique_ptr<ImportSource>> open_umadb_source(const std::string& address,
                                                                      const SourceAccess& access);
[[nodiscard]] Result<std::unique_ptr<ImportSource>> open_kurrent_source(const std::string& address,
                                                                        const SourceAccess& access);

}  // namespace evershard::cli
