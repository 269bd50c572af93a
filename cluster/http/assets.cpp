#include "evershard/cluster/http/assets.hpp"

namespace evershard::http {
namespace {

constexpr std::string_view page = "<!doctype html><html lang=en><meta charset=utf-8><title>Evershard</title><p>Evershard is serving. The API is under /api/v1.\n";
constexpr Asset placeholder[] = {{"/index.html", "text/html; charset=utf-8", "\"0\"", page, {}}};

}  // namespace

std::span<const Asset> all_assets() { return placeholder; }

const Asset* find_asset(std::string_view path) { return path == placeholder[0].path ? &placeholder[0] : nullptr; }

}  // namespace evershard::http
