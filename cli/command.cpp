#include "evershard/cli/command.hpp"

#include <cstdlib>
#include <system_error>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {

std::filesystem::path Invocation::data_dir() const {
  if (auto given = arguments.text("data"); given && !given->empty()) return *given;
  if (const char* set = std::getenv("EVERSHARD_DATA"); set != nullptr && *set != '\0') return set;
  throw UsageError("--data DIR is missing", "or set EVERSHARD_DATA");
}

Outcome Invocation::look_for_store() const {
  const auto directory = data_dir();
  std::error_code error;
  if (std::filesystem::exists(directory, error) && !std::filesystem::is_empty(directory, error)) return {};
  return Failed(Failure(ErrorCode::not_found, "there is no store in " + in_quotes(directory.string(), 300),
                        "create one with `evershard init --data " + directory.string() + "`"));
}

tl::expected<Local, Failure> Invocation::open(LocalOptions options) const {
  options.data_dir = data_dir();
  options.create = false;
  if (auto there = look_for_store(); !there) return Failed(std::move(there).error());
  auto store = Local::open(std::move(options));
  if (!store) return Failed(Failure(std::move(store).error()));
  return std::move(*store);
}

Options store_options() {
  Options options;
  options.value("data", "DIR", "the store's directory; else the environment's EVERSHARD_DATA");
  return options;
}

}  // namespace evershard::cli
