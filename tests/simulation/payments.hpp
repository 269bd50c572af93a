// Payments: what the simulation's process does: money moves from an account to another, and a notice goes outside.

#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tests/actors/process/transfers.hpp"
#include "tests/actors/timers/order.hpp"

namespace evershard::simulation {

struct NoticeName {
  static constexpr std::string_view text = "notice";
};
struct ReceiptName {
  static constexpr std::string_view text = "receipt";
};
struct NotifiedName {
  static constexpr std::string_view text = "notified";
};
struct NotNotifiedName {
  static constexpr std::string_view text = "not_notified";
};
using Notice = bank::Said<NoticeName>;  ///< the effect, and its answer
using Receipt = bank::Said<ReceiptName>;
using Notified = bank::Said<NotifiedName>;
using NotNotified = bank::Said<NotNotifiedName>;

/// Debited, then credited, then there is a notice; taken back where the other account is closed. An account that said
/// no may say yes the next time.
struct Payments {
  static constexpr std::string_view type = "payment";
  using State = bank::TransferState;
  using Reacts = Types<bank::Requested, bank::Debited, bank::Credited>;
  using Timers = Types<bank::Late>;
  using Sends = Types<bank::Debit, bank::Credit>;
  using Effects = Types<Performs<Notice, Receipt>>;
  using Events =
      Types<bank::Started, bank::Finished, bank::Refused, bank::TakenBack, bank::Reminded, Notified, NotNotified>;

  template <class Event>
  static std::string key(const Event& event) {
    return event.transfer;
  }

  static Reaction<Payments> on(const State&, const bank::Requested& e) {
    return react()
        .record(e.as<bank::StartedName>())
        .send<bank::Account>(e.from, e.as<bank::DebitName>())
        .schedule("late", std::chrono::seconds(20), e.as<bank::LateName>());
  }
  static Reaction<Payments> on(const State&, const bank::Debited& e) {
    return react().send<bank::Account>(e.to, e.as<bank::CreditName>());
  }
  static Reaction<Payments> on(const State&, const bank::Credited& e) {
    return react().record(e.as<bank::FinishedName>()).perform(e.as<NoticeName>()).cancel("late");
  }
  static Reaction<Payments> on(const State&, const bank::Late& timer) {
    return react().record(timer.as<bank::RemindedName>());
  }
  static Reaction<Payments> on_rejected(const State&, const bank::Debit& command, const Rejected&) {
    return react().record(command.as<bank::RefusedName>()).cancel("late").end();
  }
  static Reaction<Payments> on_rejected(const State&, const bank::Credit& command, const Rejected&) {
    return react()
        .record(command.as<bank::TakenBackName>())
        .send<bank::Account>(command.from, command.as<bank::RefundName>())
        .cancel("late")
        .end();
  }
  static Reaction<Payments> on_performed(const State&, const Notice& notice, const Receipt&) {
    return react().record(notice.as<NotifiedName>()).end();
  }
  static Reaction<Payments> on_not_performed(const State&, const Notice& notice, const std::string&) {
    return react().record(notice.as<NotNotifiedName>()).end();
  }

  static void apply(State& payment, const bank::Started& e) { payment = {e.from, e.to, "started", e.amount, 0}; }
  static void apply(State& payment, const bank::Finished&) { payment.stage = "finished"; }
  static void apply(State& payment, const bank::Refused&) { payment.stage = "refused"; }
  static void apply(State& payment, const bank::TakenBack&) { payment.stage = "taken_back"; }
  static void apply(State& payment, const bank::Reminded&) { ++payment.reminded; }
  static void apply(State& payment, const Notified&) { payment.stage = "notified"; }
  static void apply(State& payment, const NotNotified&) { payment.stage = "not_notified"; }
};

}  // namespace evershard::simulation
