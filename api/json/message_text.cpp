#include "evershard/api/json/message_text.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

constexpr int message_depth_max = 100;
constexpr std::int64_t timestamp_seconds_min = -62'135'596'800;  // 0001-01-01
constexpr std::int64_t timestamp_seconds_max = 253'402'300'799;  // 9999-12-31T23:59:59
constexpr std::int64_t duration_seconds_max = 315'576'000'000;   // 10,000 years
constexpr std::int32_t nanos_max = 999'999'999;

Refused says_no_json(std::string why) { return refuse(ErrorCode::invalid_argument, std::move(why)); }

/// Protobuf's own messages that have a JSON of their own.
enum class OwnJson : std::uint8_t { none, any, timestamp, duration, field_mask, object, value, list, wrapper };

OwnJson own_json_of(const pb::Descriptor& type) {
  static constexpr std::pair<std::string_view, OwnJson> known[] = {{"Any", OwnJson::any},
                                                                   {"Timestamp", OwnJson::timestamp},
                                                                   {"Duration", OwnJson::duration},
                                                                   {"FieldMask", OwnJson::field_mask},
                                                                   {"Struct", OwnJson::object},
                                                                   {"Value", OwnJson::value},
                                                                   {"ListValue", OwnJson::list},
                                                                   {"DoubleValue", OwnJson::wrapper},
                                                                   {"FloatValue", OwnJson::wrapper},
                                                                   {"Int64Value", OwnJson::wrapper},
                                                                   {"UInt64Value", OwnJson::wrapper},
                                                                   {"Int32Value", OwnJson::wrapper},
                                                                   {"UInt32Value", OwnJson::wrapper},
                                                                   {"BoolValue", OwnJson::wrapper},
                                                                   {"StringValue", OwnJson::wrapper},
                                                                   {"BytesValue", OwnJson::wrapper}};
  constexpr std::string_view package = "google.protobuf.";
  const std::string_view name = type.full_name();
  if (!name.starts_with(package)) return OwnJson::none;
  const auto* found =
      std::ranges::find(known, name.substr(package.size()), &std::pair<std::string_view, OwnJson>::first);
  return found == std::end(known) ? OwnJson::none : found->second;
}

/// 3, 6 or 9 digits behind the point; nothing of 0.
std::string fraction(std::int32_t nanos) {
  if (nanos == 0) return {};
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), ".%09d", nanos);
  std::string all(text.data());
  while (all.ends_with("000")) all.resize(all.size() - 3);
  return all;
}

/// As a path of a field mask is written in JSON. Nothing: the path would come back as another one.
std::optional<std::string> camel_path(std::string_view path) {
  std::string camel;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if ((c >= 'A' && c <= 'Z') || c == ',') return std::nullopt;
    if (c != '_') {
      camel += c;
      continue;
    }
    if (i + 1 == path.size() || path[i + 1] < 'a' || path[i + 1] > 'z') return std::nullopt;
    camel += static_cast<char>(path[++i] - ('a' - 'A'));
  }
  return camel;
}

template <class Number>
std::string shortest(Number number) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  return {text.data(), end};
}

class MessagePrinter {
 public:
  MessagePrinter(const MessageTypes& types, LongNumbers longs)
      : types_(types), longs_(longs), exact_floats_(longs == LongNumbers::numbers) {}

  Result<void> message(const pb::Message& m, int depth) {
    if (depth == message_depth_max) return says_no_json("messages lie in each other too deep");
    const auto own = own_json_of(*m.GetDescriptor());
    if (own != OwnJson::none && has_own_shape(own, *m.GetDescriptor())) return own_json(own, m, depth);
    out_.begin_object();
    EVERSHARD_TRY(fields(m, depth));
    out_.end_object();
    return {};
  }
  MessageText take() { return {out_.take(), unknown_fields_}; }

 private:
  Result<void> fields(const pb::Message& m, int depth) {
    const auto& type = *m.GetDescriptor();
    const auto& reflection = *m.GetReflection();
    unknown_fields_ = unknown_fields_ || !reflection.GetUnknownFields(m).empty();
    std::vector<const Field*> all;
    for (int i = 0; i < type.field_count(); ++i) all.push_back(type.field(i));
    std::ranges::sort(all, {}, [](const Field* field) { return field->number(); });
    for (const auto* field : all) {
      if (field->has_presence() && !reflection.HasField(m, field)) continue;
      out_.key(field->name());
      EVERSHARD_TRY(values(m, *field, depth));
    }
    std::vector<const Field*> present;
    reflection.ListFields(m, &present);
    for (const auto* field : present) {
      if (!field->is_extension()) continue;
      out_.key('[' + field->full_name() + ']');
      EVERSHARD_TRY(values(m, *field, depth));
    }
    return {};
  }

