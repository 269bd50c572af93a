#include "evershard/actors/core/group_commit.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "evershard/protocol/check.hpp"

namespace evershard::actors {

Appended Batch::answer(std::size_t i) {
  auto& append = appends[i]->prepared.append;
  const auto& placed = commit.appends[i];
  Appended answer;
  answer.first_position = placed.first_position;
  answer.last_position = placed.first_position + (append.events.size() - 1);
  answer.versions.reserve(append.aggregates.size());
  for (auto& aggregate : append.aggregates) answer.versions.push_back({std::move(aggregate.id), SeqNr{0}});
  for (std::size_t e = 0; e < append.events.size(); ++e) {
    const auto aggregate = append.events[e].aggregate;
    if (aggregate != storage::EncodedEvent::no_aggregate)
      answer.versions[aggregate].version = commit.events[placed.first_event + e].seq_nr;
  }
  return answer;
}

GroupCommit::GroupCommit(sharding::OrderState start, Options options)
    : options_(options), state_(std::move(start), options.state) {}

void GroupCommit::take(Ticket& ticket, Actions& actions) {
  if (failed_) {
    actions.refused.emplace_back(&ticket, not_written(*failed_));
    return;
  }
  if (!ticket.is_append()) {
    std::move(ticket.snapshots.begin(), ticket.snapshots.end(), std::back_inserter(batch_.commit.snapshots));
    put_rows(ticket);
    batch_.tickets.push_back(&ticket);
    return;
  }
  const std::size_t first_event = batch_.commit.events.size();
  Decision decision = state_.decide(ticket.prepared, batch_.commit.events);
  if (decision.kind == Decision::Kind::placed) return put(ticket, decision.position, first_event);
  if (decision.position <= state_.shown()) return settle(ticket, std::move(decision), actions);
  const GlobalPosition position = decision.position;
  waiting_.push_back({position, &ticket, std::move(decision)});
  std::push_heap(waiting_.begin(), waiting_.end(), later);
}

void GroupCommit::put(Ticket& ticket, GlobalPosition first, std::size_t first_event) {
  batch_.commit.appends.push_back({&ticket.prepared.append, first, static_cast<std::uint32_t>(first_event)});
  batch_.tickets.push_back(&ticket);
  batch_.appends.push_back(&ticket);
  batch_.bytes += ticket.prepared.bytes;
  put_rows(ticket);
}

void GroupCommit::put_rows(Ticket& ticket) {
  const auto move_all = [](auto& from, auto& to) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
  for (const auto& rewrite : ticket.rows.rewrites) batch_.bytes += rewrite.bytes.size();
  move_all(ticket.rows.state, batch_.commit.state);
  move_all(ticket.rows.rewrites, batch_.commit.rewrites);
  move_all(ticket.rows.snapshots_to_go, batch_.commit.snapshots_to_go);
}

bool GroupCommit::full() const {
  return batch_.commit.events.size() >= options_.batch_events_max || batch_.bytes >= options_.batch_bytes_max;
}

Batch GroupCommit::close() {
  EVERSHARD_CHECK(any(), "a batch has something in it");
  if (!batch_.appends.empty()) batch_.commit.cut = state_.cut();
  batch_.ends = state_.decided();
  return std::exchange(batch_, Batch{});
}

void GroupCommit::show(GlobalPosition watermark, Actions& actions) {
  state_.show(watermark);
  while (due(watermark)) {
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    Waiting waited = std::move(waiting_.back());
    waiting_.pop_back();
    settle(*waited.ticket, std::move(waited.decision), actions);
  }
}

// Everything it rests on is shown. While it waited, another attempt of the request may have been placed (I-Once).
void GroupCommit::settle(Ticket& ticket, Decision&& decision, Actions& actions) {
  if (decision.kind != Decision::Kind::refused) return again(ticket, decision.kind == Decision::Kind::matched, actions);
  if (state_.known(ticket.prepared)) return again(ticket, false, actions);
  actions.refused.emplace_back(&ticket, std::move(decision.error));
}

void GroupCommit::again(Ticket& ticket, bool confirm, Actions& actions) const {
  if (ticket.tries == options_.tries_max) {
    actions.refused.emplace_back(
        &ticket, Error{ErrorCode::overloaded, "the append was prepared " + std::to_string(ticket.tries) +
                                                  " times, and each time others were faster: try again later"});
    return;
  }
  ++ticket.tries;
  ticket.confirm = confirm;
  actions.again.push_back(&ticket);
}

void GroupCommit::fail(const Error& cause, Actions& actions) {
  failed_ = cause;
  for (auto& waiting : waiting_) {
    const bool joins = waiting.decision.kind == Decision::Kind::joins;
    actions.refused.emplace_back(waiting.ticket, joins ? outcome_unknown(cause) : not_written(cause));
  }
  waiting_.clear();
  for (Ticket* ticket : batch_.tickets) actions.refused.emplace_back(ticket, not_written(cause));
  batch_ = {};
}

Error GroupCommit::outcome_unknown(const Error& cause) {
  return {ErrorCode::timeout, "the write failed and its outcome is unknown: " + cause.what};
}

Error GroupCommit::not_written(const Error& cause) {
  return {ErrorCode::io, "nothing was written, the store has failed: " + cause.what};
}

}  // namespace evershard::actors
