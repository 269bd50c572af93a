#include "tests/actors/core/writers_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "tests/sharding/fresh_state.hpp"

namespace evershard::actors {
namespace {

template <class Message>
Message taken(std::vector<Message>& messages, std::size_t which, bool again) {
  Message message = messages[which];
  if (!again) messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(which));
  return message;
}

bool is_refusal(ErrorCode code) {
  return code == ErrorCode::version_conflict || code == ErrorCode::condition_failed || code == ErrorCode::overloaded ||
         code == ErrorCode::unavailable;
}

/// What happens, line by line, where EVERSHARD_WALK_TRACE is set.
template <class... Parts>
void trace(const Parts&... parts) {
  static const bool wanted = std::getenv("EVERSHARD_WALK_TRACE") != nullptr;
  if (!wanted) return;
  ((std::cerr << parts << ' '), ...);
  std::cerr << '\n';
}

std::string brief(const RequestId& request) { return request.text().substr(0, 4); }

std::string state_of(const WritersWorld::Client& client) {
  static constexpr const char* names[] = {"arrived", "queued",  "looked up", "awaiting a cut",
                                          "resting", "written", "joined",    "done"};
  const Attempt& attempt = *client.attempt;
  return std::string(names[static_cast<int>(attempt.state)]) + " at node " + std::to_string(client.node) +
         ", attempt " + std::to_string(attempt.number) + " of request " + client.request.text() + ", " +
         std::to_string(attempt.undecided) + " parts undecided, " + std::to_string(attempt.unanswered) + " unanswered";
}

}  // namespace

WritersWorld::WritersWorld(Options o)
    : options(o),
      model(o.shards, o.term_mask),
      nodes(o.nodes),
      ordering(sharding::fresh(o.shards), {.window_events_max = o.window_events_max}),
      holds_(o.nodes) {
  for (std::uint32_t s = 0; s != o.shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    owners.push_back(s % o.nodes);
    holds_[s % o.nodes].insert(shard);
    nodes[s % o.nodes].disk[shard];
  }
  for (std::uint32_t n = 0; n != o.nodes; ++n) start(n, CutNumber{0});
  for (std::uint32_t n = 0; n != o.nodes; ++n) begin_session(n);
  for (std::uint32_t s = 0; s != o.shards; ++s) open(ShardId{static_cast<std::uint16_t>(s)}, owners[s]);
  make_cut();
  for (std::uint32_t n = 0; n != o.nodes; ++n) apply(n);
}

void WritersWorld::start(std::uint32_t node, CutNumber at) {
  Node& n = nodes[node];
  const auto state = state_at(at);
  ShardWriters::Start start{at, state.watermark, {}, {}};
  for (const ShardId shard : holds_[node]) {
    start.shards.push_back(
        {shard, std::max(state.shards[shard.value].epoch, copied_[{node, shard}]), state.shards[shard.value].next});
    for (auto& append : unordered(node, shard, state.shards[shard.value].next))
      start.unordered.push_back(std::move(append));
  }
  auto writers = options.writers;
  writers.node = node;
  n.writers = std::make_unique<ShardWriters>(std::move(start), writers);
  n.persisted = at;
}

sharding::OrderState WritersWorld::state_at(CutNumber cut) const {
  auto state = sharding::fresh(options.shards);
  for (const auto& c : log) {
    if (c.number > cut) break;
    for (const auto& opening : c.openings) state.shards[opening.shard.value].epoch = opening.epoch;
    for (const auto& segment : c.segments) state.shards[segment.shard.value].next = segment.end;
    state.last_cut = c.number;
    state.watermark = c.last_position();
    state.coordinator = c.coordinator;
  }
  return state;
}

std::vector<storage::UnorderedAppend> WritersWorld::unordered(std::uint32_t node, ShardId shard,
                                                              ShardOffset from) const {
  std::vector<storage::UnorderedAppend> found;
  for (const auto& record : nodes[node].disk.at(shard)) {
    if (record.place.first < from || !record.synced) continue;
    found.push_back({record.append, record.place});
    found.back().append.bodies.clear();
  }
  return found;
}

// -- clients

