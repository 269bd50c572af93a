#include "evershard/doors/remote/remote_pages.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "evershard/protocol/beyond_head.hpp"
#include "evershard/protocol/codec.hpp"

namespace evershard::remote {

using Clock = std::chrono::system_clock;  // gRPC's deadlines are of it

/// One call, from its opening to its end: one operation at a time, each waited for no longer than until a deadline.
class RemotePages::Try {
 public:
  Try(Connection& connection, Door& at, const pb::ReadRequest& request) : door(at), context_(connection.context()) {
    // What the generated stub does, with bytes for an answer: pages have a faster way to values than by messages.
    static const grpc::internal::RpcMethod method("/evershard.v1.EventStore/Read",
                                                  grpc::internal::RpcMethod::SERVER_STREAMING);
    reader_.reset(grpc::internal::ClientAsyncReaderFactory<grpc::ByteBuffer>::Create(
        door.channel.get(), &queue_, method, context_.get(), request, false, nullptr));
    reader_->StartCall(this);
  }
  ~Try() {
    context_->TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) {
    }
  }

  Door& door;

  /// From any thread.
  void stop() { context_->TryCancel(); }

  /// Absent: the call is over, see status(); or nothing came in time.
  std::optional<grpc::ByteBuffer> read(Clock::time_point deadline) {
    if (!std::exchange(started_, true) && !done(deadline)) return std::nullopt;
    grpc::ByteBuffer page;
    reader_->Read(&page, this);
    if (!done(deadline)) return std::nullopt;
    return page;
  }
  [[nodiscard]] bool late() const { return late_; }
  /// Shape: a page has come.
  [[nodiscard]] const grpc::ClientContext& answered() const { return *context_; }
  grpc::Status status() {
    grpc::Status status;
    reader_->Finish(&status, this);
    void* tag = nullptr;
    bool ok = false;
    // There is the one answer that is waited for; whether it is one the status says.
    (void)queue_.Next(&tag, &ok);
    return status;
  }

 private:
  bool done(Clock::time_point deadline) {
    void* tag = nullptr;
    bool ok = false;
    if (queue_.AsyncNext(&tag, &ok, deadline) != grpc::CompletionQueue::TIMEOUT) return ok;
    late_ = true;
    context_->TryCancel();  // then the call ends soon, and the objects that it uses may go
    // There is the one answer that is waited for; whether it is one the status says.
    (void)queue_.Next(&tag, &ok);
    return false;
  }

  std::unique_ptr<grpc::ClientContext> context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::ClientAsyncReader<grpc::ByteBuffer>> reader_;
  bool started_ = false;
  bool late_ = false;
};

RemotePages::RemotePages(std::shared_ptr<Connection> connection, pb::ReadRequest request,
                         std::optional<GlobalPosition> at_least)
    : connection_(std::move(connection)), request_(std::move(request)), at_least_(at_least) {}
RemotePages::~RemotePages() = default;

Result<Page> RemotePages::next_page() {
  const auto deadline = Clock::now() + connection_->options().timeout;
  std::optional<Error> why;  // of the try before
  ToldPatience patience(connection_->options().unavailable_timeout);
  for (std::uint32_t tries = 0;; ++tries) {
    if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
    if (!try_) {
      auto opened = open(deadline);
      if (!opened && cancelled_) continue;
      if (!opened) return refuse(std::move(why ? *why : opened.error()));
    }
    if (auto bytes = try_->read(request_.has_at_least() ? deadline + Connection::answer_grace : deadline)) {
      grpc::Slice slice;
      if (!bytes->TrySingleSlice(&slice).ok() && !bytes->DumpToSingleSlice(&slice).ok())
        return refuse(ErrorCode::corruption, "a page came without bytes");
      auto heard = hear();
      if (!heard && heard.error().code == ErrorCode::invalid_argument) return refuse(std::move(heard).error());
      if (!heard) {  // another node may be of the same history
        const auto pause = pause_before(tries);
        auto& door = try_->door;
        {
          const std::lock_guard lock(mutex_);
          try_.reset();
        }
        connection_->failed(door);
        if (Clock::now() + pause >= deadline || !patience.bears(heard.error(), ToldPatience::Clock::now()))
          return refuse(std::move(heard).error());
        why = std::move(heard).error();
        Connection::rest(door, pause);
        continue;
      }
      auto page = codec::decode<Page>({reinterpret_cast<const char*>(slice.begin()), slice.size()});
      if (!page) return page;
      connection_->see(page->watermark);
      if (tries > 0) connection_->worked(try_->door);
      go_on_behind(*page);
      page->watermark = *(watermark_ ? watermark_ : watermark_ = page->watermark);
      return page;
    }
    const bool late = try_->late();
    const auto status = try_->status();
    auto& door = try_->door;
    {
      const std::lock_guard lock(mutex_);
      try_.reset();
    }
    if (cancelled_) return refuse(ErrorCode::cancelled, "the read was cancelled");
    if (late && why) return refuse(*std::move(why));
    if (late) return refuse(ErrorCode::timeout, "the server gave no page in time");
    Error error = status.ok() ? Error(ErrorCode::unavailable, "the server ended the read before its last page")
                              : connection_->fault(door, wire::error_of(status), !status.error_details().empty());
    // One that has not come as far as the read is to be left alone, where there are others.
    const bool behind = error.code == ErrorCode::timeout && request_.has_at_least() && connection_->several();
    const bool full = error.code == ErrorCode::overloaded;
    const bool passing = behind || full || (error.code == ErrorCode::unavailable && !error.lasting()) ||
                         error.code == ErrorCode::wrong_shard || error.code == ErrorCode::fenced;
    const bool borne =
        behind || full || status.error_details().empty() || patience.bears(error, ToldPatience::Clock::now());
    const auto pause = pause_before(tries, wire::retry_after_of(status));
    if (passing && !full) connection_->failed(door);
    if (!passing || !borne || Clock::now() + pause >= deadline) return refuse(std::move(error));
    why = std::move(error);
    Connection::rest(door, pause);
  }
}

