#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

std::string_view name_of(Family family) {
  switch (family) {
    case Family::journal:
      return "journal";
    case Family::order:
      return "order";
    case Family::state:
      return "state";
    case Family::streams:
      return "streams";
    case Family::postings:
      return "postings";
    case Family::ids:
      return "ids";
    case Family::directory:
      return "directory";
    case Family::runs:
      return "runs";
  }
  return "unknown";
}

}  // namespace evershard::storage
