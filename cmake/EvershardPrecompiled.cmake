# Precompiled headers, made once and used by every target: what nearly every file includes anyway.

add_library(evershard_precompiled OBJECT ${PROJECT_SOURCE_DIR}/cmake/precompiled.cpp)
target_link_libraries(evershard_precompiled PRIVATE evershard_warnings)
set_target_properties(evershard_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_precompile_headers(evershard_precompiled PRIVATE
  <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <mutex>
  <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector> <tl/expected.hpp>)
