#include "tests/process/kurrent_client.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;

std::string random_uuid() {
  thread_local std::mt19937_64 random(std::random_device{}());
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-8%03x-%012llx", static_cast<unsigned>(random()),
                static_cast<unsigned>(random() & 0xffff), static_cast<unsigned>(random() & 0xfff),
                static_cast<unsigned>(random() & 0xfff),
                static_cast<unsigned long long>(random() & 0xffff'ffff'ffffULL));
  return text;
}

void patient(grpc::ClientContext& context) {
  context.set_wait_for_ready(true);
  context.set_deadline(std::chrono::system_clock::now() + 60s);
}

std::shared_ptr<grpc::Channel> channel_to(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

template <class Request>
Request options_for(const std::string& stream, const std::string& group, const esps::Settings& settings) {
  Request request;
  auto& options = *request.mutable_options();
  options.mutable_stream()->mutable_stream_identifier()->set_stream_name(stream);
  options.mutable_stream()->mutable_start();
  options.set_group_name(group);
  *options.mutable_settings() = settings;
  return request;
}

}  // namespace

KurrentClient::KurrentClient(const std::string& address) {
  const auto channel = channel_to(address);
  streams_ = esp::Streams::NewStub(channel);
  subscriptions_ = esps::PersistentSubscriptions::NewStub(channel);
}

grpc::Status KurrentClient::append(const std::string& stream, int events) {
  grpc::ClientContext context;
  patient(context);
  esp::AppendResp response;
  auto writer = streams_->Append(&context, &response);
  esp::AppendReq request;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
  request.mutable_options()->mutable_any();
  writer->Write(request);
  for (int i = 0; i < events; ++i) {
    auto& message = *request.mutable_proposed_message();
    message.mutable_id()->set_string(random_uuid());
    (*message.mutable_metadata())["type"] = "Placed";
    (*message.mutable_metadata())["content-type"] = "application/json";
    message.set_data("{}");
    writer->Write(request);
  }
  writer->WritesDone();
  return writer->Finish();
}

grpc::Status KurrentClient::create(const std::string& stream, const std::string& group,
                                   const esps::Settings& settings) {
  grpc::ClientContext context;
  patient(context);
  esps::CreateResp response;
  return subscriptions_->Create(&context, options_for<esps::CreateReq>(stream, group, settings), &response);
}

grpc::Status KurrentClient::update(const std::string& stream, const std::string& group,
                                   const esps::Settings& settings) {
  grpc::ClientContext context;
  patient(context);
  esps::UpdateResp response;
  return subscriptions_->Update(&context, options_for<esps::UpdateReq>(stream, group, settings), &response);
}

grpc::Status KurrentClient::remove(const std::string& stream, const std::string& group) {
  grpc::ClientContext context;
  patient(context);
  esps::DeleteReq request;
  esps::DeleteResp response;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
  request.mutable_options()->set_group_name(group);
  return subscriptions_->Delete(&context, request, &response);
}

grpc::Status KurrentClient::replay(const std::string& stream, const std::string& group) {
  grpc::ClientContext context;
  patient(context);
  esps::ReplayParkedReq request;
  esps::ReplayParkedResp response;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
  request.mutable_options()->set_group_name(group);
  request.mutable_options()->mutable_no_limit();
  return subscriptions_->ReplayParked(&context, request, &response);
}

grpc::Status KurrentClient::restart() {
  grpc::ClientContext context;
  patient(context);
  ::event_store::client::Empty request, response;
  return subscriptions_->RestartSubsystem(&context, request, &response);
}

std::optional<esps::SubscriptionInfo> KurrentClient::info(const std::string& stream, const std::string& group) {
  grpc::ClientContext context;
  patient(context);
  esps::GetInfoReq request;
  esps::GetInfoResp response;
  request.mutable_options()->mutable_stream_identifier()->set_stream_name(stream);
  request.mutable_options()->set_group_name(group);
  if (!subscriptions_->GetInfo(&context, request, &response).ok()) return std::nullopt;
  return response.subscription_info();
}

