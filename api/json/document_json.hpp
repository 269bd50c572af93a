// The JSON shape of documents and of what they are made by.

#pragma once

#include "evershard/api/documents.hpp"
#include "evershard/api/json/json_text.hpp"

namespace evershard {

/// `{"aggregate":"order-1","version":3,"position":17,"definition":1,"document":{...}}`, and `problems`, `last_problem`
/// where there are some.
void write_document(JsonText& json, const Document& document);
/// `{"type":"order","version":1,"since":5,"definition":{...}}`
void write_document_definition(JsonText& json, const DocumentDefinition& definition);

}  // namespace evershard
