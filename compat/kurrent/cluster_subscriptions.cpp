#include "evershard/compat/kurrent/cluster_subscriptions.hpp"

#include <utility>
#include <vector>

#include "evershard/compat/kurrent/lasting_session.hpp"
#include "evershard/compat/kurrent/remote_session.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::chrono::milliseconds asked_for = std::chrono::seconds(10);
constexpr std::chrono::milliseconds read_for = std::chrono::seconds(5);

homes::Named named_of(const SubscriptionName& name) {
  homes::Named request;
  request.set_stream(name.stream);
  request.set_group(name.group);
  return request;
}

}  // namespace

ClusterSubscriptions::Asked ClusterSubscriptions::ask(const char* method, const SubscriptionName& name,
                                                      const std::string& request, bool may_repeat) {
  const auto kept_in = kept_in_of(name);
  if (auto fine = AggregateId::check(kept_in); !fine) return subscription_failed(fine.error());
  return answer_in(homes_.call({method, kept_in, request, asked_for}, may_repeat));
}

ClusterSubscriptions::Done ClusterSubscriptions::change(const char* method, const SubscriptionName& name,
                                                        const std::string& request) {
  auto answer = ask(method, name, request, false);
  if (auto* refused = std::get_if<Refusal>(&answer)) return std::move(*refused);
  // Not there in time: it was done all the same.
  (void)home_->events().wait_for(std::get<Answer>(answer).seen, read_for);
  return std::nullopt;
}

ClusterSubscriptions::Done ClusterSubscriptions::create(const esps::GroupOptions& options) {
  esps::CreateReq request;
  *request.mutable_options() = options;
  return change(home_calls::create, name_of(with_stream(options)), request.SerializeAsString());
}

ClusterSubscriptions::Done ClusterSubscriptions::update(const esps::GroupOptions& options) {
  esps::UpdateReq request;
  *request.mutable_options() = options;
  return change(home_calls::update, name_of(with_stream(options)), request.SerializeAsString());
}

ClusterSubscriptions::Done ClusterSubscriptions::named(const char* method, const SubscriptionName& name,
                                                       std::size_t most) {
  auto request = named_of(name);
  request.set_most(most);
  return change(method, name, request.SerializeAsString());
}

ClusterSubscriptions::Done ClusterSubscriptions::remove(const SubscriptionName& name) {
  return named(home_calls::remove, name);
}

ClusterSubscriptions::Done ClusterSubscriptions::replay(const SubscriptionName& name, std::size_t most) {
  return named(home_calls::replay, name, most);
}

ClusterSubscriptions::Done ClusterSubscriptions::truncate_parked(const SubscriptionName& name, std::size_t most) {
  return named(home_calls::truncate_parked, name, most);
}

ClusterSubscriptions::Done ClusterSubscriptions::info(const SubscriptionName& name, esps::SubscriptionInfo& to) {
  auto answer = ask(home_calls::info, name, named_of(name).SerializeAsString(), true);
  if (auto* refused = std::get_if<Refusal>(&answer)) return std::move(*refused);
  if (!to.ParseFromString(std::get<Answer>(answer).bytes))
    return subscription_failed({ErrorCode::unavailable, "the home answers what is not understood"});
  return std::nullopt;
}

ClusterSubscriptions::Listed ClusterSubscriptions::list(const std::optional<std::string>& stream) {
  auto names = names_kept(home_->events());
  if (!names) return subscription_failed(names.error());
  std::vector<esps::SubscriptionInfo> some;
  for (const auto& name : *names) {
    if (stream && name.stream != *stream) continue;
    esps::SubscriptionInfo one;
    if (auto refused = info(name, one)) {
      if (refused->error.code == ErrorCode::not_found) continue;  // it was deleted
      return *std::move(refused);
    }
    some.push_back(std::move(one));
  }
  if (stream && some.empty()) return subscription_absent({*stream, ""});
  return some;
}

ClusterSubscriptions::Done ClusterSubscriptions::restart() {
  auto names = names_kept(home_->events());
  if (!names) return subscription_failed(names.error());
  for (const auto& name : *names) {
    if (auto refused = named(home_calls::restart, name)) return refused;
  }
  return std::nullopt;
}

ClusterSubscriptions::Joined ClusterSubscriptions::join(const SubscriptionName& name,
                                                        const std::shared_ptr<PersistentConsumer>& consumer,
                                                        PersistentConsumer::Told told) {
  if (!AggregateId::check(kept_in_of(name))) return subscription_absent(name);
  const auto at_home = [this, name, told](const std::shared_ptr<PersistentConsumer>& lasting) -> Joined {
    if (homes_.term(kept_in_of(name))) return home_->host().join(name, lasting, told);
    return std::make_shared<RemoteSession>(homes_, name, lasting, told, served_.rewritten);
  };
  return std::make_shared<LastingSession>(served_, consumer, at_home);
}

}  // namespace evershard::kurrent