std::vector<std::string> KurrentClient::groups_of(const std::string& stream) {
  grpc::ClientContext context;
  patient(context);
  esps::ListReq request;
  esps::ListResp response;
  request.mutable_options()->mutable_list_for_stream()->mutable_stream()->set_stream_name(stream);
  std::vector<std::string> names;
  if (!subscriptions_->List(&context, request, &response).ok()) return names;
  for (const auto& each : response.subscriptions()) names.push_back(each.group_name());
  return names;
}

esps::Settings eager_settings(int retries_max) {
  esps::Settings settings;
  settings.set_max_retry_count(retries_max);
  settings.set_min_checkpoint_count(1);
  settings.set_max_checkpoint_count(5);
  settings.set_checkpoint_after_ms(20);
  settings.set_message_timeout_ms(30'000);
  settings.set_live_buffer_size(500);
  settings.set_read_batch_size(20);
  settings.set_history_buffer_size(500);
  settings.set_consumer_strategy("RoundRobin");
  return settings;
}

std::int64_t checkpoint_of(const esps::SubscriptionInfo& info) {
  const auto& text = info.last_checkpointed_event_position();
  return text.empty() ? -1 : std::stoll(text);
}

KurrentConsumer::KurrentConsumer(const std::string& address, std::string stream, std::string group, Decide decide,
                                 int slots)
    : client_(address),
      stream_(std::move(stream)),
      group_(std::move(group)),
      decide_(std::move(decide)),
      slots_(slots),
      thread_([this] { run(); }) {}

void KurrentConsumer::stop() {
  over_ = true;
  {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
  }
  if (thread_.joinable()) thread_.join();
}

KurrentConsumer::Seen KurrentConsumer::seen() {
  const std::lock_guard lock(mutex_);
  return seen_;
}

void KurrentConsumer::run() {
  while (!over_) {
    consume();
    if (!over_) std::this_thread::sleep_for(20ms);
  }
}

void KurrentConsumer::consume() {
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    context_ = &context;
  }
  auto call = client_.subscriptions().Read(&context);
  esps::ReadReq request;
  auto& options = *request.mutable_options();
  options.mutable_stream_identifier()->set_stream_name(stream_);
  options.set_group_name(group_);
  options.set_buffer_size(slots_);
  options.mutable_uuid_option()->mutable_string();
  call->Write(request);
  for (esps::ReadResp response; call->Read(&response);) {
    if (response.has_subscription_confirmation()) {
      const std::lock_guard lock(mutex_);
      ++seen_.calls;
    }
    if (!response.has_event()) continue;
    const auto& event = response.event();
    const auto revision = event.event().stream_revision();
    {
      const std::lock_guard lock(mutex_);
      if (static_cast<std::int64_t>(revision) <= floor_) seen_.came_again.push_back(revision);
      if (++seen_.given[revision] == 1) seen_.first_order.push_back(revision);
      auto& most = seen_.retries_max[revision];
      most = std::max(most, event.retry_count());
      ++seen_.total;
    }
    esps::ReadReq answer;
    const auto decided = decide_(revision, event.retry_count());
    if (decided == Answer::acknowledge) {
      *answer.mutable_ack()->add_ids() = event.event().id();
    } else {
      *answer.mutable_nack()->add_ids() = event.event().id();
      answer.mutable_nack()->set_action(decided == Answer::park   ? esps::ReadReq::Nack::Park
                                        : decided == Answer::skip ? esps::ReadReq::Nack::Skip
                                                                  : esps::ReadReq::Nack::Retry);
      answer.mutable_nack()->set_reason("as the test says");
    }
    if (!call->Write(answer)) break;
  }
  context.TryCancel();
  const auto status = call->Finish();
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
  seen_.last_status = std::to_string(status.error_code()) + " " + status.error_message();
}

bool comes_true(const std::function<bool()>& holds, std::chrono::seconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

}  // namespace evershard::testing
