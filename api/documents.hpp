// Documents: the current state of aggregates as JSON, by id, made of their events by a declared definition.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/projections.hpp"
#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// What the documents of one aggregate type are made by.
struct DocumentDefinition {
  std::string type;        ///< of aggregates
  std::string spec;        ///< JSON. Source: docs/documents.md, "Write a definition"
  SeqNr version{};         ///< of `$document-TYPE`: what the next change expects, and what documents made by it name
  GlobalPosition since{};  ///< where this spec was written
  friend bool operator==(const DocumentDefinition&, const DocumentDefinition&) = default;
};

struct Document {
  AggregateId aggregate;
  std::string json;            ///< an object
  SeqNr version{};             ///< of the last event that the definition has a rule for
  GlobalPosition position{};   ///< its place
  std::uint64_t problems = 0;  ///< steps that could not be done, and were left out
  std::string last_problem{};
  SeqNr definition{};  ///< the version of the definition that it is made by
  friend bool operator==(const Document&, const Document&) = default;
};

enum class DocumentRead : std::uint8_t {
  strict,    ///< behind everything that is ordered for that aggregate; waits for no other
  eventual,  ///< as the rows have it now: of the newest definition that has caught up
};

struct DocumentListing {
  std::string type;
  std::optional<std::string> after{};  ///< begins behind this value of an aggregate id; exclusive
  std::size_t limit = 100;             ///< at most 10,000
  std::optional<std::string>
      filter{};  ///< PATH OPERATOR JSON: `total >= 10`. Source: docs/documents.md, "Read documents"
  std::optional<GlobalPosition> at_least{};                      ///< the rows must have passed it
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< of that, and of `definition`
  /// Rows of that version alone: of a further page what the first one named, so that a list is of one definition. One
  /// that is still being made is waited for; 0: the newest. Absent: the newest that has caught up.
  std::optional<SeqNr> definition{};
};

/// In order of value. A page may end before the limit: `next` says whether there is more.
struct DocumentPage {
  std::vector<Document> documents;
  std::optional<std::string> next;  ///< what the next page's `after` is; absent: this is the last one
  GlobalPosition position{};        ///< the rows show every event up to here
  SeqNr definition{};               ///< the version of the definition that all of them are made by
  friend bool operator==(const DocumentPage&, const DocumentPage&) = default;
};

/// From any thread. Documents are derived: there is no set, and they are made anew wherever they are lost.
class Documents {
 public:
  virtual ~Documents() = default;

  /// Creates, or changes: then all documents of the type are made again, beside the ones that are read until that is
  /// done.
  ///
  /// `expected`: the version it must have, 0: there must be none; absent: whatever it has. The same definition again is
  /// no change, but with `rebuild`: then its documents are made again of the events that are left. Errors:
  /// invalid_argument (the type, the spec), version_conflict, of append
  [[nodiscard]] virtual Result<DocumentDefinition> define(const std::string& type, const std::string& spec,
                                                          std::optional<SeqNr> expected = {}, bool rebuild = false) = 0;
  /// Errors: not_found, of append
  [[nodiscard]] virtual Result<void> drop(const std::string& type) = 0;
  /// In order of type.
  [[nodiscard]] virtual Result<std::vector<DocumentDefinition>> definitions() = 0;

  /// Which versions are kept, how far each is, which is read. `name` is the type. Errors: not_found
  [[nodiscard]] virtual Result<ProjectionInfo> describe(const std::string& type) = 0;

  /// Strict: made by the newest definition. `at_least`: once the store, or the rows that an eventual read shows, have
  /// passed it. Errors: not_found: no definition, no such document, or it was removed; timeout
  [[nodiscard]] virtual Result<Document> get(const AggregateId& aggregate, DocumentRead how = DocumentRead::strict,
                                             std::optional<GlobalPosition> at_least = {},
                                             std::chrono::milliseconds timeout = std::chrono::seconds(30)) = 0;
  /// Eventual. Errors: not_found: no definition, or no rows of that version of it any more; invalid_argument: the
  /// filter, the limit; timeout
  [[nodiscard]] virtual Result<DocumentPage> list(const DocumentListing& listing) = 0;
  /// Hides the document until the aggregate's next event that the definition has a rule for; the events stay.
  /// Errors: not_found: there is none to remove; of append
  [[nodiscard]] virtual Result<void> remove(const AggregateId& aggregate) = 0;
};

}  // namespace evershard
