#include "evershard/cluster/http/assets.hpp"

namespace evershard::http {
namespace {

constexpr std::string_view page = "<!doctype html><html lang=en><meta charset=utf-8><title>Evershard</title><p>Evershard is serving. The API is under /api/v1.\n";
constexpr Asset index_page{"/", "text/html; charset=utf-8", "\"0\"", page, {}};

}  // namespace

const Asset* find_asset(std::string_view path) { return path == index_page.path ? &index_page : nullptr; }

}  // namespace evershard::http