std::uint64_t WritersWorld::send(std::optional<std::uint32_t> to, Append append, bool named, AppendChain chain) {
  const std::uint64_t id = ++clients_;
  auto attempt = model.attempt(id, std::move(append), named);
  attempt->prepared.chain = chain;
  Client& client = clients[id];
  client.request = attempt->prepared.append.request;
  client.node = to.value_or(owners[attempt->prepared.append.events.front().shard.value]);
  client.attempt = attempt;
  client.acknowledged = acknowledged_;
  for (const auto& [other, attempted] : clients) {  // it may get that one's answer
    if (attempted.request == client.request && !attempted.answer && other != id)
      client.acknowledged = std::min(client.acknowledged, attempted.acknowledged);
  }
  sent_after_.emplace(client.request, acknowledged_);
  client.was_stored = acknowledged.contains(client.request);
  trace("client", id, "sends", brief(client.request), "to node", client.node, "events",
        attempt->prepared.append.events.size(), "conditions", attempt->prepared.terms.size());
  refused_.erase(client.request);  // another attempt is under way
  Node& node = nodes[client.node];
  const GlobalPosition w = node.writers->watermark();
  const auto stored = model.look_up(*attempt, w - std::min(w.value, view_lag), false, w);
  WriterActions actions;
  if (!stored) {
    actions.answers.push_back({id, refuse(stored.error())});
  } else if (*stored) {
    actions.answers.push_back({id, **stored});
  } else {
    node.writers->take(attempt, actions);
  }
  carry_out(client.node, std::move(actions));
  return id;
}

std::uint64_t WritersWorld::outstanding(const RequestId& request) const {
  return static_cast<std::uint64_t>(std::count_if(clients.begin(), clients.end(), [&](const auto& c) {
    return c.second.request == request && (!c.second.answer || c.second.lost);
  }));
}

void WritersWorld::give_up(std::uint64_t client) {
  WriterActions actions;
  Client& c = clients.at(client);
  if (c.answer || c.lost) return;
  nodes[c.node].writers->give_up(c.attempt, actions);
  carry_out(c.node, std::move(actions));
}

// -- the disk

void WritersWorld::write(std::uint32_t node) {
  while (close(node) || sync(node)) {
  }
}

bool WritersWorld::close(std::uint32_t node) {
  Node& n = nodes[node];
  if (!n.writers->any()) return false;
  auto batch = n.writers->close();
  for (const auto& append : batch.journal.appends) {
    auto& records = n.disk[append.place->shard];
    const ShardOffset end = records.empty() ? ShardOffset{1} : records.back().place.end();
    EXPECT_GE(append.place->first, end) << "an offset is used again (rule 17)";
    records.push_back({*append.append, *append.place});
    trace("node", node, "writes", brief(append.append->request), "on shard", append.place->shard.value, "offset",
          append.place->first.value, append.place->tentative ? "tentative" : "", append.place->part ? "part" : "");
  }
  for (const auto& written : batch.written) seen["built on another"] += written->builds_on.empty() ? 0 : 1;
  n.writing.push_back(std::move(batch));
  return true;
}

bool WritersWorld::sync(std::uint32_t node) {
  Node& n = nodes[node];
  if (n.writing.empty()) return false;
  const auto batch = std::move(n.writing.front());
  n.writing.pop_front();
  for (const auto& append : batch.journal.appends) {
    for (auto& record : n.disk[append.place->shard]) record.synced |= record.place.first == append.place->first;
  }
  n.persisted = n.writers->last_cut();
  WriterActions actions;
  n.writers->synced(batch, actions);
  carry_out(node, std::move(actions));
  return true;
}

void WritersWorld::crash(std::uint32_t node, CutNumber persisted) {
  Node& n = nodes[node];
  for (auto& [shard, records] : n.disk) std::erase_if(records, [](const Record& r) { return !r.synced; });
  for (auto& [id, client] : clients) client.lost |= client.node == node && !client.answer;
  for (auto& [client, asking] : asking_) {
    if (asking.to == node && !std::exchange(asking.replied, true)) lose_part(asking);
  }
  n.writing.clear();
  n.look_ups.clear();
  n.session = false;
  ++n.life;
  start(node, persisted);
  trace("node", node, "crashes, begins at cut", persisted.value);
  ++seen["crash"];
}

void WritersWorld::fail(std::uint32_t node) {
  WriterActions actions;
  nodes[node].writers->failed({ErrorCode::io, "the disk is gone"}, actions);
  nodes[node].writing.clear();
  carry_out(node, std::move(actions));
}

// -- messages

