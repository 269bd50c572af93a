#include "evershard/actors/model/handler_error.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <exception>
#include <memory>

namespace evershard {

Error thrown(ErrorCode code, const std::string& what_ran) {
  try {
    throw;
  } catch (const std::exception& e) {
    return {code, what_ran + " threw: " + e.what()};
  } catch (...) {
    return {code, what_ran + " threw something that is not a std::exception"};
  }
}

std::string cpp_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? name.get() : type.name();
}

}  // namespace evershard