  Result<void> values(const pb::Message& m, const Field& field, int depth) {
    if (field.is_map()) return entries(m, field, depth);
    if (!field.is_repeated()) return value(m, field, -1, depth);
    out_.begin_array();
    const int count = m.GetReflection()->FieldSize(m, &field);
    for (int i = 0; i < count; ++i) EVERSHARD_TRY(value(m, field, i, depth));
    out_.end_array();
    return {};
  }

  /// In order of key, so that the same payload is the same text.
  Result<void> entries(const pb::Message& m, const Field& field, int depth) {
    const auto& reflection = *m.GetReflection();
    const auto& key = *field.message_type()->map_key();
    const auto& value_field = *field.message_type()->map_value();
    std::vector<std::pair<std::string, const pb::Message*>> all;
    const int count = reflection.FieldSize(m, &field);
    for (int i = 0; i < count; ++i) {
      const auto& entry = reflection.GetRepeatedMessage(m, &field, i);
      all.emplace_back(key_text(entry, key), &entry);
    }
    const bool numbers = key.cpp_type() != Field::CPPTYPE_STRING && key.cpp_type() != Field::CPPTYPE_BOOL;
    std::ranges::sort(all, [numbers](const auto& a, const auto& b) {
      if (!numbers) return a.first < b.first;
      const bool a_below = a.first.starts_with('-');
      const bool b_below = b.first.starts_with('-');
      if (a_below != b_below) return a_below;
      const auto of_size =
          std::pair(a.first.size(), std::string_view(a.first)) < std::pair(b.first.size(), std::string_view(b.first));
      return a_below ? !of_size && a.first != b.first : of_size;
    });
    out_.begin_object();
    for (const auto& [text, entry] : all) {
      if (!is_utf8(text)) return says_no_json("a string in them is not UTF-8");
      out_.key(text);
      EVERSHARD_TRY(value(*entry, value_field, -1, depth));
    }
    out_.end_object();
    return {};
  }

  static std::string key_text(const pb::Message& entry, const Field& key) {
    const auto& reflection = *entry.GetReflection();
    switch (key.cpp_type()) {
      case Field::CPPTYPE_INT32:
        return std::to_string(reflection.GetInt32(entry, &key));
      case Field::CPPTYPE_INT64:
        return std::to_string(reflection.GetInt64(entry, &key));
      case Field::CPPTYPE_UINT32:
        return std::to_string(reflection.GetUInt32(entry, &key));
      case Field::CPPTYPE_UINT64:
        return std::to_string(reflection.GetUInt64(entry, &key));
      case Field::CPPTYPE_BOOL:
        return reflection.GetBool(entry, &key) ? "true" : "false";
      default:
        return reflection.GetString(entry, &key);
    }
  }

  /// `at`: of a repeated field; -1: the only one.
  Result<void> value(const pb::Message& m, const Field& field, int at, int depth) {
    const auto& r = *m.GetReflection();
    const bool one = at < 0;
    switch (field.cpp_type()) {
      case Field::CPPTYPE_INT32:
        out_.raw(std::to_string(one ? r.GetInt32(m, &field) : r.GetRepeatedInt32(m, &field, at)));
        return {};
      case Field::CPPTYPE_UINT32:
        out_.raw(std::to_string(one ? r.GetUInt32(m, &field) : r.GetRepeatedUInt32(m, &field, at)));
        return {};
      case Field::CPPTYPE_INT64:
        long_number(std::to_string(one ? r.GetInt64(m, &field) : r.GetRepeatedInt64(m, &field, at)));
        return {};
      case Field::CPPTYPE_UINT64:
        long_number(std::to_string(one ? r.GetUInt64(m, &field) : r.GetRepeatedUInt64(m, &field, at)));
        return {};
      case Field::CPPTYPE_DOUBLE:
        floating(one ? r.GetDouble(m, &field) : r.GetRepeatedDouble(m, &field, at));
        return {};
      case Field::CPPTYPE_FLOAT:
        part_number(one ? r.GetFloat(m, &field) : r.GetRepeatedFloat(m, &field, at));
        return {};
      case Field::CPPTYPE_BOOL:
        out_.boolean(one ? r.GetBool(m, &field) : r.GetRepeatedBool(m, &field, at));
        return {};
      case Field::CPPTYPE_ENUM:
        enumerator(*field.enum_type(), one ? r.GetEnumValue(m, &field) : r.GetRepeatedEnumValue(m, &field, at));
        return {};
      case Field::CPPTYPE_STRING:
        return text(field, one ? r.GetString(m, &field) : r.GetRepeatedString(m, &field, at));
      case Field::CPPTYPE_MESSAGE:
        return message(one ? r.GetMessage(m, &field) : r.GetRepeatedMessage(m, &field, at), depth + 1);
    }
    return {};
  }

