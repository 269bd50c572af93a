#include "evershard/doors/remote/connection.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <thread>

#include "evershard/api/messages/messages.hpp"
#include "evershard/protocol/beyond_head.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::remote {
namespace {

constexpr auto pause_min = std::chrono::milliseconds(10);
constexpr auto pause_max = std::chrono::milliseconds(500);
constexpr auto keepalive_alone = std::chrono::milliseconds(20'000);
constexpr auto keepalive_of_several = std::chrono::milliseconds(1'000);  // then there is somebody else to ask
constexpr auto silence_of_several = std::chrono::milliseconds(1'500);    // after a keepalive ping
constexpr int reconnect_max_ms = 1'000;
constexpr auto meeting_timeout = std::chrono::milliseconds(2'000);
constexpr auto map_age_max = std::chrono::seconds(30);
constexpr auto map_age_min =
    std::chrono::milliseconds(200);  // what is doubtful is asked for again, but no storm is made of it
constexpr auto wait_at_one_max = std::chrono::milliseconds(3'000);
constexpr int metadata_bytes_max = 64 << 10;  // an error's details travel there

Result<std::string> text_of(const std::filesystem::path& file) {
  if (file.empty()) return std::string();
  std::ifstream in(file, std::ios::binary);
  if (!in) return refuse(ErrorCode::invalid_argument, "cannot read " + in_quotes(file.string(), 300));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

grpc::ChannelArguments arguments_of(const RemoteOptions& options, bool several) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  const auto keepalive = options.keepalive.value_or(several ? keepalive_of_several : keepalive_alone);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   static_cast<int>(std::clamp<std::int64_t>(keepalive.count(), 100, std::numeric_limits<int>::max())));
  if (several) arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(silence_of_several.count()));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, reconnect_max_ms);
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, metadata_bytes_max);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);  // tried again here, where it is known what is safe
  return arguments;
}

Result<std::shared_ptr<grpc::ChannelCredentials>> credentials_of(const RemoteOptions& options) {
  if (!options.tls && options.tls_ca.empty() && options.tls_certificate.empty() && options.tls_key.empty())
    return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions tls;
  for (const auto& [file, text] :
       {std::pair(&options.tls_ca, &tls.pem_root_certs), std::pair(&options.tls_certificate, &tls.pem_cert_chain),
        std::pair(&options.tls_key, &tls.pem_private_key)}) {
    auto read = text_of(*file);
    if (!read) return refuse(std::move(read).error());
    *text = *std::move(read);
  }
  return grpc::SslCredentials(tls);
}

/// A door that has been gone for long is not looked for all the time.
std::chrono::milliseconds rest_of(unsigned failures) { return pause_before(failures) * (failures > 8 ? 10 : 1); }

}  // namespace

std::string_view told_in(const grpc::ClientContext& answered, const char* key) {
  const auto& metadata = answered.GetServerInitialMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? std::string_view() : std::string_view(found->second.data(), found->second.size());
}

bool reached(const grpc::ClientContext& call) {
  constexpr std::string_view of_a_peer[] = {"ipv4:", "ipv6:", "unix:", "unix-abstract:", "vsock:"};
  const auto peer = call.peer();
  return std::ranges::any_of(of_a_peer, [&](std::string_view begin) { return peer.starts_with(begin); });
}

std::chrono::milliseconds pause_before(std::uint32_t tries, std::chrono::milliseconds retry_after) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto longest = std::min(pause_min * (1u << std::min(tries, 10u)), pause_max);
  return retry_after + std::chrono::milliseconds(
                           std::uniform_int_distribution<std::int64_t>(longest.count() / 2, longest.count())(random));
}

