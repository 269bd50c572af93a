# Debian's RE2 says where it is through pkg-config alone: PkgConfig::RE2.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND AND NOT TARGET PkgConfig::RE2)
  pkg_check_modules(RE2 QUIET IMPORTED_TARGET GLOBAL re2)
  if(RE2_FOUND)  # with its -pthread our precompiled headers would be of another kind
    set_target_properties(PkgConfig::RE2 PROPERTIES INTERFACE_COMPILE_OPTIONS "")
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(RE2 REQUIRED_VARS RE2_LINK_LIBRARIES VERSION_VAR RE2_VERSION)
