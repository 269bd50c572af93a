// A table's definition as JSON: what is read, what is refused and how it is said, the one form it is written in.

#include "evershard/services/tables/host/table_definition_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/api/json/table_json.hpp"

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

const std::string orders_json =
    R"({"fields":[{"name":"order","type":"text","role":"key"},{"name":"customer","type":"text","role":"index","nullable":true},{"name":"total","type":"integer","nullable":true}],)"
    R"("on_violation":"park","rules":[)"
    R"({"types":["OrderPlaced"],"tags":["eu"],"action":"upsert","key":"aggregate","fields":{"total":"$.sum['in total']","customer":"tag:customer"}},)"
    R"({"types":["OrderPaid"],"action":"increment","key":{"order":"metadata:$.order"},"fields":{"total":{"constant":-1}}},)"
    R"({"types":["OrderCancelled"],"action":"delete","key":"aggregate.value"}]})";

TEST(TableDefinitionJson, HasOneForm) {
  const auto read = read_table_definition(orders_json, "orders");
  ASSERT_TRUE(read) << read.error().what;
  const std::string written = table_definition_json(*read);

  EXPECT_EQ(
      written,
      R"({"table":"orders","fields":[{"name":"order","type":"text","role":"key","nullable":false},{"name":"customer","type":"text","role":"index","nullable":true},)"
      R"({"name":"total","type":"integer","role":"normal","nullable":true}],"on_violation":"park","on_error":"fail","rules":[)"
      R"({"types":["OrderPlaced"],"tags":["eu"],"action":"upsert","key":{"order":"aggregate"},"fields":{"customer":"tag:customer","total":"$.sum['in total']"}},)"
      R"({"types":["OrderPaid"],"tags":[],"action":"increment","key":{"order":"metadata:$.order"},"fields":{"total":{"constant":-1}}},)"
      R"({"types":["OrderCancelled"],"tags":[],"action":"delete","key":{"order":"aggregate.value"},"fields":{}}]})");
  EXPECT_EQ(table_definition_json(read_table_definition(written, "other").value()), written);
  EXPECT_EQ(read_table_definition(written, "other").value(), *read);

  const auto handled = read_table_definition(
      R"({"fields":[{"name":"k","type":"text","role":"key"}],"handler":{"name":"h","revision":7,"query":{"items":[{"types":["A"]}]}}})",
      "t");
  ASSERT_TRUE(handled) << handled.error().what;
  EXPECT_EQ(read_table_definition(table_definition_json(*handled), "x").value(), *handled);
}

TEST(TableDefinitionJson, NamesWhatIsWrongAndWhatWasProbablyMeant) {
  const auto fault = [](std::string from, const std::string& to) {
    std::string json = orders_json;
    const auto at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    const auto read = read_table_definition(json, "orders");
    return read ? "nothing is wrong" : read.error().what;
  };
  EXPECT_THAT(fault("\"rules\"", "\"rule\""), HasSubstr("unknown key \"rule\"; did you mean rules?"));
  EXPECT_THAT(fault("\"integer\"", "\"integr\""),
              HasSubstr("fields[2].type: unknown type \"integr\"; did you mean integer?"));
  EXPECT_THAT(fault("\"key\"}", "\"primary\"}"),
              HasSubstr("unknown role \"primary\"; known are normal, key, index, unique"));
  EXPECT_THAT(fault("\"upsert\"", "\"upset\""),
              HasSubstr("rules[0].action: unknown action \"upset\"; did you mean upsert?"));
  EXPECT_THAT(fault("\"aggregate\"", "\"agregate\""),
              HasSubstr("unknown source \"agregate\"; did you mean aggregate?"));
  EXPECT_THAT(fault("\"$.sum['in total']\"", "\"$.sum[\""), HasSubstr("fields.total: path"));
  EXPECT_THAT(fault("\"total\":\"$", "\"totl\":\"$"),
              HasSubstr("rule 0: table \"orders\" has no field \"totl\"; its fields are order, customer, total"));
  EXPECT_THAT(fault("\"nullable\":true", "\"nullable\":1"), HasSubstr("must be true or false"));
  EXPECT_THAT(fault("\"park\"", "\"parc\""), HasSubstr("unknown policy \"parc\"; did you mean park?"));
  EXPECT_THAT(fault("\"name\":\"order\",", ""), HasSubstr("fields[0]: name is missing"));
  EXPECT_EQ(fault("\"customer\",\"type\"", "\"order\",\"type\""), "table \"orders\": field \"order\" is there twice")
      << "before a rule's key";
  EXPECT_EQ(read_table_definition(R"({"fields":[],"rules":[{"types":["A"],"action":"delete","key":"aggregate"}]})", "t")
                .error()
                .what,
            "table \"t\" has no fields");
  EXPECT_EQ(
      read_table_definition(R"({"fields":[{"name":"k","type":"text","role":"key"}],"rules":[]})", "t").error().what,
      "table \"t\" has no rules");
  EXPECT_THAT(fault(",\"rules\":[", ",\"handler\":{\"name\":\"h\",\"query\":{\"all\":true}},\"rules\":["),
              HasSubstr("either rules or a handler"));
}

TEST(TableJson, ARowIsALine) {
  JsonText json;
  write_row(json, {"k", "j"}, {FieldType::text, FieldType::json},
            {TableValue("two\nlines"), TableValue("{\"a\":\r\n [1,\n2], \"b\":\"\\n\"}")});
  EXPECT_EQ(json.text(), "{\"k\":\"two\\nlines\",\"j\":{\"a\":   [1, 2], \"b\":\"\\n\"}}");
}

TEST(TableJson, ASelectNamesAFieldOnce) {
  std::vector<std::string> fields;
  EXPECT_TRUE(add_field("a", fields));
  EXPECT_TRUE(add_field("b", fields));
  EXPECT_THAT(add_field("a", fields).error().what, HasSubstr("\"a\" is named twice"));
  EXPECT_EQ(fields, (std::vector<std::string>{"a", "b"}));
  std::vector<TableOrder> order;
  EXPECT_TRUE(add_order("-a", order));
  EXPECT_TRUE(add_order("b", order));
  EXPECT_THAT(add_order("a", order).error().what, HasSubstr("\"a\" twice"));
  ASSERT_EQ(order.size(), 2u);
  EXPECT_TRUE(order[0].descending);
  EXPECT_EQ(order[1].field, "b");
}

TEST(TableJson, ReadsParametersAsTheyAreMeant) {
  EXPECT_EQ(parameter_of("17"), TableValue(17));
  EXPECT_EQ(parameter_of("1.5"), TableValue(1.5));
  EXPECT_EQ(parameter_of("\"17\""), TableValue("17"));
  EXPECT_EQ(parameter_of("ann"), TableValue("ann"));
  EXPECT_EQ(parameter_of("true"), TableValue(true));
  EXPECT_EQ(parameter_of("null"), TableValue());
  EXPECT_EQ(parameter_of("[1]"), TableValue("[1]"));
}

}  // namespace
}  // namespace evershard::cluster
