#include "evershard/bench/workload.hpp"

#include <array>

namespace evershard::bench {
namespace {

constexpr std::size_t pool_bytes = 4u << 20;

/// Words and numbers between quotes: compresses like real payloads, by about 2.5.
std::string make_pool() {
  static constexpr std::array words{"orderId", "customerId", "amount",    "currency", "status",
                                    "created", "shipped",    "warehouse", "sku",      "quantity"};
  Random random(7);
  std::string pool;
  pool.reserve(pool_bytes + 64);
  while (pool.size() < pool_bytes) {
    pool += '"';
    pool += words[random.below(words.size())];
    pool += "\":";
    if (random.below(2))
      pool += std::to_string(random() >> 20);
    else
      pool += std::string("\"") + words[random.below(words.size())] + '-' + std::to_string(random.below(1000)) + '"';
    pool += ',';
  }
  return pool;
}

}  // namespace

Workload::Workload(std::uint64_t seed, Shape shape) : random_(seed), shape_(shape), pool_(make_pool()) {}

Event Workload::event() {
  Event event;
  event.aggregate.emplace(AggregateId{"order", std::to_string(random_.below(shape_.aggregates))});
  event.type = "Type" + std::to_string(random_.below(shape_.types));
  event.tags.reserve(3);
  event.tags.push_back("course:" + std::to_string(random_.below(shape_.courses)));
  if (shape_.frequent_tag && random_.below(10) == 0)
    event.tags.push_back("region:" + std::to_string(random_.below(10)));
  event.tags.push_back("student:" + std::to_string(random_.below(shape_.students)));
  event.payload = pool_.substr(random_.below(pool_.size() - shape_.payload_bytes), shape_.payload_bytes);
  event.format = PayloadFormat::text;
  return event;
}

Append Workload::append(std::size_t events) {
  Append append;
  append.events.reserve(events);
  for (std::size_t i = 0; i < events; ++i) append.events.push_back(event());
  return append;
}

}  // namespace evershard::bench
