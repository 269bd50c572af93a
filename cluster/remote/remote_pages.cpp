#include "evershard/cluster/remote/remote_pages.hpp"

#include <thread>
#include <utility>

#include "evershard/protocol/codec.hpp"

namespace evershard::remote {

RemotePages::RemotePages(std::shared_ptr<Connection> connection, pb::ReadRequest request) : connection_(std::move(connection)), request_(std::move(request)) {}

Result<Page> RemotePages::next_page() {
  const auto deadline = std::chrono::steady_clock::now() + connection_->options().timeout;
  for (std::uint32_t tries = 0;; ++tries) {
    if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
    if (!try_) open();
    grpc::ByteBuffer bytes;
    if (try_->reader->Read(&bytes)) {
      grpc::Slice slice;
      if (!bytes.TrySingleSlice(&slice).ok() && !bytes.DumpToSingleSlice(&slice).ok()) return refuse(ErrorCode::corruption, "a page came without bytes");
      auto page = codec::decode<Page>({reinterpret_cast<const char*>(slice.begin()), slice.size()});
      if (page) go_on_behind(*page);
      return page;
    }
    const auto status = try_->reader->Finish();
    {
      const std::lock_guard lock(mutex_);
      try_.reset();
    }
    if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
    Error error = status.ok() ? Error(ErrorCode::unavailable, "the server ended the read before its last page") : wire::error_of(status);
    const auto pause = pause_before(tries);
    if (error.code != ErrorCode::unavailable || std::chrono::steady_clock::now() + pause >= deadline) return refuse(std::move(error));
    std::this_thread::sleep_for(pause);
  }
}

void RemotePages::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(mutex_);
  if (try_) try_->context->TryCancel();
}

void RemotePages::open() {
  auto next = std::make_shared<Try>();
  next->context = connection_->context();
  // What the generated stub does, with bytes for an answer.
  static const grpc::internal::RpcMethod method("/evershard.v1.EventStore/Read", grpc::internal::RpcMethod::SERVER_STREAMING);
  next->reader.reset(grpc::internal::ClientReaderFactory<grpc::ByteBuffer>::Create(connection_->channel().get(), method, next->context.get(), request_));
  const std::lock_guard lock(mutex_);
  try_ = std::move(next);
  if (cancelled_) try_->context->TryCancel();
}

bool RemotePages::backwards() const {
  return (request_.has_query() ? request_.options().direction() : request_.stream().direction()) == pb::DIRECTION_BACKWARDS;
}

/// The rest of the read, as of the same moment.
void RemotePages::go_on_behind(const Page& page) {
  if (request_.has_query()) {
    auto& options = *request_.mutable_options();
    if (!options.has_up_to() || options.up_to() > page.watermark.value) options.set_up_to(page.watermark.value);
    if (page.events.empty()) return;
    if (options.has_limit()) options.set_limit(options.limit() - page.events.size());
    if (backwards()) options.set_before(page.events.back().position.value);
    else options.set_after(page.events.back().position.value);
    return;
  }
  auto& options = *request_.mutable_stream();
  if (!options.has_up_to() || options.up_to() > page.watermark.value) options.set_up_to(page.watermark.value);
  if (page.events.empty()) return;
  if (options.has_limit()) options.set_limit(options.limit() - page.events.size());
  const auto last = page.events.back().seq_nr.value;
  if (!backwards()) options.set_from(last + 1);
  else if (last > 1) options.set_from(last - 1);
  else options.set_limit(0);  // nothing stands before the first
}

}  // namespace evershard::remote