Result<std::vector<std::string>> addresses_of(const RemoteOptions& options) {
  std::vector<std::string> all;
  const auto take = [&all](std::string_view text) -> Result<void> {
    for (std::size_t begin = 0; begin <= text.size();) {
      const auto end = std::min(text.find(',', begin), text.size());
      auto one = text.substr(begin, end - begin);
      while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
      while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
      if (one.empty())
        return refuse(ErrorCode::invalid_argument,
                      in_quotes(text, 300) + " has an empty address: HOST:PORT, or several, HOST:PORT,HOST:PORT");
      auto whole = whole_address(one);
      if (!whole) return refuse(std::move(whole).error());
      if (std::ranges::find(all, *whole) == all.end()) all.push_back(*std::move(whole));
      begin = end + 1;
    }
    return {};
  };
  if (options.servers.empty()) EVERSHARD_TRY(take(options.server));
  for (const auto& server : options.servers) EVERSHARD_TRY(take(server));
  return all;
}

Result<std::shared_ptr<Connection>> Connection::make(const RemoteOptions& options) {
  auto addresses = addresses_of(options);
  if (!addresses) return refuse(std::move(addresses).error());
  auto credentials = credentials_of(options);
  if (!credentials) return refuse(std::move(credentials).error());
  auto connection = std::make_shared<Connection>(options, addresses->size());
  connection->credentials_ = *std::move(credentials);
  for (const auto& address : *addresses) connection->add(address, addresses->size() > 1);
  if (addresses->size() == 1) connection->choice_.is(0, DoorChoice::Whose::ours);
  connection->see(options.seen);
  return connection;
}

Connection::Connection(const RemoteOptions& options, std::size_t addresses)
    : options_(options), given_several_(addresses > 1), faults_(addresses) {
  options_.timeout = std::min(options_.timeout, time_max);
}

Connection::~Connection() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (asking_ != nullptr) asking_->TryCancel();
  }
  changed_.notify_all();
  if (scout_.joinable()) scout_.join();
}

std::unique_ptr<grpc::ClientContext> Connection::context(bool of_history) const {
  auto context = std::make_unique<grpc::ClientContext>();
  if (!options_.token.empty()) context->AddMetadata("authorization", "Bearer " + options_.token);
  if (options_.compression) {
    context->set_compression_algorithm(GRPC_COMPRESS_GZIP);
    context->AddMetadata(wire::compression_key, wire::compression_gzip);
  }
  if (!of_history) return context;
  const std::lock_guard lock(history_mutex_);
  // At one address, whatever is there is what was asked for: only who follows it is told (RemoteFeed, RemotePages).
  if (given_several_ && !fork_.empty()) context->AddMetadata(wire::fork_key, fork_);
  if (led_.text().empty()) return context;
  context->AddMetadata(wire::led_key, led_.text());
  if (!given_several_ && !led_of_.empty()) context->AddMetadata(wire::led_of_key, led_of_);
  return context;
}

Result<void> Connection::hear(const grpc::ClientContext& answered) {
  EVERSHARD_TRY(hear_fork(answered));
  return hear_led(told_in(answered, wire::led_key));
}

Result<void> Connection::hear_fork(const grpc::ClientContext& answered) {
  const auto fork = told_in(answered, wire::fork_key);
  if (fork.empty()) return {};
  hear_at_one(answered);
  const std::lock_guard lock(history_mutex_);
  if (fork_.empty() || !given_several_) fork_ = fork;
  return fork == fork_ ? Result<void>() : Result<void>(refuse(another_fork(fork_, fork)));
}

void Connection::hear_at_one(const grpc::ClientContext& answered) {
  const auto fork = told_in(answered, wire::fork_key);
  if (given_several_ || fork.empty()) return;
  const std::lock_guard lock(history_mutex_);
  if (fork != led_of_) led_ = {};
  led_of_ = fork;
}

Result<void> Connection::hear_led(std::string_view led) {
  const std::lock_guard lock(history_mutex_);
  return led_.hear(led);
}

std::string Connection::fork() const {
  const std::lock_guard lock(history_mutex_);
  return fork_;
}

