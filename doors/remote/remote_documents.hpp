// RemoteDocuments: the documents of a server.

#pragma once

#include <memory>

#include "evershard/api/documents.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteDocuments final : public Documents {
 public:
  explicit RemoteDocuments(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

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

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
