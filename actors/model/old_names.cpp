#include "evershard/actors/model/old_names.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {

Result<void> OldNames::check(const KindTypes::Reader& reader, const ByEvent& old) {
  const auto reads = [&](const std::string& name) {
    return std::ranges::find(reader.events, name) != reader.events.end();
  };
  for (const auto& event : reader.events) {
    const auto known = old.find(event);
    if (known == old.end()) continue;
    for (const auto& name : known->second) {
      if (reads(name)) continue;
      return refuse(ErrorCode::invalid_argument, reader.what + " reads events of type " + in_quotes(event) +
                                                     ", and not of the old type " + in_quotes(name) +
                                                     " that becomes one: the old ones would be missing. List both");
    }
  }
  return {};
}

Result<void> OldNames::add(const KindTypes& types) {
  auto old = old_;
  for (const auto& names : types.old_names)
    for (const auto& event : names.becomes) old[event].insert(names.old);
  for (const auto& reader : readers_) EVERSHARD_TRY(check(reader, old));
  for (const auto& reader : types.readers) EVERSHARD_TRY(check(reader, old));
  old_ = std::move(old);
  readers_.insert(readers_.end(), types.readers.begin(), types.readers.end());
  return {};
}

}  // namespace evershard