void WritersWorld::carry_out(std::uint32_t node, WriterActions actions) {
  Node& n = nodes[node];
  for (const auto& effects : actions.cuts) check_effects(effects);
  for (auto& report : actions.reports) reports.push_back({node, n.life, n.coordinator, std::move(report)});
  for (auto& look_up : actions.look_ups) n.look_ups.push_back(std::move(look_up));
  for (auto& part : actions.parts) parts.push_back({node, n.life, std::move(part.of), std::move(part.part)});
  for (auto& reply : actions.part_replies) {
    Asking& asking = asking_.at(reply.client);
    EXPECT_FALSE(std::exchange(asking.replied, true)) << "a part is answered twice";
    replies.push_back({asking.from, asking.life, std::move(reply.answer)});
  }
  for (const auto& answer : actions.answers) {
    Client& client = clients.at(answer.client);
    EXPECT_FALSE(client.answer) << "answered twice";
    EXPECT_FALSE(client.lost);
    client.answer = answer.result;
    trace("client", answer.client, "is answered", answer.result ? "appended" : answer.result.error().what);
    check_answer(client, answer);
  }
  EXPECT_TRUE(actions.lost.empty()) << (actions.lost.empty() ? "" : actions.lost[0].second.what);
}

bool WritersWorld::look_up(std::uint32_t node, std::size_t which) {
  Node& n = nodes[node];
  if (n.look_ups.empty()) return false;
  const LookUp look_up = taken(n.look_ups, which % n.look_ups.size(), false);
  auto found = look_up.placed_at.value != 0
                   ? Result<std::optional<Appended>>(
                         model.find(look_up.attempt->prepared.append.request, n.writers->watermark()))
                   : model.look_up(*look_up.attempt, n.writers->watermark(), look_up.confirm, look_up.window_from);
  WriterActions actions;
  n.writers->looked_up(look_up.attempt, std::move(found), actions);
  carry_out(node, std::move(actions));
  ++seen[look_up.confirm ? "confirmed" : "looked up"];
  return true;
}

bool WritersWorld::deliver_report(std::size_t which, bool again, bool to_replaced) {
  if (reports.empty() || (to_replaced && !replaced)) return false;
  which %= reports.size();
  if (to_replaced && reports[which].coordinator != replaced->state().coordinator) return false;
  const Report message = taken(reports, which, again);
  sharding::Ordering& coordinator = to_replaced ? *replaced : ordering;
  const auto& report = message.report.report;
  const bool asks = report.appends.empty();
  const auto result = coordinator.report(report);
  Node& n = nodes[message.node];
  switch (result) {
    case sharding::Reported::taken:
      if (asks) {
        promises.push_back({message.node, message.life, report.shard, report.epoch, message.report.ask,
                            coordinator.state().last_cut + 1, coordinator.state().coordinator});
      }
      break;
    case sharding::Reported::stale:
      break;
    case sharding::Reported::gap:
      if (n.life == message.life && n.session && !to_replaced) {
        WriterActions actions;
        n.writers->report_from(report.shard, coordinator.known_end(report.shard), actions);
        carry_out(message.node, std::move(actions));
      }
      break;
    case sharding::Reported::replaced:
      EXPECT_TRUE(to_replaced) << "the coordinator takes itself for replaced";
      replaced.reset();
      break;
    case sharding::Reported::malformed:
      ADD_FAILURE() << "a malformed report";
      break;
  }
  return true;
}

bool WritersWorld::deliver_promise(std::size_t which) {
  if (promises.empty()) return false;
  const Promise promise = taken(promises, which % promises.size(), false);
  Node& n = nodes[promise.node];
  if (n.life != promise.life) return true;
  WriterActions actions;
  n.writers->cut_promised(promise.shard, promise.epoch, promise.ask, promise.cut, promise.coordinator, actions);
  carry_out(promise.node, std::move(actions));
  ++seen["promised"];
  return true;
}

bool WritersWorld::deliver_part(std::size_t which, bool again) {
  if (parts.empty()) return false;
  const Part part = taken(parts, which % parts.size(), again);
  const std::uint32_t to = owners[part.asked.shard.value];
  const std::uint64_t client = ++parts_asked_;
  asking_[client] = {part.from, part.life, to, part.asked};
  auto attempt = model.part(client, *part.of, part.asked);
  Node& n = nodes[to];
  const GlobalPosition w = n.writers->watermark();
  const auto stored = model.look_up(*attempt, w - std::min(w.value, view_lag), false, w);
  if (stored && *stored) {
    asking_[client].replied = true;
    PartAnswer answer;
    answer.attempt = part.asked.attempt;
    answer.try_number = part.asked.try_number;
    answer.shard = part.asked.shard;
    answer.kind = PartAnswer::Kind::known;
    replies.push_back({part.from, part.life, std::move(answer)});
    return true;
  }
  WriterActions actions;
  n.writers->take(attempt, actions);
  carry_out(to, std::move(actions));
  return true;
}

