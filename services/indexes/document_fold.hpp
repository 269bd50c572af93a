// DocumentFold: what an aggregate type's events make of its documents, declared and not programmed.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// One aggregate's document. Copied, compared and kept as JSON.
class FoldedDocument {
 public:
  FoldedDocument();
  FoldedDocument(const FoldedDocument& other);
  FoldedDocument(FoldedDocument&&) noexcept;
  FoldedDocument& operator=(FoldedDocument other) noexcept;
  ~FoldedDocument();

  [[nodiscard]] std::string json() const;  ///< an object; members in order of name

  SeqNr version{};             ///< of the last event that the fold has a rule for
  GlobalPosition position{};   ///< its place
  SeqNr hidden{};              ///< removed at this version: not shown until the next such event; 0: never
  std::uint64_t events = 0;    ///< that went into it
  std::uint64_t problems = 0;  ///< steps that could not be done, and were left out
  std::string last_problem{};  ///< with its position

  [[nodiscard]] bool is_shown() const { return version > hidden; }
  /// Some events of the aggregate, up to this one, were removed before they were read: counted as a problem.
  void note_removed(std::uint64_t events, SeqNr last);

  /// For keeping it. Errors of decode: corruption
  [[nodiscard]] std::string encode() const;
  [[nodiscard]] static Result<FoldedDocument> decode(std::string_view bytes);
  friend bool operator==(const FoldedDocument& a, const FoldedDocument& b) { return a.encode() == b.encode(); }

 private:
  friend class DocumentFold;
  friend class DocumentFilter;
  struct Value;
  std::unique_ptr<Value> value_;
};

/// A definition, checked. Immutable; any thread.
///
/// Shape: `{"events":{"OrderPlaced":[STEP,...],"OrderShipped":STEP,"OrderViewed":"ignore"}}`, a STEP one of
///          {"merge":true}                        the payload's members into the document; {"merge":"customer"}: those
///                                                of the object there in the payload; with "into":"PATH" into that
///                                                object of the document
///          {"set":"PATH","from":"PATH"}          or "value":JSON
///          {"increment":"PATH","from":"PATH"}    or "by":NUMBER; both: from times by. An absent number counts as 0
///          {"append":"PATH","from":"PATH"}       or "value":JSON: to the end of a list; an absent list is empty
///          {"remove":"PATH"}
///        A PATH is `total`, `customer.name`, or an array of names. In `from`, `$type`, `$id`, `$position`, `$seq_nr`,
///        `$occurred_at` are the event's own.
/// Source: docs/documents.md
class DocumentFold {
 public:
  /// Errors: invalid_argument, with the place of the mistake
  [[nodiscard]] static Result<DocumentFold> of(std::string_view spec);

  /// In order of name; those with no step too.
  [[nodiscard]] std::vector<std::string> event_types() const;
  /// Also the aggregate's removal.
  [[nodiscard]] bool knows(std::string_view event_type) const;

  /// The next event of the aggregate. `payload`: as JSON, whatever it is stored as. What is not in the payload changes
  /// nothing; a step that cannot be done (an increment of a text, a document of more than 8 MiB) is left out and
  /// counted, and so is one that needs a payload which is not JSON; of an event whose payload is erased all are, and
  /// count once. The aggregate's removal clears and hides the document; what comes behind it begins anew.
  void apply(FoldedDocument& document, const RecordedEvent& event, std::string_view payload) const;

 private:
  struct Step;
  std::map<std::string, std::shared_ptr<const std::vector<Step>>, std::less<>> rules_;
};

/// A comparison with a value of the document: `status = "open"`, `customer.city != "Oslo"`, `total >= 10`.
///
/// Numbers are compared with numbers, texts byte by byte with texts, true, false and null for equality; values of
/// different kinds are never equal, and only `!=` holds between them, as it does where there is no such value.
class DocumentFilter {
 public:
  /// Shape: PATH OPERATOR JSON, the operator one of = != < <= > >=. Errors: invalid_argument
  [[nodiscard]] static Result<DocumentFilter> parse(std::string_view text);
  [[nodiscard]] bool holds(const FoldedDocument& document) const;

 private:
  enum class Operator : std::uint8_t { equal, not_equal, less, less_or_equal, greater, greater_or_equal };
  std::vector<std::string> path_;
  Operator operator_ = Operator::equal;
  std::shared_ptr<const FoldedDocument::Value> with_;
};

}  // namespace evershard::actors
