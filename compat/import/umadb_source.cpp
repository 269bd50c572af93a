// UmaDB as a source of an import, asked as its own clients do.

#include <grpcpp/grpcpp.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "evershard/api/json/message_json.hpp"
#include "evershard/compat/import/import_source.hpp"
#include "evershard/compat/umadb/words/uma_event.hpp"
#include "evershard/compat/umadb/words/uma_pages.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/shown_event.hpp"
#include "evershard/protocol/sort_once_each.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/umadb/umadb.grpc.pb.h"

namespace evershard::cli {
namespace {

namespace uma = ::umadb::v1;

constexpr auto uma_answer_within = std::chrono::seconds(60);

std::string uma_content(uma::SequencedEvent event) {
  event.clear_position();
  return event.SerializeAsString();
}

class UmaDbSource final : public ImportSource {
 public:
  UmaDbSource(std::string address, const std::shared_ptr<grpc::Channel>& channel, std::string token)
      : address_(std::move(address)), stub_(uma::DCB::NewStub(channel)), token_(std::move(token)) {}

  std::string name() const override { return "umadb://" + address_; }

  Result<SourcePlace> head() override {
    grpc::ClientContext context;
    prepare(context);
    uma::HeadResponse head;
    if (const auto status = stub_->Head(&context, {}, &head); !status.ok()) return failed(status);
    return SourcePlace{.position = head.position()};
  }

  Result<std::vector<ImportedEvent>> read_after(SourcePlace place, std::size_t events) override {
    grpc::ClientContext context;
    prepare(context);
    uma::ReadRequest request;
    request.set_start(place.position + 1);
    request.set_limit(static_cast<std::uint32_t>(events));
    const auto reader = stub_->Read(&context, request);
    std::vector<ImportedEvent> read;
    std::size_t bytes = 0;
    for (uma::ReadResponse page; reader->Read(&page);) {
      bytes += page.ByteSizeLong();
      for (auto& event : *page.mutable_events()) read.push_back(take(event));
      if (bytes < page_bytes_enough || read.empty()) continue;
      context.TryCancel();
      // What was read counts, or an error that was told: how the call ends says no more.
      (void)reader->Finish();
      return read;
    }
    if (const auto status = reader->Finish(); !status.ok()) return failed(status);
    return read;
  }

  std::string content_of(const RecordedEvent& event) const override {
    RecordedView viewed;
    show(event, viewed);
    umadb::UmaResponse response;
    response.add(viewed);
    uma::ReadResponse read;
    if (!read.ParseFromString(response.take()) || read.events().empty()) return {};
    return uma_content(read.events(0));
  }

  void give_other_id(ImportedEvent& event) const override { umadb::give_other_id(event.event); }

 private:
  void prepare(grpc::ClientContext& context) const {
    context.set_deadline(std::chrono::system_clock::now() + uma_answer_within);
    if (!token_.empty()) context.AddMetadata("authorization", "Bearer " + token_);
  }
  Refused failed(const grpc::Status& status) const {
    const auto code = status.error_code() == grpc::StatusCode::UNAUTHENTICATED     ? ErrorCode::unauthenticated
                      : status.error_code() == grpc::StatusCode::PERMISSION_DENIED ? ErrorCode::permission_denied
                                                                                   : ErrorCode::unavailable;
    return refuse(code, "UmaDB at " + address_ + ": " + in_quotes(status.error_message(), 300));
  }

  ImportedEvent take(uma::SequencedEvent& from) const {
    ImportedEvent taken;
    taken.place.position = from.position();
    taken.content = uma_content(from);
    umadb::Tracking tracking;
    if (from.has_tracking_info()) tracking = {from.tracking_info().source(), from.tracking_info().position()};
    auto made = from.has_tracking_info() ? umadb::check(tracking) : Result<void>();
    if (made) {
      auto event = umadb::event_of(*from.mutable_event(), from.has_tracking_info() ? &tracking : nullptr);
      if (event) {
        made = check(*event, Limits::most());
        if (made && is_own_type(event->type))
          made = refuse(ErrorCode::invalid_argument,
                        "event type " + in_quotes(event->type, 300) + " is reserved: it begins with '$'");
        taken.event = *std::move(event);
        sort_once_each(taken.event.tags);
      } else {
        made = refuse(std::move(event).error());
      }
    }
    if (made) return taken;
    from.ParseFromString(taken.content);  // it was taken apart
    from.set_position(taken.place.position);
    auto shown = json_of_bytes(from, from.SerializeAsString());
    Error why(made.error().code, "the event at position " + taken.place.text() + " of UmaDB at " + address_ +
                                     " cannot be stored here: " + made.error().what);
    return {.place = taken.place, .refused = RefusedEvent{std::move(why), shown ? *std::move(shown) : "null"}};
  }

  const std::string address_;
  const std::unique_ptr<uma::DCB::Stub> stub_;
  const std::string token_;
};

}  // namespace

Result<std::unique_ptr<ImportSource>> open_umadb_source(const std::string& address, const SourceAccess& access) {
  auto credentials = grpc::InsecureChannelCredentials();
  if (!access.tls_ca.empty()) {
    std::ifstream file(access.tls_ca, std::ios::binary);
    grpc::SslCredentialsOptions options;
    options.pem_root_certs.assign(std::istreambuf_iterator<char>(file), {});
    if (!file || options.pem_root_certs.empty())
      return refuse(ErrorCode::io, "the CA " + in_quotes(access.tls_ca, 300) + " cannot be read, or is empty");
    credentials = grpc::SslCredentials(options);
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return std::make_unique<UmaDbSource>(address, grpc::CreateCustomChannel(address, credentials, arguments),
                                       access.token);
}

}  // namespace evershard::cli
