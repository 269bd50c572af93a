#include "evershard/cluster/link/links.hpp"

#include <openssl/rand.h>

#include <caf/all.hpp>
#include <caf/io/all.hpp>

#include <atomic>

#include "evershard/cluster/link/greeter.hpp"
#include "evershard/cluster/link/link_broker.hpp"
#include "evershard/protocol/check.hpp"

namespace evershard::cluster {
namespace {

constexpr auto stop_time_max = std::chrono::seconds(10);

caf::actor_system_config link_configuration() {
  caf::actor_system_config config;
  config.load<caf::io::middleman>();
  // All work is the broker's, in the middleman's thread: the pool's one worker has nothing to do, and looks seldom
  // whether it has.
  config.set("scheduler.max-threads", std::size_t{1});
  config.set("work-stealing.aggressive-poll-attempts", std::size_t{1});
  config.set("work-stealing.moderate-poll-attempts", std::size_t{1});
  config.set("work-stealing.relaxed-sleep-duration", caf::timespan{std::chrono::milliseconds(50)});
  config.set("middleman.workers", std::size_t{0});
  return config;
}

/// Handlers' answers, into the inbox; it lives as long as any of them may come.
class InboxReturns final : public LinkReturns {
 public:
  explicit InboxReturns(LinkInbox& inbox) : inbox_(&inbox) {}
  void answer(NodeNumber node, SessionNumber session, CallNumber number, Result<std::string> outcome) override {
    put(AnswerCommand{node, session, number, std::move(outcome)});
  }
  void release(NodeNumber node, SessionNumber session, std::uint64_t cost) override {
    put(ReleaseCommand{node, session, cost});
  }
  /// Nothing goes in when this has returned.
  void close() {
    const std::lock_guard lock(mutex_);
    inbox_ = nullptr;
  }

 private:
  void put(LinkCommand command) {
    const std::lock_guard lock(mutex_);
    // A full inbox is one that is being closed: what comes then is lost with the links.
    if (inbox_ != nullptr) (void)inbox_->put(command);
  }

  std::mutex mutex_;
  LinkInbox* inbox_;
};

std::uint64_t random_process() {
  std::uint64_t number = 0;
  EVERSHARD_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(&number), sizeof number) == 1,
                  "there are random numbers");
  return number | 1;
}

}  // namespace

struct Links::Impl {
  explicit Impl(std::shared_ptr<LinkShared> s, std::shared_ptr<const TlsContext> tls);
  void stop();
  Result<void> enter(std::size_t bytes);
  void leave(std::size_t bytes);
  Refused closed() const { return refuse(ErrorCode::cancelled, "the link is closed"); }

  const std::shared_ptr<LinkShared> shared;
  std::shared_ptr<InboxReturns> returns;
  caf::actor_system_config configuration = link_configuration();
  std::unique_ptr<caf::actor_system> system;
  caf::actor broker;
  std::unique_ptr<Greeter> greeter;
  std::atomic<bool> listening{false};
  std::once_flag stopped;
};

Links::Impl::Impl(std::shared_ptr<LinkShared> s, std::shared_ptr<const TlsContext> tls) : shared(std::move(s)) {
  shared->inbox = std::make_unique<LinkInbox>([this] { wake_link_broker(broker); });
  returns = std::make_shared<InboxReturns>(*shared->inbox);
  shared->returns = returns;
  GreeterEvents events;
  // As above: a closing inbox takes nothing.
  events.greeted = [this](Greeted greeted) { (void)shared->inbox->put(LinkCommand(std::move(greeted))); };
  events.refused = [this](const std::string& whom, std::optional<NodeNumber> dialled, const Error& why) {
    // As above.
    if (dialled) (void)shared->inbox->put(LinkCommand(MissedCommand{*dialled, why.what}));
    if (shared->handlers.on_refused) shared->handlers.on_refused(whom, why);
  };
  events.admit = [this](const LinkAgreement& agreement) { return shared->board.admit(agreement.peer); };
  greeter = std::make_unique<Greeter>(shared->options, std::move(tls), std::move(events));
  shared->gone = [this](NodeNumber node, SessionNumber session, bool lasted) { greeter->gone(node, session, lasted); };
  system = std::make_unique<caf::actor_system>(configuration);
  broker = spawn_link_broker(*system, shared);
  // This thread refers to the system's logger from here on, and the system's end waits until nobody does: for ever, in
  // another thread.
  caf::logger::set_current_actor_system(nullptr);
}

void Links::Impl::stop() {
  std::call_once(stopped, [this] {
    greeter->stop();
    shared->inbox->close();
    auto ended = shared->ended.get_future();
    stop_link_broker(broker);
    // CAF's destructor waits for ever for an actor that would not end: then what it holds is left to the process's end.
    if (ended.wait_for(stop_time_max) == std::future_status::timeout) static_cast<void>(system.release());
    returns->close();
    broker = nullptr;
    system.reset();
  });
}

