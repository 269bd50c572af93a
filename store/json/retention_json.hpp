// The JSON shape of retention: policies, and the log of what was removed.

#pragma once

#include "evershard/store/api/retention.hpp"
#include "evershard/store/json/json_text.hpp"

namespace evershard {

/// `{"name":"carts","kind":"remove","type":"cart","keep_seconds":7776000,"uncovered":false}`
void write_retention_policy(JsonText& json, const RetentionPolicy& policy);
/// `{"number":1,"position":9,"at":"...","what":"$RemovalOrdered","says":{...}}`
void write_retention_entry(JsonText& json, const RetentionEntry& entry);

}  // namespace evershard
