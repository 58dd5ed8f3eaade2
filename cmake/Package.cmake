# The CMake package `infino` for C++ programs: one static library with all layers, the public headers,
# and a config file that finds what it needs. Component `dev`.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(layers GLOBAL PROPERTY INFINO_LAYERS)
set(objects $<TARGET_OBJECTS:blake3>)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
add_library(infino_package STATIC EXCLUDE_FROM_ALL ${objects})
add_dependencies(infino_package infino_cloud_build)
set_target_properties(infino_package PROPERTIES OUTPUT_NAME infino EXPORT_NAME infino LINKER_LANGUAGE CXX)

set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/infino)
install(FILES $<TARGET_FILE:infino_package> DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(FILES ${INFINO_DUCKDB_DIR}/libduckdb.so ${INFINO_CLOUD_LIBRARY}
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/infino COMPONENT dev)
install(DIRECTORY include/infino DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
configure_package_config_file(cmake/infinoConfig.cmake.in ${CMAKE_BINARY_DIR}/infinoConfig.cmake
                              INSTALL_DESTINATION ${folder} PATH_VARS CMAKE_INSTALL_LIBDIR
                                                                      CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/infinoConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/infinoConfig.cmake ${CMAKE_BINARY_DIR}/infinoConfigVersion.cmake
        DESTINATION ${folder} COMPONENT dev)
