// Messages: values <-> generated Protobuf messages. Seen by the codec, the server and the client, by nobody else: a
// user's code and every layer below the doors know values and bytes only.

#pragma once

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"
#include "evershard/v1/event.pb.h"
#include "evershard/v1/store.pb.h"

namespace evershard::messages {

namespace pb = evershard::v1;

/// Of values that were checked, see codec.hpp; `to` is a new message.
void put(const AggregateId& from, pb::AggregateId& to);
void put(const EventId& from, std::string& to);
void put(const Event& from, pb::Event& to);
void put(const RecordedEvent& from, pb::RecordedEvent& to);
void put(const Query& from, pb::Query& to);
void put(const Snapshot& from, pb::Snapshot& to);
void put(const RecordedSnapshot& from, pb::RecordedSnapshot& to);
void put(const Append& from, pb::AppendRequest& to);
void put_without_events(const Append& from, pb::AppendRequest& to);
void put(const Appended& from, pb::AppendResponse& to);
void put(const Error& from, pb::Error& to);
void put(const ReadOptions& from, pb::ReadOptions& to);
void put(const StreamOptions& from, pb::StreamOptions& to);
void put(const Page& from, pb::Page& to);

/// Strings are moved out of the message. `to` is a new value.
///
/// Errors: invalid_argument, naming the field, see codec::decode
[[nodiscard]] Result<void> get(pb::Event& from, Event& to);
[[nodiscard]] Result<void> get(pb::RecordedEvent& from, RecordedEvent& to);
[[nodiscard]] Result<void> get(pb::Query& from, Query& to);
[[nodiscard]] Result<void> get(const pb::ExpectedVersion& from, ExpectedVersion& to);
[[nodiscard]] Result<void> get(pb::Snapshot& from, Snapshot& to);
[[nodiscard]] Result<void> get(pb::RecordedSnapshot& from, RecordedSnapshot& to);
[[nodiscard]] Result<void> get(pb::Expectation& from, Expectation& to);
[[nodiscard]] Result<void> get(pb::AppendCondition& from, AppendCondition& to);
[[nodiscard]] Result<void> get(pb::CommandRecord& from, CommandRecord& to);
[[nodiscard]] Result<void> get(pb::AggregateVersion& from, AggregateVersion& to);
[[nodiscard]] Result<void> get(pb::AppendRequest& from, Append& to);
[[nodiscard]] Result<void> get(pb::AppendResponse& from, Appended& to);
[[nodiscard]] Result<void> get(pb::Error& from, Error& to);
[[nodiscard]] Result<void> get(pb::ReadOptions& from, ReadOptions& to);
[[nodiscard]] Result<void> get(pb::StreamOptions& from, StreamOptions& to);
[[nodiscard]] Result<void> get(pb::Page& from, Page& to);

}  // namespace evershard::messages
