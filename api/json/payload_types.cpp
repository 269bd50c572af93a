#include "evershard/api/json/payload_types.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <map>
#include <memory>

#include "evershard/api/json/event_json.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

namespace pb = google::protobuf;

/// The first complaint: what follows is mostly its consequence.
class FirstError final : public pb::DescriptorPool::ErrorCollector {
 public:
  void AddError(const std::string& file, const std::string& element, const pb::Message*, ErrorLocation location,
                const std::string& message) override {
    if (!text_.empty()) return;
    text_ = in_quotes(file, 300) + ": ";
    if (location != IMPORT && !element.empty() && element != file) text_ += in_quotes(element) + ": ";
    text_ += message;
    missing_import_ = location == IMPORT;
  }
  [[nodiscard]] std::string text() const {
    return text_ + (missing_import_ ? "; `protoc --include_imports` puts imports into the set" : "");
  }

 private:
  std::string text_;
  bool missing_import_ = false;
};

/// Builds every file behind those it imports.
class PoolBuilder {
 public:
  PoolBuilder(pb::DescriptorPool& pool, const RegisteredTypes& types) : pool_(pool), types_(types) {}

  Result<void> build_all() {
    for (const auto& [name, bytes] : types_.files) EVERSHARD_TRY(build(name, bytes));
    return {};
  }

 private:
  Result<void> build(const std::string& name, const std::string& bytes) {
    const auto [at, first] = built_.try_emplace(name, false);
    if (!first && !at->second) return refuse(ErrorCode::invalid_argument, in_quotes(name, 300) + " imports itself");
    if (!first) return {};
    pb::FileDescriptorProto file;
    if (!file.ParseFromString(bytes) || file.name() != name)
      return refuse(ErrorCode::invalid_argument, in_quotes(name, 300) + " is no file of a descriptor set");
    if (file.syntax() != "" && file.syntax() != "proto2" && file.syntax() != "proto3")
      return refuse(ErrorCode::invalid_argument, in_quotes(name, 300) + " is of the syntax " +
                                                     in_quotes(file.syntax()) +
                                                     ": files of proto2 and proto3 can be read here");
    for (const auto& import : file.dependency()) {
      if (const auto found = types_.files.find(import); found != types_.files.end())
        EVERSHARD_TRY(build(found->first, found->second));
    }
    FirstError error;
    if (pool_.BuildFileCollectingErrors(file, &error) == nullptr)
      return refuse(ErrorCode::invalid_argument, error.text());
    at->second = true;
    return {};
  }

  pb::DescriptorPool& pool_;
  const RegisteredTypes& types_;
  std::map<std::string, bool> built_;  ///< false: begun
};

std::string type_of(const pb::FieldDescriptor& field) {
  if (field.is_map())
    return "map<" + type_of(*field.message_type()->map_key()) + ", " + type_of(*field.message_type()->map_value()) +
           '>';
  const std::string one = field.message_type() != nullptr ? field.message_type()->full_name()
                          : field.enum_type() != nullptr  ? field.enum_type()->full_name()
                                                          : std::string(field.type_name());
  return (field.is_repeated() ? "repeated " : "") + one;
}

void add_messages(const pb::Descriptor& message, std::vector<MessageInfo>& to) {
  if (message.options().map_entry()) return;
  MessageInfo info{message.full_name(), message.file()->name(), {}};
  for (int i = 0; i < message.field_count(); ++i)
    info.fields.emplace_back(message.field(i)->name(), type_of(*message.field(i)));
  to.push_back(std::move(info));
  for (int i = 0; i < message.nested_type_count(); ++i) add_messages(*message.nested_type(i), to);
}

}  // namespace

struct PayloadTypes::Impl {
  explicit Impl(RegisteredTypes registered) : types(std::move(registered)), factory(&pool) {}

  Result<void> check_names() const {
    for (const auto* names : {&types.aliases, &types.states}) {
      for (const auto& [name, message] : *names) {
        if (pool.FindMessageTypeByName(message) != nullptr) continue;
        return refuse(ErrorCode::not_found, "no message " + in_quotes(message, 300) + " is registered, for which " +
                                                in_quotes(name, 300) + " stands");
      }
    }
    return {};
  }

