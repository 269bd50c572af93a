// The service evershard.v1.Documents.

#pragma once

#include "evershard/doors/grpc/service_of.hpp"
#include "evershard/v1/documents.grpc.pb.h"

namespace evershard::door {

class DocumentsService final : public ServiceOf<pb::Documents> {
 public:
  explicit DocumentsService(Calls& calls);

 private:
  /// Errors: unavailable: this process keeps no documents
  [[nodiscard]] Result<Documents*> documents() const;
};

}  // namespace evershard::door
