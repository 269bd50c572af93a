// A read of UmaDB's: our pages, in responses as long as its client asks for.

#pragma once

#include <deque>
#include <optional>
#include <string>

#include "evershard/compat/umadb/words/uma_pages.hpp"
#include "evershard/doors/grpc/read_call.hpp"

namespace evershard::umadb {

inline constexpr std::uint32_t batch_default = 1'024;
inline constexpr std::uint32_t batch_max = 4'096;
/// UmaDB's clients take messages of 4 MiB. A response has far less, and the next response is read while the one before
/// is on its way. One event alone may be longer.
inline constexpr std::size_t response_bytes_max = 512u << 10;

class UmaReadCall final : public door::ReadCall {
 public:
  using ReadCall::ReadCall;

 protected:
  Result<void> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) override;
  Result<Made> next(EventStream& stream) override;
  std::optional<Made> at_hand(EventStream& stream) override;

 private:
  /// A response that is long enough, and was not yet given to the client.
  struct Full {
    std::string bytes;
    std::size_t events = 0;
    std::uint64_t last_position = 0;
  };
  void take_in(const RecordedView& event);
  void close_response();
  void came(const VisitedPage& page);
  [[nodiscard]] bool is_full() const;
  /// The next response, where there is one; the last, where nothing follows.
  [[nodiscard]] std::optional<Made> next_made();

  std::optional<std::uint32_t> limit_;
  std::uint32_t batch_ = batch_default;
  bool nothing_ = false;  ///< no event can match
  bool read_all_ = false;
  bool gave_any_ = false;
  std::uint64_t head_ = 0;
  std::deque<Full> full_;
  UmaResponse response_;  ///< behind those
};

}  // namespace evershard::umadb