  void long_number(const std::string& digits) {
    if (longs_ == LongNumbers::numbers)
      out_.raw(digits);
    else
      out_.string(digits);
  }
  /// The shortest text of a float is another number when it is read as a double: 0.1 is not the float's value.
  void part_number(float number) {
    if (exact_floats_)
      floating(static_cast<double>(number));
    else
      floating(number);
  }
  template <class Number>
  void floating(Number number) {
    if (std::isnan(number))
      out_.string("NaN");
    else if (std::isinf(number))
      out_.string(number < 0 ? "-Infinity" : "Infinity");
    else
      out_.raw(shortest(number));
  }
  void enumerator(const pb::EnumDescriptor& type, int number) {
    const auto* named = type.FindValueByNumber(number);
    if (type.full_name() == "google.protobuf.NullValue")
      out_.raw("null");
    else if (named != nullptr)
      out_.string(named->name());
    else
      out_.raw(std::to_string(number));
  }
  Result<void> text(const Field& field, const std::string& bytes) {
    if (field.type() == Field::TYPE_BYTES) {
      out_.string(to_base64(bytes));
      return {};
    }
    if (!is_utf8(bytes)) return says_no_json("a string in them is not UTF-8");
    out_.string(bytes);
    return {};
  }

  /// A registered file may define a message of such a name with other fields: then it is a message like any other.
  static bool has_own_shape(OwnJson own, const pb::Descriptor& type) {
    const auto has = [&type](int number, Field::CppType kind, bool repeated) {
      const auto* field = type.FindFieldByNumber(number);
      return field != nullptr && field->cpp_type() == kind && field->is_repeated() == repeated;
    };
    switch (own) {
      case OwnJson::none:
        return false;
      case OwnJson::any:
        return has(1, Field::CPPTYPE_STRING, false) && has(2, Field::CPPTYPE_STRING, false) &&
               type.FindFieldByNumber(2)->type() == Field::TYPE_BYTES;
      case OwnJson::timestamp:
      case OwnJson::duration:
        return has(1, Field::CPPTYPE_INT64, false) && has(2, Field::CPPTYPE_INT32, false);
      case OwnJson::field_mask:
        return has(1, Field::CPPTYPE_STRING, true);
      case OwnJson::object:
        return has(1, Field::CPPTYPE_MESSAGE, true) && type.FindFieldByNumber(1)->is_map();
      case OwnJson::value:
        return type.real_oneof_decl_count() == 1 && type.oneof_decl(0)->field_count() == type.field_count();
      case OwnJson::list:
        return has(1, Field::CPPTYPE_MESSAGE, true) && !type.FindFieldByNumber(1)->is_map();
      case OwnJson::wrapper:
        return type.field_count() == 1 && type.FindFieldByNumber(1) != nullptr &&
               !type.FindFieldByNumber(1)->is_repeated();
    }
    return false;
  }

  Result<void> own_json(OwnJson own, const pb::Message& m, int depth) {
    const auto& type = *m.GetDescriptor();
    const auto& reflection = *m.GetReflection();
    const auto* first = type.FindFieldByNumber(1);
    unknown_fields_ = unknown_fields_ || !reflection.GetUnknownFields(m).empty();
    switch (own) {
      case OwnJson::any:
        return any(m, depth);
      case OwnJson::timestamp:
        return timestamp(reflection.GetInt64(m, first), reflection.GetInt32(m, type.FindFieldByNumber(2)));
      case OwnJson::duration:
        return duration(reflection.GetInt64(m, first), reflection.GetInt32(m, type.FindFieldByNumber(2)));
      case OwnJson::field_mask:
        return field_mask(m, *first);
      case OwnJson::object:
      case OwnJson::list:
        return values(m, *first, depth);
      case OwnJson::value: {
        const auto* set = reflection.GetOneofFieldDescriptor(m, type.oneof_decl(0));
        if (set == nullptr) {
          out_.raw("null");
          return {};
        }
        if (set->cpp_type() == Field::CPPTYPE_DOUBLE && !std::isfinite(reflection.GetDouble(m, set)))
          return says_no_json("a google.protobuf.Value is no number of JSON");
        return value(m, *set, -1, depth);
      }
      case OwnJson::wrapper:
        return value(m, *first, -1, depth);
      case OwnJson::none:
        break;
    }
    return {};
  }

