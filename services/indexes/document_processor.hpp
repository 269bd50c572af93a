// DocumentProcessor: a row a document, kept behind the watermark.

#pragma once

#include <string>

#include "evershard/services/indexes/document_fold.hpp"
#include "evershard/services/indexes/processor.hpp"

namespace evershard::actors {

/// What hides a document: an event of `$hidden_document-TYPE-VALUE`, with the version at which it was removed.
inline constexpr std::string_view hidden_document_type = "$hidden_document";
inline constexpr std::string_view document_hidden = "$DocumentHidden";

[[nodiscard]] std::string document_hidden_payload(SeqNr version);
/// Errors: corruption
[[nodiscard]] Result<SeqNr> read_document_hidden(std::string_view payload);

/// The payload as JSON: as it is, or what registered types make of it. Empty: there is none. Any thread.
using DocumentPayload = std::function<std::string(const RecordedEvent& event)>;

/// How many events of an aggregate from one number to another, both inclusive, were removed, and the last of them.
struct RemovedEvents {
  std::uint64_t events = 0;
  SeqNr last{};
};
/// Errors: of reading
using RemovedBetween = std::function<Result<RemovedEvents>(const AggregateId& aggregate, SeqNr from, SeqNr to)>;

/// Rows: the value of the aggregate's id -> FoldedDocument::encode().
class DocumentProcessor final : public Processor {
 public:
  /// `removed`: asked where an event that the fold knows does not follow the one before; absent: nothing is ever
  /// removed.
  DocumentProcessor(std::string aggregate_type, DocumentFold fold, DocumentPayload as_json,
                    RemovedBetween removed = {});

  [[nodiscard]] const Query& query() const override { return query_; }
  [[nodiscard]] Result<void> handle(std::span<const RecordedEvent* const> events, ProjectionRows& rows) override;

 private:
  /// The aggregate's next event, and what is gone between it and the one before.
  [[nodiscard]] Result<void> fold(FoldedDocument& document, const RecordedEvent& event) const;

  const std::string aggregate_type_;
  const DocumentFold fold_;
  const DocumentPayload as_json_;
  const RemovedBetween removed_;
  Query query_;
};

/// Definitions whose name is the aggregate type, and whose kind is "document".
class DocumentProcessorKind final : public ProcessorKind {
 public:
  explicit DocumentProcessorKind(DocumentPayload as_json, RemovedBetween removed = {})
      : as_json_(std::move(as_json)), removed_(std::move(removed)) {}
  [[nodiscard]] Result<std::string> check(const std::string& name, const std::string& spec) const override;
  [[nodiscard]] Result<std::unique_ptr<Processor>> make(const std::string& name,
                                                        const std::string& spec) const override;

 private:
  const DocumentPayload as_json_;
  const RemovedBetween removed_;
};

}  // namespace evershard::actors
