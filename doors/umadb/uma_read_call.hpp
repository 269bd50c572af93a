// A read of UmaDB's: our pages, in responses as long as its client asks for.

#pragma once

#include <optional>

#include "evershard/doors/grpc/read_call.hpp"
#include "evershard/doors/umadb/words/uma_pages.hpp"

namespace evershard::umadb {

inline constexpr std::uint32_t batch_default = 1'024;
inline constexpr std::uint32_t batch_max = 4'096;
/// Their clients take messages of 4 MiB. Beyond half of one, the next is read while the one before is on its way: one
/// event alone may be longer.
inline constexpr std::size_t response_bytes_max = 512u << 10;

class UmaReadCall final : public door::ReadCall {
 public:
  using ReadCall::ReadCall;

 protected:
  Result<void> begin(grpc::CallbackServerContext* context, const grpc::ByteBuffer& in) override;
  Result<Made> next(EventStream& stream) override;
  std::optional<Made> at_hand(EventStream& stream) override;

 private:
  void hold(EncodedPage page);
  Result<Made> made_of_held();
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] Made made(bool complete);

  std::optional<std::uint32_t> limit_;
  std::uint32_t batch_ = batch_default;
  bool nothing_ = false;  ///< no event can match
  EncodedEvents held_;    ///< what was read and not yet given
  bool read_all_ = false;
  bool gave_any_ = false;
  std::uint64_t head_ = 0;
  std::optional<RecordedView> ahead_;  ///< taken off `held_`, for the next response
  RecordedView view_;
  UmaResponse response_;
};

}  // namespace evershard::umadb