  Result<void> timestamp(std::int64_t seconds, std::int32_t nanos) {
    if (seconds < timestamp_seconds_min || seconds > timestamp_seconds_max || nanos < 0 || nanos > nanos_max)
      return says_no_json("a google.protobuf.Timestamp is out of its range");
    using namespace std::chrono;
    const sys_seconds moment{std::chrono::seconds(seconds)};
    const auto day = floor<days>(moment);
    const year_month_day date(day);
    const hh_mm_ss time(moment - day);
    std::array<char, 64> shown{};
    std::snprintf(shown.data(), shown.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()));
    out_.string(shown.data() + fraction(nanos) + 'Z');
    return {};
  }

  Result<void> duration(std::int64_t seconds, std::int32_t nanos) {
    const bool apart = (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0);
    if (seconds < -duration_seconds_max || seconds > duration_seconds_max || nanos < -nanos_max || nanos > nanos_max ||
        apart)
      return says_no_json("a google.protobuf.Duration is out of its range");
    const bool below = seconds < 0 || nanos < 0;
    out_.string((below ? "-" : "") + std::to_string(std::abs(seconds)) + fraction(std::abs(nanos)) + 's');
    return {};
  }

  Result<void> field_mask(const pb::Message& m, const Field& paths) {
    const auto& reflection = *m.GetReflection();
    std::string all;
    for (int i = 0; i < reflection.FieldSize(m, &paths); ++i) {
      const auto path = reflection.GetRepeatedString(m, &paths, i);
      if (!is_utf8(path)) return says_no_json("a string in them is not UTF-8");
      const auto camel = camel_path(path);
      if (!camel)
        return says_no_json("the path " + in_quotes(path, 300) + " of a field mask would come back as another");
      all += (i == 0 ? "" : ",") + *camel;
    }
    out_.string(all);
    return {};
  }

  Result<void> any(const pb::Message& m, int depth) {
    const auto& reflection = *m.GetReflection();
    const auto url = reflection.GetString(m, m.GetDescriptor()->FindFieldByNumber(1));
    const auto bytes = reflection.GetString(m, m.GetDescriptor()->FindFieldByNumber(2));
    out_.begin_object();
    if (!url.empty() || !bytes.empty()) {
      if (!is_utf8(url)) return says_no_json("a string in them is not UTF-8");
      const auto name = url.substr(url.rfind('/') + 1);
      const auto* type = types_.pool.FindMessageTypeByName(name);
      if (type == nullptr)
        return says_no_json("a google.protobuf.Any holds a " + in_quotes(name, 300) + ", which is not registered");
      const std::unique_ptr<pb::Message> inside(types_.factory.GetPrototype(type)->New());
      if (!parse_message(bytes, types_, *inside) || !inside->IsInitialized())
        return says_no_json("what a google.protobuf.Any holds is no " + name);
      out_.key("@type").string(url);
      const auto longs = std::exchange(longs_, LongNumbers::strings);
      const auto own = own_json_of(*type);
      if (own != OwnJson::none && has_own_shape(own, *type)) {
        out_.key("value");
        EVERSHARD_TRY(message(*inside, depth + 1));
      } else if (depth + 1 == message_depth_max) {
        return says_no_json("messages lie in each other too deep");
      } else {
        EVERSHARD_TRY(fields(*inside, depth + 1));
      }
      longs_ = longs;
    }
    out_.end_object();
    return {};
  }

  const MessageTypes& types_;
  LongNumbers longs_;
  const bool exact_floats_;
  JsonText out_;
  bool unknown_fields_ = false;
};

}  // namespace

bool parse_message(std::string_view bytes, const MessageTypes& types, pb::Message& to) {
  if (bytes.size() > INT_MAX) return false;
  pb::io::CodedInputStream coded(reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
  coded.SetExtensionRegistry(&types.pool, &types.factory);
  to.Clear();
  return to.MergePartialFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

Result<MessageText> text_of_message(const pb::Message& message, const MessageTypes& types, LongNumbers longs) {
  MessagePrinter printer(types, longs);
  EVERSHARD_TRY(printer.message(message, 0));
  return printer.take();
}

}  // namespace evershard