Error Connection::not_taken(const Door& door, const Error& why) {
  // Whoever asked does not know what came of it, as where a connection breaks.
  const auto code = why.code == ErrorCode::invalid_argument ? why.code : ErrorCode::unavailable;
  return {code, "the answer of " + door.address + " is not taken: " + why.what};
}

void Connection::add(const std::string& address, bool several) {
  auto door = std::make_unique<Door>();
  door->number = choice_.add();
  door->address = address;
  door->channel = grpc::CreateCustomChannel(address, credentials_, arguments_of(options_, several));
  door->events = pb::EventStore::NewStub(door->channel);
  door->administration = pb::Administration::NewStub(door->channel);
  door->aggregates = pb::Aggregates::NewStub(door->channel);
  door->groups = pb::Groups::NewStub(door->channel);
  door->retention = pb::Retention::NewStub(door->channel);
  doors_.push_back(std::move(door));
}

bool Connection::several() {
  const std::lock_guard lock(mutex_);
  return doors_.size() > 1;
}

Result<Door*> Connection::door(Clock::time_point deadline) {
  Lock lock(mutex_);
  while (true) {
    if (const auto current = choice_.current()) return doors_[*current].get();
    if (choice_.all_foreign()) return refuse(trouble_);
    if (forked_) return refuse(*forked_);
    if (auto never = faults_.final_fault()) return refuse(*std::move(never));
    scout(lock);
    if (changed_.wait_until(lock, deadline) == std::cv_status::timeout && !choice_.current()) return refuse(trouble_);
  }
}

Door* Connection::home(std::uint32_t node) {
  Door* door = nullptr;
  {
    Lock lock(mutex_);
    const auto met = door_of_.find(node);
    if (met != door_of_.end()) {
      if (!choice_.rests(met->second, DoorChoice::Clock::now())) door = doors_[met->second].get();
    } else if (const auto at = directory_.addresses().find(node); at != directory_.addresses().end()) {
      const auto known = std::ranges::find(doors_, at->second, &Door::address);
      if (known != doors_.end() && choice_.whose((*known)->number) == DoorChoice::Whose::unknown &&
          wanted_.insert((*known)->number).second)
        scout(lock);
    }
  }
  // One that is not open is not waited for: any other takes the append.
  return door != nullptr && door->channel->GetState(true) == GRPC_CHANNEL_READY ? door : nullptr;
}

Error Connection::trouble() {
  const std::lock_guard lock(mutex_);
  return faults_.final_fault().value_or(trouble_);
}

Error Connection::fault(const Door& door, Error error, bool told) {
  const std::lock_guard lock(mutex_);
  return faults_.failed(door.number, door.address, std::move(error), told, ConnectFaults::Clock::now());
}

std::optional<Error> Connection::final_fault() {
  const std::lock_guard lock(mutex_);
  if (forked_ && !choice_.current()) return forked_;
  return faults_.final_fault();
}

bool Connection::was_heard() {
  const std::lock_guard lock(mutex_);
  return faults_.was_heard();
}

Door* Connection::door_now() {
  Lock lock(mutex_);
  if (const auto current = choice_.current()) return doors_[*current].get();
  scout(lock);
  return nullptr;
}

void Connection::worked(const Door& door) {
  const std::lock_guard lock(mutex_);
  faults_.heard();
  choice_.worked(door.number);
}

void Connection::failed(const Door& door) {
  Lock lock(mutex_);
  choice_.failed(door.number, DoorChoice::Clock::now(), rest_of(choice_.failures(door.number)));
  if (choice_.count() > 1) scout(lock);
}

void Connection::is_full(std::chrono::milliseconds retry_after) {
  full_until_ = std::chrono::steady_clock::now() + std::min<std::chrono::milliseconds>(retry_after, time_max);
}

std::chrono::milliseconds Connection::full_for() const {
  const auto left = full_until_.load() - std::chrono::steady_clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
}

