// Redis with its log synced before each answer: an event is a value, a tag a sorted set of positions, an append a
// script.

#include <hiredis/hiredis.h>

#include <algorithm>
#include <vector>

#include "bench/peers/peer.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint64_t read_at_once = 1'000;

/// Arguments: after (empty: no condition), then for each event its bytes, its type, how many tags, and these.
constexpr const char* append_script = R"(
local at = 2
local after = ARGV[1]
if after ~= '' then
  local tags = tonumber(ARGV[4])
  local sets = {}
  for t = 1, tags do sets[t] = 'tag:' .. ARGV[4 + t] end
  sets[tags + 1] = 'type:' .. ARGV[3]
  for _, position in ipairs(redis.call('ZRANGEBYSCORE', sets[1], '(' .. after, '+inf')) do
    local all = true
    for s = 2, #sets do all = all and redis.call('ZSCORE', sets[s], position) end
    if all then return false end
  end
end
local position
while at < #ARGV do
  position = redis.call('INCR', 'last')
  redis.call('SET', 'event:' .. position, ARGV[at])
  redis.call('ZADD', 'type:' .. ARGV[at + 1], position, position)
  local tags = tonumber(ARGV[at + 2])
  for t = 1, tags do redis.call('ZADD', 'tag:' .. ARGV[at + 2 + t], position, position) end
  at = at + 3 + tags
end
return position
)";
constexpr const char* tag_script = R"(
local keys = redis.call('ZRANGE', 'tag:' .. ARGV[1], 0, tonumber(ARGV[2]))
if #keys == 0 then return {} end
for i = 1, #keys do keys[i] = 'event:' .. keys[i] end
return redis.call('MGET', unpack(keys))
)";

