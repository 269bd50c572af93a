// StoreDocuments: the documents of a store in one process, rows kept behind the watermark in a database of their own.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "evershard/api/documents.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/engine/projection_engine.hpp"
#include "evershard/services/indexes/document_processor.hpp"
#include "evershard/services/rows/projection_store.hpp"

namespace evershard::cluster {

struct StoreDocumentsOptions {
  std::filesystem::path folder{};     ///< of the rows; empty: in memory
  storage::ProjectionOwner owner{};   ///< the store: rows of another one, or of another fork, are cleared
  actors::DocumentPayload as_json{};  ///< absent: payloads are JSON, or a problem of their document
  bool removals = false;  ///< history is removed from this store: documents say so where they are made of a part of it
  EngineOptions engine{};
};

/// A strict read takes the row, and folds what the aggregate has behind it: it waits for nothing, whatever the rows are
/// behind.
class StoreDocuments final : public Documents {
 public:
  /// Begins with what is defined. `events` takes reserved names. Owner: `events` outlives it.
  /// Errors: unavailable (the rows are open already), io; those of reading
  [[nodiscard]] static Result<std::unique_ptr<StoreDocuments>> open(EventStore& events, StoreDocumentsOptions options);
  ~StoreDocuments() override;

  Result<DocumentDefinition> define(const std::string& type, const std::string& spec,
                                    std::optional<SeqNr> expected = {}, bool rebuild = false) override;
  Result<void> drop(const std::string& type) override;
  Result<std::vector<DocumentDefinition>> definitions() override;
  /// The same, of the events alone: nothing is opened for them.
  [[nodiscard]] static Result<std::vector<DocumentDefinition>> defined_in(EventStore& events);
  Result<ProjectionInfo> describe(const std::string& type) override;
  Result<Document> get(const AggregateId& aggregate, DocumentRead how = DocumentRead::strict,
                       std::optional<GlobalPosition> at_least = {},
                       std::chrono::milliseconds timeout = std::chrono::seconds(30)) override;
  Result<DocumentPage> list(const DocumentListing& listing) override;
  Result<void> remove(const AggregateId& aggregate) override;

  /// Gives back the space of superseded and removed rows. Errors: cancelled, io
  [[nodiscard]] Result<void> vacuum(const storage::Progress& progress = {}, unsigned removed_percent = 0) {
    return rows_->vacuum(progress, removed_percent);
  }
  /// Nothing works any more, nothing is written. Rows are open until this object goes.
  void close();

 private:
  StoreDocuments(EventStore& events, std::shared_ptr<storage::ProjectionStore> rows, StoreDocumentsOptions options);
  void follow_definitions(GlobalPosition after);
  void warn(const Error& error) const {
    if (options_.engine.warn) options_.engine.warn(error);
  }
  Result<actors::Definition> definition_of(const std::string& type);
  /// The definition as it is just now, carried out.
  Result<actors::Definition> newest_definition(const std::string& type);
  Result<Document> eventual(const AggregateId& aggregate, std::optional<GlobalPosition> at_least,
                            std::chrono::milliseconds timeout);
  Result<ProjectionEngine::Opened> rows_listed(const DocumentListing& listing);
  Result<Document> strict(const AggregateId& aggregate);
  /// The row, where there is one of that version of the definition, else an empty document.
  Result<actors::FoldedDocument> row_of(const AggregateId& aggregate, std::optional<SeqNr> version);
  Result<void> look_up_hidden(const AggregateId& aggregate, actors::FoldedDocument& document);

  EventStore& events_;
  const StoreDocumentsOptions options_;
  const std::shared_ptr<storage::ProjectionStore> rows_;
  Catalogue catalogue_;
  const std::shared_ptr<const actors::DocumentProcessorKind> kind_;
  std::unique_ptr<ProjectionEngine> engine_;
  std::mutex applying_;  ///< of a definition: read, then applied
  std::atomic<bool> closed_{false};
  std::mutex feeding_;  ///< of feed_, for close()
  std::optional<EventFeed> feed_;
  std::thread follower_;
};

}  // namespace evershard::cluster
