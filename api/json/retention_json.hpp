// The JSON shape of retention: policies, and the log of what was removed.

#pragma once

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/retention.hpp"

namespace evershard {

/// `{"name":"carts","kind":"remove","type":"cart","keep_seconds":7776000,"uncovered":false}`
void write_retention_policy(JsonText& json, const RetentionPolicy& policy);
/// `{"number":1,"position":9,"at":"...","what":"$RemovalOrdered","says":{...}}`
void write_retention_entry(JsonText& json, const RetentionEntry& entry);

}  // namespace evershard