/// All pages of a read are of one fork, also at one address, where another one may be served from one page to the next.
Result<void> RemotePages::hear() {
  if (const auto fork = told_in(try_->answered(), wire::fork_key); !fork.empty()) {
    if (fork_.empty()) fork_ = fork;
    if (fork != fork_) return refuse(other_fork(fork_, fork, watermark_.value_or(GlobalPosition{})));
  }
  const auto heard = connection_->hear(try_->answered());
  return heard ? heard : Result<void>(refuse(Connection::not_taken(try_->door, heard.error())));
}

void RemotePages::cancel() {
  cancelled_ = true;
  const std::lock_guard lock(mutex_);
  if (try_) try_->stop();
}

/// At the door that works now, behind what was given, as of the same watermark: another node must have come so far
/// before it answers.
Result<void> RemotePages::open(Clock::time_point deadline) {
  auto door = connection_->door(deadline);
  if (!door) return refuse(std::move(door).error());
  if (!Connection::connected(**door, deadline, &cancelled_))
    return refuse(wire::error_of(Connection::not_connected(**door)));
  if (const auto position = watermark_ ? watermark_ : connection_->at_least(at_least_)) {
    request_.mutable_at_least()->set_position(position->value);
    request_.mutable_at_least()->set_timeout_ms(
        static_cast<std::uint32_t>(connection_->wait_at_one(Connection::left(deadline)).count()));
  }
  auto next = std::make_shared<Try>(*connection_, **door, request_);
  const std::lock_guard lock(mutex_);
  try_ = std::move(next);
  if (cancelled_) try_->stop();
  return {};
}

bool RemotePages::backwards() const {
  return (request_.has_query() ? request_.options().direction() : request_.stream().direction()) ==
         pb::DIRECTION_BACKWARDS;
}

/// The rest of the read, as of the same moment.
void RemotePages::go_on_behind(const Page& page) {
  if (request_.has_query()) {
    auto& options = *request_.mutable_options();
    if (!options.has_up_to() || options.up_to() > page.watermark.value) options.set_up_to(page.watermark.value);
    if (options.has_per_aggregate() && !options.has_per_aggregate_from())  // what was given already counts
      options.set_per_aggregate_from(!backwards()           ? options.after()
                                     : options.has_before() ? options.before()
                                                            : options.up_to() + 1);
    if (page.events.empty()) return;
    if (options.has_limit()) options.set_limit(options.limit() - page.events.size());
    if (backwards())
      options.set_before(page.events.back().position.value);
    else
      options.set_after(page.events.back().position.value);
    return;
  }
  auto& options = *request_.mutable_stream();
  if (!options.has_up_to() || options.up_to() > page.watermark.value) options.set_up_to(page.watermark.value);
  if (page.events.empty()) return;
  if (options.has_limit()) options.set_limit(options.limit() - page.events.size());
  const auto last = page.events.back().seq_nr.value;
  if (!backwards())
    options.set_from(last + 1);
  else if (last > 1)
    options.set_from(last - 1);
  else
    options.set_limit(0);  // nothing stands before the first
}

}  // namespace evershard::remote