// What waits before the hub has looked at it is bounded as what waits behind.
Result<void> Links::Impl::enter(std::size_t bytes) {
  const auto& limits = shared->options.limits;
  if (bytes > limits.payload_bytes_max) {
    return refuse(ErrorCode::too_large, "a payload of " + std::to_string(bytes) + " bytes is more than the " +
                                            std::to_string(limits.payload_bytes_max) + " that a link carries");
  }
  const auto calls = shared->inbox_calls.fetch_add(1, std::memory_order_relaxed);
  const auto waiting = shared->inbox_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (calls < limits.queue_calls_max && waiting + bytes <= limits.queue_bytes_max) return {};
  leave(bytes);
  return refuse(ErrorCode::overloaded,
                std::to_string(calls) + " calls of " + std::to_string(waiting) + " bytes wait in this process already");
}

void Links::Impl::leave(std::size_t bytes) {
  shared->inbox_calls.fetch_sub(1, std::memory_order_relaxed);
  shared->inbox_bytes.fetch_sub(bytes, std::memory_order_relaxed);
}

Result<std::unique_ptr<Links>> Links::open(LinkOptions options, LinkHandlers handlers) {
  EVERSHARD_TRY(check(options));
  std::shared_ptr<const TlsContext> tls;
  if (options.tls) {
    auto loaded = TlsContext::load(*options.tls, options.who);
    if (!loaded) return refuse(std::move(loaded).error());
    tls = *std::move(loaded);
  }
  if (options.who.process == 0) options.who.process = random_process();
  auto shared = std::make_shared<LinkShared>();
  shared->options = std::move(options);
  shared->handlers = std::move(handlers);
  return std::unique_ptr<Links>(new Links(std::make_unique<Impl>(std::move(shared), std::move(tls))));
}

Links::Links(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Links::~Links() { stop(); }
void Links::stop() { impl_->stop(); }

Result<std::uint16_t> Links::listen(const std::string& host, std::uint16_t port) {
  EVERSHARD_TRY(check_host(impl_->shared->options, host));
  if (impl_->listening.exchange(true)) return refuse(ErrorCode::invalid_argument, "the link listens already");
  auto socket = listening_socket(host, port);
  if (!socket) {
    impl_->listening = false;
    return refuse(std::move(socket).error());
  }
  impl_->greeter->listen(std::move(socket->first));
  return socket->second;
}

Result<void> Links::dial(PeerAddress address) {
  const auto& options = impl_->shared->options;
  EVERSHARD_TRY(check_host(options, address.host));
  const auto peer = "node " + std::to_string(address.node.value);
  if (address.node >= options.who.node) {
    return refuse(ErrorCode::invalid_argument, "node " + std::to_string(options.who.node.value) + " does not dial " +
                                                   peer + ": the higher number dials");
  }
  if (address.host.empty() || address.port == 0)
    return refuse(ErrorCode::invalid_argument, peer + " cannot be dialled without a host and a port");
  for (const auto& place : address.elsewhere) {
    EVERSHARD_TRY(check_host(options, place.host));
    if (place.host.empty() || place.port == 0)
      return refuse(ErrorCode::invalid_argument, peer + " cannot be dialled without a host and a port");
  }
  impl_->greeter->dial(std::move(address));
  return {};
}

void Links::forget(NodeNumber node) {
  impl_->greeter->forget(node);
  // As above.
  (void)impl_->shared->inbox->put(LinkCommand(ForgetCommand{node}));
}

void Links::request(NodeNumber to, MessageKind kind, std::string bytes, std::chrono::milliseconds time, Done done) {
  if (to == impl_->shared->options.who.node)
    return done(refuse(ErrorCode::invalid_argument, "a process does not ask itself over its link"));
  const auto size = bytes.size();
  if (auto entered = impl_->enter(size); !entered) return done(refuse(std::move(entered).error()));
  LinkCommand command(AskCommand{to, kind, std::chrono::steady_clock::now() + time, std::move(bytes), std::move(done)});
  if (impl_->shared->inbox->put(command)) return;
  impl_->leave(size);
  std::get<AskCommand>(command).done(impl_->closed());
}

Result<void> Links::send(NodeNumber to, MessageKind kind, std::string bytes) {
  if (to == impl_->shared->options.who.node)
    return refuse(ErrorCode::invalid_argument, "a process does not send to itself over its link");
  const auto size = bytes.size();
  EVERSHARD_TRY(impl_->enter(size));
  if (impl_->shared->inbox->put(LinkCommand(TellCommand{to, kind, std::move(bytes)}))) return {};
  impl_->leave(size);
  return impl_->closed();
}

Result<void> Links::reload_tls() {
  const auto& files = impl_->shared->options.tls;
  if (!files) return refuse(ErrorCode::invalid_argument, "the link has no TLS");
  auto loaded = TlsContext::load(*files, impl_->shared->options.who);
  if (!loaded) return refuse(std::move(loaded).error());
  impl_->greeter->use(*std::move(loaded));
  return {};
}

std::vector<LinkStatus> Links::status() const { return impl_->shared->board.status(); }

}  // namespace evershard::cluster
