#include "evershard/compat/import/refused_file.hpp"

#include <utility>

#include "evershard/api/json/json_text.hpp"

namespace evershard::cli {

Result<std::unique_ptr<RefusedFile>> RefusedFile::create(std::string path) {
  auto file = OutputFile::open(std::move(path));
  if (!file) return refuse(std::move(file).error());
  return std::make_unique<RefusedFile>(*std::move(file));
}

Result<void> RefusedFile::write(const ImportedEvent& event) {
  JsonText json;
  json.begin_object().key("position").string(event.place.text()).key("why").string(event.refused->why.what);
  json.key("event").raw(event.refused->shown).end_object();
  out_.write(json.text());
  out_.write("\n");
  return out_.whole();
}

Result<void> RefusedFile::keep() {
  out_.flush();
  EVERSHARD_TRY(out_.whole());
  return file_.keep();
}

}  // namespace evershard::cli
