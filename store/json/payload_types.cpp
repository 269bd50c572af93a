#include "evershard/store/json/payload_types.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/type_resolver.h>
#include <google/protobuf/util/type_resolver_util.h>

#include <algorithm>
#include <climits>
#include <map>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/store/json/event_json.hpp"

namespace evershard {
namespace {

namespace pb = google::protobuf;

constexpr const char* url_prefix = "type.googleapis.com";

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

/// Looks through a message for what its JSON would not tell: fields nobody knows, and strings that are not UTF-8, which
/// Protobuf's JSON leaves empty.
class Look {
 public:
  Look(const pb::DescriptorPool& pool, pb::DynamicMessageFactory& factory) : pool_(pool), factory_(factory) {}

  void at(const pb::Message& message, int depth = 0) {
    if (depth == depth_max) too_deep = true;
    if (too_deep) return;
    const auto& reflection = *message.GetReflection();
    if (!reflection.GetUnknownFields(message).empty()) unknown_fields = true;
    std::vector<const pb::FieldDescriptor*> present;
    reflection.ListFields(message, &present);
    for (const auto* field : present) {
      const int values = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
      for (int i = 0; i < values; ++i) {
        if (field->type() == pb::FieldDescriptor::TYPE_STRING) {
          const auto text = field->is_repeated() ? reflection.GetRepeatedString(message, field, i)
                                                 : reflection.GetString(message, field);
          not_utf8 = not_utf8 || !is_utf8(text);
        } else if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_MESSAGE) {
          at(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                  : reflection.GetMessage(message, field),
             depth + 1);
        }
      }
    }
    if (message.GetDescriptor()->full_name() == "google.protobuf.Any") into_any(message, depth);
  }

  bool unknown_fields = false;
  bool not_utf8 = false;
  bool too_deep = false;

 private:
  static constexpr int depth_max = 100;

  /// The message inside, where it is known; where it is not, the JSON says so.
  void into_any(const pb::Message& any, int depth) {
    const auto* url = any.GetDescriptor()->FindFieldByNumber(1);
    const auto* value = any.GetDescriptor()->FindFieldByNumber(2);
    if (url == nullptr || value == nullptr || url->type() != pb::FieldDescriptor::TYPE_STRING ||
        value->type() != pb::FieldDescriptor::TYPE_BYTES || url->is_repeated() || value->is_repeated()) {
      return;
    }
    const std::string name = any.GetReflection()->GetString(any, url);
    const auto* type = pool_.FindMessageTypeByName(name.substr(name.rfind('/') + 1));
    if (type == nullptr) return;
    const std::unique_ptr<pb::Message> inside(factory_.GetPrototype(type)->New());
    if (inside->ParsePartialFromString(any.GetReflection()->GetString(any, value))) at(*inside, depth + 1);
  }

  const pb::DescriptorPool& pool_;
  pb::DynamicMessageFactory& factory_;
};

/// Puts numbers in the place of the strings that Protobuf's JSON makes of whole numbers of 64 bits.
class LongsAsNumbers {
 public:
  using Json = nlohmann::ordered_json;

  /// `json`: of a message of this type.
  void in_message(Json& json, const pb::Descriptor& type) {
    if (type.full_name() == "google.protobuf.Int64Value" || type.full_name() == "google.protobuf.UInt64Value")
      return number(json);
    if (type.full_name().starts_with("google.protobuf.") || !json.is_object())
      return;  // those have a JSON of their own
    for (int i = 0; i < type.field_count(); ++i) {
      const auto& field = *type.field(i);
      const auto at = json.find(field.name());
      if (at == json.end()) continue;
      const auto& value = field.is_map() ? *field.message_type()->map_value() : field;
      if (field.is_repeated()) {
        for (auto& one : *at) in_value(one, value);
      } else {
        in_value(*at, value);
      }
    }
  }

 private:
  void in_value(Json& json, const pb::FieldDescriptor& field) {
    const auto type = field.cpp_type();
    if (type == pb::FieldDescriptor::CPPTYPE_INT64 || type == pb::FieldDescriptor::CPPTYPE_UINT64) number(json);
    if (type == pb::FieldDescriptor::CPPTYPE_MESSAGE) in_message(json, *field.message_type());
  }
  static void number(Json& json) {
    if (const auto* text = json.get_ptr<const std::string*>()) json = Json::parse(*text, nullptr, false);
  }
};

/// Maps in order of key: the same payload is the same text.
std::string in_fixed_order(const pb::Message& message) {
  std::string bytes;
  {
    pb::io::StringOutputStream stream(&bytes);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializePartialToCodedStream(&coded);
  }
  return bytes;
}

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
  explicit Impl(RegisteredTypes registered) : types(std::move(registered)), factory(&pool) {
    resolver.reset(pb::util::NewTypeResolverForDescriptorPool(url_prefix, &pool));
  }

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
  std::unique_ptr<pb::util::TypeResolver> resolver;
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

  const std::unique_ptr<pb::Message> message(impl_->factory.GetPrototype(type)->New());
  if (payload.size() > INT_MAX || !message->ParsePartialFromArray(payload.data(), static_cast<int>(payload.size())))
    return not_of_it("");
  if (!message->IsInitialized())
    return not_of_it("required fields are missing: " + message->InitializationErrorString());
  Look look(impl_->pool, impl_->factory);
  look.at(*message);
  if (look.too_deep) return not_of_it("messages lie in each other too deep");
  if (look.not_utf8) return not_of_it("a string in them is not UTF-8");

  pb::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;  // 0 is a value that a person looks for
  options.preserve_proto_field_names = true;
  ShownMessage shown{name, {}, look.unknown_fields};
  const auto done = pb::util::BinaryToJsonString(impl_->resolver.get(), std::string(url_prefix) + '/' + name,
                                                 in_fixed_order(*message), &shown.json, options);
  if (!done.ok()) return not_of_it(done.message().ToString());
  if (longs == LongNumbers::numbers) {
    auto json = nlohmann::ordered_json::parse(shown.json, nullptr, false);
    LongsAsNumbers().in_message(json, *type);
    shown.json = json.dump();
  }
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
