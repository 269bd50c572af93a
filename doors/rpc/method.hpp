// Method: a call that a server answers, by its path.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "evershard/doors/rpc/bytes.hpp"
#include "evershard/doors/rpc/context.hpp"
#include "evershard/doors/rpc/reactor.hpp"

namespace evershard::rpc {

struct Method {
  bool client_streams = false;
  bool server_streams = false;
  /// Begins a call. `in`: the request, where the client streams none; `out`: to be filled before finish(OK), where the
  /// server streams none; both live until on_done().
  std::function<Reactor*(Context& context, const Bytes* in, Bytes* out)> start;
};

/// Whole before a server starts.
class Methods {
 public:
  /// `path`: as `/evershard.v1.EventStore/Head`
  void add(std::string path, Method method) { by_path_.insert_or_assign(std::move(path), std::move(method)); }
  [[nodiscard]] const Method* find(const std::string& path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string, Method> by_path_;
};

}  // namespace evershard::rpc