void WritersWorld::lose_part(std::size_t which, bool arrives) {
  const Part& part = parts[which];
  lose_part({part.from, part.life, 0, part.asked});
  if (!arrives) parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(which));
}

void WritersWorld::lose_part(const Asking& asking) {
  PartAnswer answer{.kind = PartAnswer::Kind::lost, .error = {ErrorCode::unavailable, "the link ended"}};
  answer.attempt = asking.asked.attempt;
  answer.try_number = asking.asked.try_number;
  answer.shard = asking.asked.shard;
  replies.push_back({asking.from, asking.life, std::move(answer)});
}

bool WritersWorld::deliver_reply(std::size_t which) {
  if (replies.empty()) return false;
  const Reply reply = taken(replies, which % replies.size(), false);
  Node& n = nodes[reply.to];
  if (n.life != reply.life) return true;
  ++seen[reply.answer.kind == PartAnswer::Kind::busy      ? "part busy"
         : reply.answer.kind == PartAnswer::Kind::written ? "part written"
                                                          : "part refused"];
  WriterActions actions;
  n.writers->part_answered(reply.answer, actions);
  carry_out(reply.to, std::move(actions));
  return true;
}

// -- the order

bool WritersWorld::open(ShardId shard, std::uint32_t node) {
  if (opening_.contains(shard)) return false;
  const auto epoch = ordering.open(shard, node, nodes[node].writers->tail(shard));
  EXPECT_TRUE(epoch) << "I-Durable: " << epoch.error().what;
  if (!epoch) return false;
  owned_[{shard, *epoch}] = node;
  opening_.insert(shard);
  return true;
}

bool WritersWorld::move(ShardId shard, std::uint32_t to) {
  const std::uint32_t from = owners[shard.value];
  if (from == to || opening_.contains(shard) || holds_[to].contains(shard) || nodes[to].disk.contains(shard))
    return false;
  std::deque<Record> copy;
  for (const auto& record : nodes[from].disk[shard]) {
    if (record.synced) copy.push_back(record);
  }
  nodes[to].disk[shard] = std::move(copy);
  const auto state = state_at(nodes[to].writers->last_cut());
  const Epoch epoch = ordering.state().shards[shard.value].epoch;
  copied_[{to, shard}] = epoch;
  nodes[to].writers->adopt({shard, epoch, state.shards[shard.value].next},
                           unordered(to, shard, state.shards[shard.value].next));
  holds_[from].erase(shard);
  holds_[to].insert(shard);
  owners[shard.value] = to;
  trace("shard", shard.value, "moves to node", to);
  ++seen["move"];
  return open(shard, to);
}

bool WritersWorld::make_cut() {
  auto cut = ordering.make_cut();
  if (!cut) return false;
  opening_.clear();
  log.push_back(*cut);
  window_from.push_back(ordering.window_from());
  place(*cut);
  return true;
}

void WritersWorld::place(const sharding::Cut& cut) {
  for (const auto& segment : cut.segments) {
    const auto owner = owned_.find({segment.shard, segment.epoch});
    ASSERT_NE(owner, owned_.end());
    const auto& records = nodes[owner->second].disk.at(segment.shard);
    for (ShardOffset offset = segment.first; offset < segment.end; ++offset) {
      const auto record = std::find_if(records.begin(), records.end(), [&](const Record& r) {
        return r.place.first <= offset && offset < r.place.end();
      });
      ASSERT_NE(record, records.end()) << "I-Durable: the cut covers what is not on the disk";
      ASSERT_TRUE(record->synced) << "rule 9: reported before it was durable";
      const bool refused = std::binary_search(segment.refused.begin(), segment.refused.end(), offset);
      trace("cut", cut.number.value, refused ? "refuses" : "places", brief(record->append.request), "shard",
            segment.shard.value, "epoch", segment.epoch.value, "offset", offset.value);
      ++seen[refused ? "refused by a cut" : record->place.part ? "part placed" : "placed"];
      if (refused) {
        ASSERT_TRUE(record->place.tentative) << "a plain append was refused";
        continue;
      }
      ASSERT_FALSE(refused_.contains(record->append.request))
          << "I-Once: refused for good, and placed: " << record->append.request.text();
      const std::string wrong =
          model.add(record->append, record->place, static_cast<std::uint32_t>(offset - record->place.first));
      ASSERT_EQ(wrong, "");
    }
  }
  ASSERT_EQ(model.cut_ends(), "");
  ASSERT_EQ(model.last(), cut.last_position());
}

