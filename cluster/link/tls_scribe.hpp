// TlsScribe: a connection of CAF's middleman whose bytes go through TLS.

#pragma once

#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>

#include "evershard/cluster/link/link_socket.hpp"

namespace evershard::cluster {

/// How CAF's stream reads and writes. Of the multiplexer's thread.
class TlsBytes {
 public:
  explicit TlsBytes(std::shared_ptr<SSL> tls);
  caf::io::network::rw_state read_some(std::size_t& bytes, caf::io::network::native_socket, void* into,
                                       std::size_t size);
  caf::io::network::rw_state write_some(std::size_t& bytes, caf::io::network::native_socket, const void* from,
                                        std::size_t size);
  /// What TLS has read already does not make the socket readable again.
  bool must_read_more(caf::io::network::native_socket, std::size_t threshold);

 private:
  std::shared_ptr<SSL> tls_;
};

class TlsScribe final : public caf::io::scribe {
 public:
  TlsScribe(caf::io::network::default_multiplexer& multiplexer, int socket, std::shared_ptr<SSL> tls);

  void configure_read(caf::io::receive_policy::config config) override;
  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void graceful_shutdown() override;
  void flush() override { stream_.flush(this); }
  std::string addr() const override { return peer_text(stream_.fd()); }
  std::uint16_t port() const override { return 0; }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

 private:
  bool launched_ = false;
  caf::io::network::stream_impl<TlsBytes> stream_;
};

}  // namespace evershard::cluster
