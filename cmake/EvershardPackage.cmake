# evershard::evershard, what an application links: the store and its aggregates; and how it is installed.
#
# Everything a module with a folder `public` depends on belongs to it, so a new module needs no word here.
#
#   include/evershard/local.hpp, ...      the public folders
#   include/evershard/<folder>/*.hpp      each module's HEADERS, read as in the tree
#   lib/libevershard_*.a                  a library a module
#   lib/cmake/evershard/                  find_package(evershard)
#   lib/pkgconfig/evershard.pc            pkg-config evershard

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Dependencies first, each once.
function(evershard_add_part target)
  get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS)
  if(target IN_LIST parts)
    return()
  endif()
  get_target_property(own ${target} EVERSHARD_OWN)
  if(own)
    foreach(dependency IN LISTS own)
      evershard_add_part(${dependency})
    endforeach()
  endif()
  set_property(GLOBAL APPEND PROPERTY EVERSHARD_PARTS ${target})
endfunction()

# After the last module an application may want.
function(evershard_package)
  add_library(evershard_embedding INTERFACE)
  add_library(evershard::evershard ALIAS evershard_embedding)
  set_target_properties(evershard_embedding PROPERTIES EXPORT_NAME evershard)
  target_compile_features(evershard_embedding INTERFACE cxx_std_20)
  get_property(modules GLOBAL PROPERTY EVERSHARD_MODULES)
  foreach(module IN LISTS modules)
    get_target_property(public ${module} EVERSHARD_PUBLIC)
    if(public)
      target_link_libraries(evershard_embedding INTERFACE ${module})
      evershard_add_part(${module})
    endif()
  endforeach()
  if(NOT EVERSHARD_INSTALL)
    return()
  endif()

  get_property(parts GLOBAL PROPERTY EVERSHARD_PARTS)
  install(TARGETS ${parts} evershard_embedding EXPORT evershard COMPONENT embedding INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  set(archives "")
  foreach(part IN LISTS parts)
    get_target_property(kind ${part} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
      string(PREPEND archives " -l${part}")  # who uses comes before what it uses
    endif()
    get_target_property(folder ${part} EVERSHARD_FOLDER)
    if(NOT folder)
      continue()
    endif()
    get_target_property(headers ${part} EVERSHARD_HEADERS)
    list(TRANSFORM headers PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
    foreach(header IN LISTS headers)
      file(RELATIVE_PATH place ${PROJECT_SOURCE_DIR} ${header})
      get_filename_component(place ${place} DIRECTORY)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/evershard/${place} COMPONENT embedding)
    endforeach()
    get_target_property(public ${part} EVERSHARD_PUBLIC)
    if(public)
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/public/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT embedding)
    endif()
  endforeach()

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/evershard)
  install(EXPORT evershard NAMESPACE evershard:: FILE evershard-targets.cmake DESTINATION ${package} COMPONENT embedding)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/evershard-config.cmake.in ${PROJECT_BINARY_DIR}/package/evershard-config.cmake
    INSTALL_DESTINATION ${package})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/package/evershard-config.cmake ${PROJECT_BINARY_DIR}/package/evershard-config-version.cmake
                ${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake ${PROJECT_SOURCE_DIR}/cmake/EvershardProtos.cmake
    DESTINATION ${package} COMPONENT embedding)

  # Relative to the .pc file itself, so that the whole can be moved.
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
    set(prefix ${CMAKE_INSTALL_PREFIX})
  else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    set(prefix "\${pcfiledir}/${up}")
  endif()
  string(REGEX REPLACE "/$" "" prefix "${prefix}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/evershard.pc.in ${PROJECT_BINARY_DIR}/package/evershard.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/package/evershard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT embedding)
endfunction()