  RegisteredTypes types;
  pb::DescriptorPool pool;
  mutable pb::DynamicMessageFactory factory;  // remembers the messages it has made
};

PayloadTypes::PayloadTypes() = default;
PayloadTypes::PayloadTypes(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PayloadTypes::PayloadTypes(PayloadTypes&&) noexcept = default;
PayloadTypes& PayloadTypes::operator=(PayloadTypes&&) noexcept = default;
PayloadTypes::~PayloadTypes() = default;

Result<PayloadTypes> PayloadTypes::of(const RegisteredTypes& types) {
  if (types.empty()) return PayloadTypes();
  const pb::LogSilencer silent;
  auto impl = std::make_unique<Impl>(types);
  EVERSHARD_TRY(PoolBuilder(impl->pool, impl->types).build_all());
  EVERSHARD_TRY(impl->check_names());
  return PayloadTypes(std::move(impl));
}

void PayloadTypes::put_own(std::string aggregate_type, PayloadTypes own) {
  own_.insert_or_assign(std::move(aggregate_type), std::move(own));
}

const PayloadTypes& PayloadTypes::of_event(std::string_view aggregate_type, std::string_view event_type) const {
  const auto own = own_.find(aggregate_type);
  const bool named = own != own_.end() && own->second.impl_ != nullptr &&
                     own->second.impl_->types.aliases.contains(std::string(event_type));
  return named ? own->second : *this;
}

const PayloadTypes& PayloadTypes::of_state(std::string_view aggregate_type) const {
  const auto own = own_.find(aggregate_type);
  return own != own_.end() && own->second.message_of_state(aggregate_type) ? own->second : *this;
}

std::string PayloadTypes::message_of_event(std::string_view event_type) const {
  std::string name(event_type);
  if (impl_ == nullptr) return name;
  const auto at = impl_->types.aliases.find(name);
  return at == impl_->types.aliases.end() ? name : at->second;
}

std::optional<std::string> PayloadTypes::message_of_state(std::string_view aggregate_type) const {
  if (impl_ == nullptr) return std::nullopt;
  const auto at = impl_->types.states.find(std::string(aggregate_type));
  if (at == impl_->types.states.end()) return std::nullopt;
  return at->second;
}

Result<ShownMessage> PayloadTypes::read(const std::string& name, std::string_view payload, LongNumbers longs) const {
  const auto* type = impl_ == nullptr ? nullptr : impl_->pool.FindMessageTypeByName(name);
  if (type == nullptr) return refuse(ErrorCode::not_found, "no message " + in_quotes(name, 300) + " is registered");
  const pb::LogSilencer silent;
  const auto not_of_it = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument,
                  "the " + std::to_string(payload.size()) + " bytes are no " + name + (why.empty() ? "" : ": " + why));
  };

  const MessageTypes types{impl_->pool, impl_->factory};
  const std::unique_ptr<pb::Message> message(impl_->factory.GetPrototype(type)->New());
  if (!parse_message(payload, types, *message)) return not_of_it("");
  if (!message->IsInitialized())
    return not_of_it("required fields are missing: " + message->InitializationErrorString());
  auto text = text_of_message(*message, types, longs);
  if (!text) return not_of_it(text.error().what);
  ShownMessage shown{name, std::move(text->json), text->unknown_fields};
  if (!stands_in_a_line(shown.json)) return not_of_it("what they say is no JSON");
  return shown;
}

std::vector<MessageInfo> PayloadTypes::messages() const {
  std::vector<MessageInfo> all;
  if (impl_ == nullptr) return all;
  for (const auto& [name, bytes] : impl_->types.files) {
    if (name.starts_with("google/protobuf/")) continue;
    const auto* file = impl_->pool.FindFileByName(name);
    for (int i = 0; i < file->message_type_count(); ++i) add_messages(*file->message_type(i), all);
  }
  std::ranges::sort(all, {}, &MessageInfo::name);
  return all;
}

}  // namespace evershard
