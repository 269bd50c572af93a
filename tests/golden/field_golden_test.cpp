// The numbers and types of every field and value of protocol/v1, and of what persistent subscriptions keep, and nodes
// say of them (tests/golden/fields.txt): a test here that fails means that what is sent is not what a neighbouring
// release reads. What calls to homes carry is held by this alone.
//
// A line never changes once it is released; EVERSHARD_GOLDEN_WRITE=1 adds those that are missing.

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "evershard/kurrent/persistent.pb.h"
#include "evershard/kurrent/persistent_homes.pb.h"
#include "evershard/v1/aggregates.pb.h"
#include "evershard/v1/asks.pb.h"
#include "evershard/v1/cluster.pb.h"
#include "evershard/v1/documents.pb.h"
#include "evershard/v1/event.pb.h"
#include "evershard/v1/group_homes.pb.h"
#include "evershard/v1/groups.pb.h"
#include "evershard/v1/homes.pb.h"
#include "evershard/v1/keys.pb.h"
#include "evershard/v1/process_service.pb.h"
#include "evershard/v1/processes.pb.h"
#include "evershard/v1/projections.pb.h"
#include "evershard/v1/retention.pb.h"
#include "evershard/v1/retention_homes.pb.h"
#include "evershard/v1/scheduled.pb.h"
#include "evershard/v1/service.pb.h"
#include "evershard/v1/store.pb.h"
#include "evershard/v1/tables.pb.h"
#include "evershard/v1/timers.pb.h"

namespace evershard {
namespace {

namespace pbuf = google::protobuf;

const std::string golden_fields = EVERSHARD_GOLDEN_FIELDS;

void add_values(const pbuf::EnumDescriptor& type, std::set<std::string>& lines) {
  for (int i = 0; i != type.value_count(); ++i)
    lines.insert(type.full_name() + "." + type.value(i)->name() + " = " + std::to_string(type.value(i)->number()));
}

void add_fields(const pbuf::Descriptor& type, std::set<std::string>& lines) {
  for (int i = 0; i != type.field_count(); ++i) {
    const auto& field = *type.field(i);
    std::string kind = field.type_name();
    if (field.message_type() != nullptr) kind = field.message_type()->full_name();
    if (field.enum_type() != nullptr) kind = field.enum_type()->full_name();
    lines.insert(field.full_name() + " = " + std::to_string(field.number()) +
                 (field.is_repeated() ? " repeated " : " ") + kind);
  }
  for (int i = 0; i != type.nested_type_count(); ++i) add_fields(*type.nested_type(i), lines);
  for (int i = 0; i != type.enum_type_count(); ++i) add_values(*type.enum_type(i), lines);
}

std::set<std::string> known_lines() {
  std::set<std::string> lines;
  for (const auto* file : {v1::AggregateAsked::descriptor()->file(),
                           v1::Hello::descriptor()->file(),
                           v1::Document::descriptor()->file(),
                           v1::Event::descriptor()->file(),
                           v1::GroupWorkAsked::descriptor()->file(),
                           v1::WorkRequest::descriptor()->file(),
                           v1::HomeAsked::descriptor()->file(),
                           v1::KeysAsked::descriptor()->file(),
                           v1::ProjectionInfo::descriptor()->file(),
                           v1::RetentionOrder::descriptor()->file(),
                           v1::BeginRetention::descriptor()->file(),
                           v1::StatsResponse::descriptor()->file(),
                           v1::AppendRequest::descriptor()->file(),
                           v1::SelectRequest::descriptor()->file(),
                           v1::ProcessReacted::descriptor()->file(),
                           v1::ProcessInfo::descriptor()->file(),
                           v1::ScheduledAppend::descriptor()->file(),
                           v1::TimersChanged::descriptor()->file(),
                           v1::AskRequest::descriptor()->file(),
                           kurrent::homes::Reply::descriptor()->file(),
                           ::event_store::client::persistent_subscriptions::KeptProgress::descriptor()->file()}) {
    for (int i = 0; i != file->message_type_count(); ++i) add_fields(*file->message_type(i), lines);
    for (int i = 0; i != file->enum_type_count(); ++i) add_values(*file->enum_type(i), lines);
  }
  return lines;
}

std::set<std::string> golden_lines() {
  std::set<std::string> lines;
  std::ifstream in(golden_fields);
  for (std::string line; std::getline(in, line);) lines.insert(line);
  return lines;
}

TEST(FieldGolden, HasEveryFieldAsItWasReleased) {
  const auto known = known_lines();
  for (const auto& line : golden_lines())
    EXPECT_TRUE(known.contains(line)) << line
                                      << "\nis not so any more: what is sent is read wrongly by the release before";
}

TEST(FieldGolden, HasEveryFieldThatThereIs) {
  auto lines = golden_lines();
  const auto known = known_lines();
  if (std::getenv("EVERSHARD_GOLDEN_WRITE") != nullptr) {
    lines.insert(known.begin(), known.end());
    std::ofstream out(golden_fields);
    for (const auto& line : lines) out << line << '\n';
  }
  for (const auto& line : known)
    EXPECT_TRUE(lines.contains(line)) << line << "\nis new: EVERSHARD_GOLDEN_WRITE=1 adds it";
}

}  // namespace
}  // namespace evershard
