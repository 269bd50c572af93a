// LazyDocuments: documents that are opened when they are first wanted: a store that has none pays nothing for them.

#pragma once

#include <memory>
#include <mutex>

#include "evershard/services/documents/store_documents.hpp"
#include "evershard/services/engine/tried_again.hpp"

namespace evershard::cluster {

/// Any thread. Owner: the events outlive it; they take reserved names.
class LazyDocuments final : public Documents {
 public:
  LazyDocuments(EventStore& events, StoreDocumentsOptions options)
      : events_(events), options_(std::move(options)), begins_("the documents do not go on", options_.engine.warn) {}
  ~LazyDocuments() override { close(); }

  /// Goes on from the checkpoints, if documents are defined. Rows that cannot be opened are warned of, and tried again.
  void begin();
  /// Nothing works any more, nothing is written; whoever asks is told `unavailable`.
  void close();

  Result<DocumentDefinition> define(const std::string& type, const std::string& spec,
                                    std::optional<SeqNr> expected = {}, bool rebuild = false) override;
  Result<void> drop(const std::string& type) override;
  Result<std::vector<DocumentDefinition>> definitions() override;
  Result<ProjectionInfo> describe(const std::string& type) override;
  Result<Document> get(const AggregateId& aggregate, DocumentRead how = DocumentRead::strict,
                       std::optional<GlobalPosition> at_least = {},
                       std::chrono::milliseconds timeout = std::chrono::seconds(30)) override;
  Result<DocumentPage> list(const DocumentListing& listing) override;
  Result<void> remove(const AggregateId& aggregate) override;
  /// Does nothing where no rows were ever opened. Errors: cancelled, io
  [[nodiscard]] Result<void> vacuum(const storage::Progress& progress, unsigned removed_percent = 0);

 private:
  Result<std::shared_ptr<StoreDocuments>> opened();

  EventStore& events_;
  const StoreDocumentsOptions options_;
  TriedAgain begins_;
  std::mutex mutex_;  ///< of those below
  bool closed_ = false;
  std::shared_ptr<StoreDocuments> documents_;
};

}  // namespace evershard::cluster
