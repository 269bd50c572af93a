// What instances are told and say, as commands and events of the aggregates that they are.

#pragma once

#include <string>
#include <string_view>

#include "evershard/actors/model/codec.hpp"
#include "evershard/protocol/processes.hpp"

namespace evershard {

template <>
struct Codec<ProcessEvent> {
  static constexpr std::string_view name = process_event_type;
  static constexpr auto format = PayloadFormat::protobuf;
  static std::string encode(const ProcessEvent& event) { return evershard::encode(event); }
  static Result<ProcessEvent> decode(std::string_view bytes) { return decode_process_event(bytes); }
};
template <>
struct Codec<ProcessTimer> {
  static constexpr std::string_view name = process_timer_type;
  static constexpr auto format = PayloadFormat::protobuf;
  static std::string encode(const ProcessTimer& timer) { return evershard::encode(timer); }
  static Result<ProcessTimer> decode(std::string_view bytes) { return decode_process_timer(bytes); }
};
template <>
struct Codec<ProcessRejection> {
  static constexpr std::string_view name = process_rejection_type;
  static constexpr auto format = PayloadFormat::protobuf;
  static std::string encode(const ProcessRejection& rejection) { return evershard::encode(rejection); }
  static Result<ProcessRejection> decode(std::string_view bytes) { return decode_process_rejection(bytes); }
};
template <>
struct Codec<ProcessPerformed> {
  static constexpr std::string_view name = process_performed_type;
  static constexpr auto format = PayloadFormat::protobuf;
  static std::string encode(const ProcessPerformed& performed) { return evershard::encode(performed); }
  static Result<ProcessPerformed> decode(std::string_view bytes) { return decode_process_performed(bytes); }
};
template <>
struct Codec<ProcessReacted> {
  static constexpr std::string_view name = process_reacted_type;
  static constexpr auto format = PayloadFormat::protobuf;
  static std::string encode(const ProcessReacted& reacted) { return evershard::encode(reacted); }
  static Result<ProcessReacted> decode(std::string_view bytes) { return decode_process_reacted(bytes); }
};

template <>
struct Codec<ProcessKnown> {
  static constexpr std::string_view name = process_known_type;
  static constexpr auto format = PayloadFormat::unspecified;
  static std::string encode(const ProcessKnown&) { return {}; }
  static ProcessKnown decode(std::string_view) { return {}; }
};
template <>
struct Codec<ProcessKnownAnswer> {
  static constexpr auto format = PayloadFormat::text;
  static std::string encode(const ProcessKnownAnswer& answer) { return answer.known ? "1" : "0"; }
  static ProcessKnownAnswer decode(std::string_view bytes) { return {bytes == "1"}; }
};

/// An instance's: the user's state, and how far it is.
template <class S>
struct ProcessState {
  S state{};
  GlobalPosition reacted_to;
  bool ended = false;
};
template <class S>
struct Codec<ProcessState<S>> {
  static constexpr auto format = PayloadFormat::protobuf;
  static Result<std::string> encode(const ProcessState<S>& of) {
    auto state = to_bytes(of.state);
    if (!state) return state;
    return evershard::encode(ProcessStateBytes{*std::move(state), of.reacted_to, of.ended});
  }
  static Result<ProcessState<S>> decode(std::string_view bytes) {
    const auto of = decode_process_state(bytes);
    if (!of) return Refused(of.error());
    ProcessState<S> state{{}, of->reacted_to, of->ended};
    EVERSHARD_TRY(parse_bytes(of->state, state.state));
    return state;
  }
};

}  // namespace evershard
