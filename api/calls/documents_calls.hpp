// The calls of Documents, and the documents that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/documents.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<Documents>& documents_calls();

/// Documents elsewhere.
class AskedDocuments final : public Documents {
 public:
  explicit AskedDocuments(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

  Result<DocumentDefinition> define(const std::string& type, const std::string& spec,
                                    std::optional<SeqNr> expected = {}, bool rebuild = false) override;
  Result<void> drop(const std::string& type) override;
  Result<std::vector<DocumentDefinition>> definitions() override;
  Result<ProjectionInfo> describe(const std::string& type) override;
  Result<Document> get(const AggregateId& aggregate, DocumentRead how = DocumentRead::strict,
                       std::optional<GlobalPosition> at_least = {},
                       milliseconds timeout = std::chrono::seconds(30)) override;
  Result<DocumentPage> list(const DocumentListing& listing) override;
  Result<void> remove(const AggregateId& aggregate) override;

 private:
  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
