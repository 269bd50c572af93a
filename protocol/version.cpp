#include "evershard/protocol/version.hpp"

namespace evershard {

std::string ExpectedVersion::text() const {
  switch (kind_) {
    case Kind::any:
      return "any";
    case Kind::none:
      return "none";
    case Kind::exists:
      return "exists";
    case Kind::exactly:
      break;
  }
  return std::to_string(number_.value);
}

}  // namespace evershard
