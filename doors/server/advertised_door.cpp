#include "evershard/doors/server/advertised_door.hpp"

namespace evershard::server {

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

std::string advertised_door(const std::vector<std::string>& listening, const std::string& host) {
  for (const auto& address : listening) {
    if (address.starts_with("unix:")) continue;
    const auto own = host_of(address);
    const bool of_all = own == "0.0.0.0" || own == "[::]" || own == "*";
    return of_all ? host + address.substr(own.size()) : address;
  }
  return {};
}

}  // namespace evershard::server
