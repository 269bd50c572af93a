// The JSON shapes of what an operator asks: which store it is, its figures, what verify found.

#pragma once

#include "evershard/store/api/administration.hpp"
#include "evershard/store/json/json_text.hpp"

namespace evershard {

/// The members of an object.
void write_info_members(JsonText& json, const StoreInfo& info);
/// One object, as `evershard stats` prints it. Source: docs/command-line.md
void write_stats(JsonText& json, const StoreStats& stats);
void write_verify_report(JsonText& json, const VerifyReport& report);
/// The members of an object.
void write_verify_members(JsonText& json, const VerifyReport& report);

}  // namespace evershard