bool WritersWorld::apply(std::uint32_t node) {
  Node& n = nodes[node];
  const auto next = static_cast<std::size_t>(n.writers->last_cut().value);
  if (next >= log.size()) return false;
  WriterActions actions;
  n.writers->announce(window_from[next], digests_wanted, builds);
  trace("node", node, "applies cut", next + 1);
  for (const auto& opening : log[next].openings) {
    if (opening.node != node) continue;
    n.writers->join_versions(opening.shard, [&](const storage::EncodedAggregate& aggregate) {
      return model.version(aggregate.id, n.writers->watermark());
    });
  }
  n.writers->apply(log[next], actions);
  carry_out(node, std::move(actions));
  return true;
}

void WritersWorld::begin_session(std::uint32_t node) {
  nodes[node].session = true;
  nodes[node].coordinator = ordering.state().coordinator;
  WriterActions actions;
  nodes[node].writers->announce(window_from.empty() ? GlobalPosition{0} : window_from.back(), digests_wanted, builds);
  nodes[node].writers->session_begun(actions);
  carry_out(node, std::move(actions));
}

void WritersWorld::lose_session(std::uint32_t node) {
  nodes[node].session = false;
  nodes[node].writers->session_lost();
}

void WritersWorld::replace_coordinator() {
  if (!opening_.empty()) return;
  auto state = ordering.state();
  ++state.coordinator;
  replaced = std::move(ordering);
  ordering = sharding::Ordering(state, {.window_events_max = options.window_events_max});
  for (std::uint32_t n = 0; n != options.nodes; ++n) lose_session(n);
  trace("coordinator replaced");
  ++seen["coordinator replaced"];
}

void WritersWorld::exchange() {
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t n = 0; n != options.nodes; ++n) {
      while (close(n) || sync(n) || look_up(n)) again = true;
    }
    while (deliver_part() || deliver_reply() || deliver_report() || deliver_promise()) again = true;
  }
}

