# The one warning list. Dependencies are SYSTEM and don't see it.
add_library(infino_warnings INTERFACE)
target_compile_options(
  infino_warnings
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
            -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
            $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
