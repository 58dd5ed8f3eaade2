# Where things are: Arrow and Parquet from an installation or from the pyarrow wheel, BLAKE3 from the
# official C sources that its crate carries, DuckDB's library from an npm package and its headers from
# a crate, the rest from the system's packages.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

set(INFINO_PYTHON "" CACHE FILEPATH "Python interpreter whose pyarrow wheel gives Arrow")
set(INFINO_PYARROW_VERSION 26.0.1)

find_package(Arrow 26 CONFIG QUIET)
find_package(Parquet 26 CONFIG QUIET)
if(Arrow_FOUND AND Parquet_FOUND)
  add_library(infino_arrow INTERFACE)
  target_link_libraries(infino_arrow INTERFACE Parquet::parquet_shared Arrow::arrow_shared)
else()
  if(NOT INFINO_PYTHON)
    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    set(INFINO_PYTHON ${Python3_EXECUTABLE})
  endif()
  execute_process(
    COMMAND ${INFINO_PYTHON} -c
            "import pyarrow as p; print(p.__version__, p.get_include(), p.get_library_dirs()[0], sep=';')"
    OUTPUT_VARIABLE pyarrow_places OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE pyarrow_missing)
  if(pyarrow_missing)
    message(FATAL_ERROR "No Arrow found. Run tools/bootstrap.sh, or install pyarrow "
                        "${INFINO_PYARROW_VERSION} for ${INFINO_PYTHON}.")
  endif()
  list(GET pyarrow_places 0 pyarrow_version)
  list(GET pyarrow_places 1 INFINO_ARROW_INCLUDE)
  list(GET pyarrow_places 2 INFINO_ARROW_LIBDIR)
  if(NOT pyarrow_version VERSION_EQUAL INFINO_PYARROW_VERSION)
    message(FATAL_ERROR "pyarrow ${pyarrow_version} found, ${INFINO_PYARROW_VERSION} wanted")
  endif()
  add_library(infino_arrow INTERFACE)
  target_include_directories(infino_arrow SYSTEM INTERFACE ${INFINO_ARROW_INCLUDE})
  target_link_libraries(infino_arrow INTERFACE ${INFINO_ARROW_LIBDIR}/libparquet.so.2600
                                               ${INFINO_ARROW_LIBDIR}/libarrow.so.2600)
endif()

pkg_check_modules(ICU REQUIRED IMPORTED_TARGET icu-uc)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
find_package(nlohmann_json 3.11 REQUIRED)

# BLAKE3: `cargo vendor` checks the crate against the hash in the lock file.
set(INFINO_BLAKE3_DIR "" CACHE PATH "The folder c/ of the BLAKE3 sources, if they are there already")
if(NOT INFINO_BLAKE3_DIR)
  set(vendor ${CMAKE_BINARY_DIR}/vendor)
  set(INFINO_BLAKE3_DIR ${vendor}/blake3/c)
  if(NOT EXISTS ${INFINO_BLAKE3_DIR}/CMakeLists.txt)
    find_program(CARGO cargo REQUIRED)
    execute_process(
      COMMAND ${CARGO} vendor --quiet --locked --manifest-path
              ${CMAKE_SOURCE_DIR}/cmake/blake3/Cargo.toml ${vendor}
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endif()
endif()
add_subdirectory(${INFINO_BLAKE3_DIR} ${CMAKE_BINARY_DIR}/blake3 EXCLUDE_FROM_ALL SYSTEM)
set_target_properties(blake3 PROPERTIES POSITION_INDEPENDENT_CODE ON)

# DuckDB: we use what its C++ library exports, so library and headers are of exactly one version. Both
# clients check what they fetch against the hashes in their lock files.
set(INFINO_DUCKDB_DIR "" CACHE PATH "A folder with libduckdb.so 1.5.6 and, under include/, its headers")
if(NOT INFINO_DUCKDB_DIR)
  set(INFINO_DUCKDB_DIR ${CMAKE_BINARY_DIR}/vendor/duckdb)
  if(NOT EXISTS ${INFINO_DUCKDB_DIR}/libduckdb.so)
    find_program(CARGO cargo REQUIRED)
    find_program(NPM npm REQUIRED)
    set(fetched ${CMAKE_BINARY_DIR}/vendor/fetched)
    file(COPY cmake/duckdb DESTINATION ${fetched})
    execute_process(COMMAND ${CARGO} vendor --quiet --locked ${fetched}/crates
                    WORKING_DIRECTORY ${fetched}/duckdb OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --silent
                    WORKING_DIRECTORY ${fetched}/duckdb COMMAND_ERROR_IS_FATAL ANY)
    execute_process(COMMAND ${CMAKE_COMMAND} -E tar xzf crates/libduckdb-sys/duckdb.tar.gz
                    WORKING_DIRECTORY ${fetched} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB library ${fetched}/duckdb/node_modules/@duckdb/*/libduckdb.so)
    if(NOT library)
      message(FATAL_ERROR "DuckDB's npm packages have no library for this machine; set INFINO_DUCKDB_DIR")
    endif()
    file(COPY ${fetched}/duckdb/src/include DESTINATION ${INFINO_DUCKDB_DIR})
    file(COPY ${library} DESTINATION ${INFINO_DUCKDB_DIR})
    file(REMOVE_RECURSE ${fetched})
  endif()
endif()
add_library(infino_duckdb INTERFACE)
target_include_directories(infino_duckdb SYSTEM INTERFACE ${INFINO_DUCKDB_DIR}/include)
target_link_libraries(infino_duckdb INTERFACE ${INFINO_DUCKDB_DIR}/libduckdb.so)

if(INFINO_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
