#include "evershard/cluster/link/tls_scribe.hpp"

#include <openssl/err.h>

#include <algorithm>

namespace evershard::cluster {
namespace {

using caf::io::network::rw_state;

constexpr std::size_t at_once = 1u << 20;

rw_state state_of(SSL* tls, int result, std::size_t& bytes) {
  bytes = result > 0 ? static_cast<std::size_t>(result) : 0;
  if (result > 0) return rw_state::success;
  const auto error = SSL_get_error(tls, result);
  return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? rw_state::success : rw_state::failure;
}

}  // namespace

TlsBytes::TlsBytes(std::shared_ptr<SSL> tls) : tls_(std::move(tls)) {}

// The queue of errors is the thread's, not the connection's: what another connection left there would be taken for this
// one's.
rw_state TlsBytes::read_some(std::size_t& bytes, caf::io::network::native_socket, void* into, std::size_t size) {
  bytes = 0;
  if (size == 0) return rw_state::indeterminate;
  ERR_clear_error();
  return state_of(tls_.get(), SSL_read(tls_.get(), into, static_cast<int>(std::min(size, at_once))), bytes);
}

rw_state TlsBytes::write_some(std::size_t& bytes, caf::io::network::native_socket, const void* from, std::size_t size) {
  bytes = 0;
  if (size == 0) return rw_state::indeterminate;
  ERR_clear_error();
  return state_of(tls_.get(), SSL_write(tls_.get(), from, static_cast<int>(std::min(size, at_once))), bytes);
}

bool TlsBytes::must_read_more(caf::io::network::native_socket, std::size_t threshold) {
  return static_cast<std::size_t>(SSL_pending(tls_.get())) >= threshold;
}

TlsScribe::TlsScribe(caf::io::network::default_multiplexer& multiplexer, int socket, std::shared_ptr<SSL> tls)
    : scribe(caf::io::network::conn_hdl_from_socket(socket)), stream_(multiplexer, socket, TlsBytes(std::move(tls))) {}

void TlsScribe::configure_read(caf::io::receive_policy::config config) {
  stream_.configure_read(config);
  if (std::exchange(launched_, true)) return;
  stream_.start(this);
}

void TlsScribe::graceful_shutdown() {
  stream_.graceful_shutdown();
  detach(&stream_.backend(), false);
}

}  // namespace evershard::cluster
