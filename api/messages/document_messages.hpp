// The values of the service Documents.

#pragma once

#include "evershard/api/documents.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/documents.pb.h"

namespace evershard::messages {

void put(const DocumentDefinition& from, pb::DocumentDefinition& to);
void put(Document&& from, pb::Document& to);

[[nodiscard]] DocumentDefinition definition_of(const pb::DocumentDefinition& from);
[[nodiscard]] Document document_of(pb::Document&& from);

}  // namespace evershard::messages