void WritersWorld::rest() {
  for (std::uint32_t n = 0; n != options.nodes; ++n) {
    if (!nodes[n].session) begin_session(n);
  }
  int rounds = 0;
  for (bool again = true; again && !testing::Test::HasFatalFailure(); ++rounds) {
    ASSERT_LT(rounds, 2'000) << "I-Live: cuts without end";
    again = false;
    exchange();
    for (std::uint32_t n = 0; n != options.nodes; ++n) {
      while (apply(n)) again = true;
    }
    for (std::uint32_t s = 0; s != options.shards; ++s) {
      const ShardId shard{static_cast<std::uint16_t>(s)};
      if (!opening_.contains(shard) && !nodes[owners[s]].writers->is_open(shard)) open(shard, owners[s]);
    }
    again |= make_cut();
  }
  for (std::uint32_t n = 0; n != options.nodes; ++n)
    EXPECT_TRUE(nodes[n].writers->idle()) << "I-Live: node " << n << " waits";
  for (const auto& [id, client] : clients)
    EXPECT_TRUE(client.answer || client.lost) << "I-Live: client " << id << " waits: " << state_of(client);
  for (const auto& request : durable)
    EXPECT_TRUE(model.find(request, model.last())) << "I-Durable: acknowledged as durable, and not ordered";
}

// -- what is checked

void WritersWorld::check_effects(const CutEffects& effects) {
  ASSERT_LE(effects.watermark, model.last());
  for (const auto& written : effects.covered) {
    const auto& place = written->place;
    if (written->refused && !written->builds_on.empty()) ++seen["refused with its base"];
    for (std::uint32_t i = 0; i != place.events(); ++i) {
      if (!written->refused) {
        const auto& event = model.events()[written->position(i).value - 1];
        ASSERT_EQ(event.shard, place.shard);
        ASSERT_EQ(event.offset, place.first + i);
        ASSERT_EQ(event.request, written->attempt->prepared.append.request);
      } else {
        ASSERT_FALSE(std::any_of(model.events().begin(), model.events().end(),
                                 [&](const auto& e) { return e.shard == place.shard && e.offset == place.first + i; }));
      }
    }
  }
}

void WritersWorld::check_answer(Client& client, const WriterAnswer& answer) {
  const std::string what = " (request " + client.request.text() + ")";
  if (!answer.result) {
    ++seen[std::string(name_of(answer.result.error().code))];
    check_refusal(client, answer.result.error());
    return;
  }
  ++seen[answer.durable ? "durable" : answer.result->duplicate ? "duplicate" : "appended"];
  ASSERT_FALSE(refused_.contains(client.request)) << "I-Once: refused for good, and acknowledged" << what;
  if (answer.durable) {
    client.durable = true;
    const auto& records = nodes[client.node].disk[answer.durable->shard];
    const auto record = std::find_if(records.begin(), records.end(),
                                     [&](const Record& r) { return r.place.end() == answer.durable->offset + 1; });
    ASSERT_NE(record, records.end());
    ASSERT_TRUE(record->synced) << "I-Durable: acknowledged before it was synced" << what;
    ASSERT_FALSE(record->place.tentative) << "rule 17: acknowledged as durable, and undecided" << what;
    ASSERT_EQ(record->append.request, client.request);
    if (owners[answer.durable->shard.value] == client.node) durable.insert(client.request);
    return;
  }
  auto stored = model.find(client.request, model.last());
  ASSERT_TRUE(stored) << "acknowledged, and not ordered" << what;
  ASSERT_LE(stored->last_position, nodes[client.node].writers->watermark())
      << "acknowledged before its node has applied the cut" << what;
  ASSERT_GT(stored->first_position, sent_after_.at(client.request))
      << "I-RealTime: it stands before what was acknowledged before it was sent" << what;
  stored->duplicate = answer.result->duplicate;
  ASSERT_EQ(*answer.result, *stored) << "I-Once: another acknowledgement" << what;
  acknowledged_ = std::max(acknowledged_, stored->last_position);
  acknowledged.emplace(client.request, *stored);
}

void WritersWorld::check_refusal(const Client& client, const Error& error) {
  const std::string what = ": " + error.what + " (request " + client.request.text() + ")";
  const Append& original = model.original(client.request);
  const GlobalPosition w = nodes[client.node].writers->watermark();
  if (error.code == ErrorCode::version_conflict) {
    const auto& d = *error.details;
    ASSERT_FALSE(d.expected->holds_for(*d.actual) && !client.attempt->prepared.chain.follows) << "I-Honest" << what;
    // What holds of too high a version holds for ever; too low a one may have been raised where this writer does not
    // see it.
    const bool missing =
        d.expected->kind() == ExpectedVersion::Kind::exists || d.actual->value < d.expected->number().value;
    if (missing) {
      ASSERT_GE(*d.actual, model.version(*d.aggregate, client.acknowledged))
          << "I-Honest: more was acknowledged when it was sent" << what;
    }
    ASSERT_LE(*d.actual, model.version(*d.aggregate, w)) << "I-Honest: what it rests on is not ordered" << what;
  } else if (error.code == ErrorCode::condition_failed) {
    const auto& d = *error.details;
    const auto& condition = original.conditions.at(*d.condition);
    ASSERT_LE(*d.position, w) << "I-Honest" << what;
    ASSERT_EQ(model.first_match(condition.query, *d.position - 1, *d.position), d.position)
        << "I-Honest: no match is there" << what;
    ASSERT_GT(*d.position, condition.after) << "I-Honest" << what;
    ASSERT_NE(model.events()[d.position->value - 1].request, client.request)
        << "I-Once: refused by its own event" << what;
  }
  if (!is_refusal(error.code)) return;
  // "Not now" says nothing of another attempt of the request.
  const auto attempts =
      std::count_if(clients.begin(), clients.end(), [&](const auto& c) { return c.second.request == client.request; });
  if (error.code == ErrorCode::unavailable && attempts > 1) return;
  ASSERT_FALSE(client.was_stored) << "I-Once: it was acknowledged, its retry is refused" << what;
  if (outstanding(client.request) == 0) {
    const bool unknown = std::any_of(clients.begin(), clients.end(), [&](const auto& c) {
      return c.second.request == client.request && c.second.answer && !*c.second.answer &&
             !is_refusal(c.second.answer->error().code);
    });
    if (!unknown) {
      ASSERT_FALSE(model.find(client.request, model.last())) << "I-Once: stored, and refused for good" << what;
      refused_.insert(client.request);
    }
  }
}

}  // namespace evershard::actors
