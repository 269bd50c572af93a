#include "evershard/doors/serving/client_gate.hpp"

#include <utility>

namespace evershard::serving {

std::string client_name(const Caller& caller, std::string_view address) {
  // Neither can be the other: a token may be called as it likes.
  return caller.by_token && !caller.name.empty() ? "token " + caller.name : "address " + std::string(address);
}

std::optional<ClientGate::Refusal> ClientGate::ask(const std::string& client, std::uint64_t requests,
                                                   std::uint64_t bytes) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  const auto refusal = limits_.ask(client, requests, bytes, now);
  return refusal ? std::optional(refusal_of(*refusal)) : std::nullopt;
}

ClientGate::Opened ClientGate::open(const std::string& client) {
  const std::lock_guard lock(mutex_);
  auto opened = limits_.open(client);
  if (opened.refusal) return {refusal_of(*opened.refusal), nullptr};
  return {std::nullopt, Stream(this, [this, account = std::move(opened.account)](void*) {
            const std::lock_guard closing(mutex_);
            limits_.close(account);
          })};
}

ClientGate::Refusal ClientGate::refusal_of(const ClientLimits::Refusal& refusal) const {
  const auto& options = limits_.options();
  std::string what = "this client has ";
  switch (refusal.limit) {
    case ClientLimit::requests:
      what += "its " + std::to_string(options.requests_per_second_max) + " requests a second";
      break;
    case ClientLimit::bytes:
      what += "its " + std::to_string(options.bytes_per_second_max) + " bytes a second";
      break;
    case ClientLimit::streams:
      what += "its " + std::to_string(options.streams_max) + " streams open";
      break;
  }
  return {refusal.limit,
          {ErrorCode::overloaded, what + ": try again in " + std::to_string(refusal.retry_after.count()) + " ms"},
          refusal.retry_after};
}

}  // namespace evershard::serving