void Connection::learn_shards(bool doubtful) {
  if (!options_.follow_shards) return;
  Lock lock(mutex_);
  const auto age = std::chrono::steady_clock::now() - map_asked_;
  if (age < (map_known_ && !(doubtful && directory_.is_cluster()) ? map_age_max : map_age_min)) return;
  map_wanted_ = true;
  scout(lock);
}

std::vector<std::uint32_t> Connection::lanes() {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t shard = 0; shard < directory_.shards(); ++shard) {
    const auto node = directory_.owner(ShardId(static_cast<std::uint16_t>(shard)));
    lanes.push_back(door_of_.contains(node) || directory_.addresses().contains(node) ? node : 0);
  }
  return lanes;
}

std::optional<ShardId> Connection::shard_of(const Append& append) {
  const std::lock_guard lock(mutex_);
  return directory_.shard_of(append);
}

void Connection::see(GlobalPosition position) {
  auto seen = seen_.load();
  while (seen < position.value && !seen_.compare_exchange_weak(seen, position.value)) {
  }
}

std::optional<GlobalPosition> Connection::at_least(std::optional<GlobalPosition> asked) const {
  if (asked || !options_.read_own_writes || seen().value == 0) return asked;
  return seen();
}

std::chrono::milliseconds Connection::wait_at_one(std::chrono::milliseconds left) {
  return several() ? std::min(left, wait_at_one_max) : left;
}

bool Connection::connected(const Door& door, Clock::time_point deadline, const std::atomic<bool>* cancelled) {
  while (true) {
    const auto state = door.channel->GetState(true);
    if (state != GRPC_CHANNEL_IDLE && state != GRPC_CHANNEL_CONNECTING) return true;
    const auto now = Clock::now();
    if (now >= deadline || (cancelled != nullptr && *cancelled)) return false;
    door.channel->WaitForStateChange(state, std::min<Clock::time_point>(deadline, now + std::chrono::milliseconds(50)));
  }
}

bool Connection::asked_again(const Error& error, bool told, Again again, Clock::duration since) {
  switch (error.code) {
    case ErrorCode::overloaded:
    case ErrorCode::wrong_shard:
    case ErrorCode::fenced:
      return true;
    case ErrorCode::unavailable:
      if (error.lasting() && !told) return false;  // no address will ever work
      return !told || again == Again::not_served || again == Again::named || several();
    case ErrorCode::timeout:
      if (again == Again::named) return told && since < options_.unavailable_timeout;  // it has waited itself
      return told && again == Again::not_served && several();  // this node is behind: another may not be
    default:
      return false;
  }
}

bool Connection::wait_before(std::uint32_t tries, const Door& door, Clock::time_point deadline,
                             std::chrono::milliseconds retry_after) {
  const auto pause = pause_before(tries, retry_after);
  if (Clock::now() + pause >= deadline) return false;
  rest(door, pause);
  return true;
}

void Connection::rest(const Door& door, std::chrono::milliseconds pause) {
  const auto until = Clock::now() + pause;
  for (auto state = door.channel->GetState(false);
       state != GRPC_CHANNEL_READY && door.channel->WaitForStateChange(state, until);) {
    state = door.channel->GetState(false);
  }
  std::this_thread::sleep_until(until);
}