struct Free {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Answer = std::unique_ptr<redisReply, Free>;

void put(std::string& to, std::string_view bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  to.append(reinterpret_cast<const char*>(&size), sizeof size);
  to += bytes;
}
std::string take(std::string_view& from) {
  std::uint32_t size = 0;
  if (from.size() < sizeof size) return {};
  std::copy_n(from.data(), sizeof size, reinterpret_cast<char*>(&size));
  from.remove_prefix(sizeof size);
  std::string taken(from.substr(0, size));
  from.remove_prefix(taken.size());
  return taken;
}

/// Id, type, tags, payload, each with its length before it.
std::string bytes_of(const Event& event) {
  std::string bytes;
  const auto id = EventId::random();
  put(bytes, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
  put(bytes, event.type);
  put(bytes, std::to_string(event.tags.size()));
  for (const auto& tag : event.tags) put(bytes, tag);
  put(bytes, event.payload);
  return bytes;
}
bool decoded(std::string_view bytes) {
  Event event;
  static_cast<void>(take(bytes));
  event.type = take(bytes);
  const auto tags = std::atoi(take(bytes).c_str());
  for (int i = 0; i != tags; ++i) event.tags.push_back(take(bytes));
  event.payload = take(bytes);
  return !event.payload.empty() && bytes.empty();
}

class RedisClient final : public PeerClient {
 public:
  explicit RedisClient(redisContext* connection) : connection_(connection) {}
  ~RedisClient() override { redisFree(connection_); }

  Result<void> prepare() {
    for (auto [script, sum] : {std::pair{append_script, &append_}, {tag_script, &tag_}}) {
      const auto answer = ask({"SCRIPT", "LOAD", script});
      if (!answer || answer->type != REDIS_REPLY_STRING) return failed(answer.get());
      *sum = answer->str;
    }
    return {};
  }

  Result<std::uint64_t> append(const Append& append) override { return send(append, ""); }
  Result<std::uint64_t> append_if(const Append& append, std::uint64_t after) override {
    return send(append, std::to_string(after));
  }
  Result<std::uint64_t> read(const std::string& tag) override {
    const auto answer = ask({"EVALSHA", tag_, "0", tag, "-1"});
    return events_of(answer.get());
  }
  Result<std::uint64_t> read_one(const std::string& tag) override {
    const auto answer = ask({"EVALSHA", tag_, "0", tag, "0"});
    return events_of(answer.get());
  }
  Result<std::uint64_t> read_all() override {
    std::uint64_t events = 0;
    for (std::uint64_t first = 1;; first += read_at_once) {
      std::vector<std::string> words{"MGET"};
      for (auto at = first; at != first + read_at_once; ++at) words.push_back("event:" + std::to_string(at));
      const auto answer = ask(words);
      const auto some = events_of(answer.get());
      if (!some) return some;
      events += *some;
      if (*some < read_at_once) return events;
    }
  }

 private:
  Answer ask(const std::vector<std::string>& words) {
    std::vector<const char*> at;
    std::vector<std::size_t> sizes;
    for (const auto& word : words) at.push_back(word.data()), sizes.push_back(word.size());
    return Answer(static_cast<redisReply*>(
        redisCommandArgv(connection_, static_cast<int>(words.size()), at.data(), sizes.data())));
  }
  Result<std::uint64_t> send(const Append& append, const std::string& after) {
    std::vector<std::string> words{"EVALSHA", append_, "0", after};
    for (const auto& event : append.events) {
      words.push_back(bytes_of(event));
      words.push_back(event.type);
      words.push_back(std::to_string(event.tags.size()));
      words.insert(words.end(), event.tags.begin(), event.tags.end());
    }
    const auto answer = ask(words);
    if (answer && answer->type == REDIS_REPLY_NIL)
      return refuse(ErrorCode::condition_failed, "another event came in between");
    if (!answer || answer->type != REDIS_REPLY_INTEGER) return failed(answer.get());
    return static_cast<std::uint64_t>(answer->integer);
  }
  [[nodiscard]] Result<std::uint64_t> events_of(const redisReply* answer) const {
    if (answer == nullptr || answer->type != REDIS_REPLY_ARRAY) return failed(answer);
    std::uint64_t events = 0;
    for (std::size_t i = 0; i != answer->elements; ++i) {
      const auto& element = *answer->element[i];
      if (element.type == REDIS_REPLY_STRING && decoded({element.str, element.len})) ++events;
    }
    return events;
  }
  [[nodiscard]] Refused failed(const redisReply* answer) const {
    return refuse(ErrorCode::io, answer != nullptr && answer->str != nullptr ? answer->str : connection_->errstr);
  }

  redisContext* const connection_;
  std::string append_, tag_;
};

class RedisPeer final : public Peer {
 public:
  using Peer::Peer;

  /// It has everything in memory, whatever it is told.
  Result<void> restart_with_cache(std::uint64_t) override { return {}; }
  /// It listens before it has read its log.
  Result<std::unique_ptr<PeerClient>> connect() override {
    auto* const connection = redisConnect("127.0.0.1", port());
    if (connection == nullptr || connection->err != 0) return refuse(ErrorCode::io, "cannot connect to Redis");
    auto client = std::make_unique<RedisClient>(connection);
    for (int tries = 0; tries != 3'000; ++tries) {
      const Answer answer(static_cast<redisReply*>(redisCommand(connection, "PING")));
      if (answer && answer->type == REDIS_REPLY_STATUS) break;
      usleep(20'000);
    }
    EVERSHARD_TRY(client->prepare());
    return client;
  }

 private:
  std::vector<std::string> words() const override {
    return {"--bind", "127.0.0.1",    "--port", std::to_string(port()), "--dir", setup().folder.string(), "--save",
            "",       "--appendonly", "yes",    "--appendfsync",        "always"};
  }
};

}  // namespace

Result<std::unique_ptr<Peer>> start_redis(const PeerSetup& setup) {
  auto peer = std::make_unique<RedisPeer>(setup);
  EVERSHARD_TRY(peer->start());
  return peer;
}

}  // namespace evershard::bench
