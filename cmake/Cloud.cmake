# infino_cloud: the crate in src/infino/storage/cloud, object stores behind a C interface, as a static
# library that cargo builds. All build folders share one copy.

set(INFINO_CLOUD_LIBRARY "" CACHE FILEPATH "libinfino_cloud.a, if it is there already")
set(crate ${CMAKE_SOURCE_DIR}/src/infino/storage/cloud)
if(INFINO_CLOUD_LIBRARY)
  add_custom_target(infino_cloud_build)
else()
  find_program(CARGO cargo REQUIRED)
  set(cargo_folder ${CMAKE_SOURCE_DIR}/build/cloud)
  set(INFINO_CLOUD_LIBRARY ${cargo_folder}/release/libinfino_cloud.a)
  file(GLOB crate_sources CONFIGURE_DEPENDS ${crate}/src/*.rs)
  add_custom_command(
    OUTPUT ${INFINO_CLOUD_LIBRARY}
    COMMAND ${CARGO} build --quiet --release --locked --manifest-path ${crate}/Cargo.toml --target-dir
            ${cargo_folder}
    # Cargo leaves the library alone where only comments changed.
    COMMAND ${CMAKE_COMMAND} -E touch ${INFINO_CLOUD_LIBRARY}
    DEPENDS ${crate_sources} ${crate}/Cargo.toml ${crate}/Cargo.lock
    COMMENT "Building the object store crate with cargo (a few minutes, once)"
    VERBATIM)
  add_custom_target(infino_cloud_build DEPENDS ${INFINO_CLOUD_LIBRARY})
endif()

add_library(infino_cloud STATIC IMPORTED)
set_target_properties(infino_cloud PROPERTIES IMPORTED_LOCATION ${INFINO_CLOUD_LIBRARY})
add_dependencies(infino_cloud infino_cloud_build)
target_link_libraries(infino_cloud INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
# What links it hides its symbols, and takes only the parts that are used.
target_link_options(infino_cloud INTERFACE LINKER:--exclude-libs,libinfino_cloud.a LINKER:--gc-sections)