/// Under the lock: there is something to find out.
void Connection::scout(Lock&) {
  if (closing_) return;
  if (!scout_.joinable()) scout_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void Connection::run() {
  Lock lock(mutex_);
  while (!closing_) {
    const auto now = DoorChoice::Clock::now();
    const auto wanted = std::ranges::find_if(wanted_, [&](std::size_t door) { return !choice_.rests(door, now); });
    if (const auto next = choice_.to_meet(now)) {
      meet(lock, *next);
    } else if (map_wanted_ && choice_.current() && !choice_.rests(*choice_.current(), now)) {
      meet(lock, *choice_.current());
    } else if (wanted != wanted_.end()) {
      meet(lock, *wanted);
    } else {
      auto until = choice_.meets_next().value_or(now + std::chrono::hours(1));
      if (!wanted_.empty() || map_wanted_) until = std::min(until, now + pause_max);
      changed_.wait_until(lock, until);
    }
  }
}

/// Asks a door whose it is, who serves the store with it, and who writes which shard.
void Connection::meet(Lock& lock, std::size_t number) {
  auto& door = *doors_[number];
  auto context = this->context(false);
  context->set_deadline(Clock::now() + std::min<std::chrono::milliseconds>(meeting_timeout, options_.timeout));
  asking_ = context.get();
  map_wanted_ = false;
  map_asked_ = std::chrono::steady_clock::now();
  lock.unlock();
  pb::MembersResponse response;
  const auto status = door.events->Members(context.get(), {}, &response);
  Membership said;
  auto got = status.ok() ? messages::get(response, said) : Result<void>(refuse(wire::error_of(status)));
  lock.lock();
  asking_ = nullptr;
  if (status.ok())
    faults_.heard();
  else
    // Whether it is for good is what door() looks at.
    (void)faults_.failed(number, door.address, wire::error_of(status), !status.error_details().empty(),
                         ConnectFaults::Clock::now());  // door() looks
  // One of another history is asked again later: its coordinator may be the one that leads by then.
  if (got)
    if (const auto led = hear_met(number, *context); !led) got = refuse(not_taken(door, led.error()));
  if (got) {
    learn(number, said);
  } else if (got.error().code == ErrorCode::unavailable || got.error().code == ErrorCode::timeout ||
             got.error().code == ErrorCode::overloaded || got.error().code == ErrorCode::fenced) {
    trouble_ = {ErrorCode::unavailable, door.address + ": " + got.error().what};
    choice_.failed(number, DoorChoice::Clock::now(), rest_of(choice_.failures(number)));
  } else {  // of an earlier release, or our token may not ask: what it says to the calls themselves counts
    choice_.is(number, DoorChoice::Whose::ours);
    wanted_.erase(number);
    map_known_ = true;
  }
  changed_.notify_all();
}

/// Behind the one address there is, others name doors: one of another fork is never used, and says nothing of this one.
Result<void> Connection::hear_met(std::size_t number, const grpc::ClientContext& answered) {
  if (!given_several_ && number != 0) {
    const auto fork = told_in(answered, wire::fork_key);
    const std::lock_guard lock(history_mutex_);
    if (!fork.empty() && fork != led_of_) return {};
  }
  hear_at_one(answered);
  return hear_led(told_in(answered, wire::led_key));
}

void Connection::learn(std::size_t number, const Membership& said) {
  wanted_.erase(number);
  map_known_ = true;
  const auto before = directory_;
  if (!given_several_ && number == 0 && !directory_.learn(said)) {
    // Put back from a copy, at the one address that was given: who else serves that has to say so anew.
    directory_ = {};
    door_of_.clear();
    for (std::size_t other = 1; other < choice_.count(); ++other) choice_.is(other, DoorChoice::Whose::unknown);
  }
  if (auto learned = directory_.learn(said); !learned) {
    trouble_ = {learned.error().code, doors_[number]->address + ' ' + learned.error().what};
    if (given_several_ && choice_.whose(number) == DoorChoice::Whose::ours && directory_.is_of(said.store_id))
      forked_ = another_fork(fork(), said.fork_id);
    return choice_.is(number, DoorChoice::Whose::foreign);
  }
  choice_.is(number, DoorChoice::Whose::ours);
  forked_.reset();
  {
    const std::lock_guard lock(history_mutex_);
    if (fork_.empty()) fork_ = said.fork_id;
  }
  const bool met = said.here != 0 && door_of_.emplace(said.here, number).second;
  if (!options_.follow_shards || (before == directory_ && !met)) return;
  for (const auto& [node, address] : directory_.addresses()) {
    if (!door_of_.contains(node) && std::ranges::find(doors_, address, &Door::address) == doors_.end())
      add(address, true);
  }
  ++lanes_version_;
}

}  // namespace evershard::remote
