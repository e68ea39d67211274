# Compiler and linker options for every target.
add_library(ralph_flags INTERFACE)
target_compile_options(ralph_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Wundef -Werror
  -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports false positives: uninitialised members in moved variants and optionals, and overlaps and overflows in
  # "literal" + std::string. clang and the sanitizers check for the same errors and find the real ones.
  target_compile_options(ralph_flags INTERFACE -Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread -Wno-array-bounds)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  if(RALPH_UNITY)
    # It warns of a local name that another file of the unit also has.
    target_compile_options(ralph_flags INTERFACE -Wno-shadow)
  endif()
  # libstdc++'s own stable_sort uses functions that libstdc++ marks as deprecated.
  target_compile_options(ralph_flags INTERFACE -Wno-deprecated-declarations)
endif()
target_include_directories(ralph_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
target_link_options(ralph_flags INTERFACE -Wl,--gc-sections)

# The functions that hooks and short commands execute are placed together in the static binary, so that the kernel maps them
# with a tenth of the page faults. Only lld can order functions like this. tests/bench/hot_symbols.py determines the list.
find_program(LLD ld.lld)
find_program(MOLD mold)
if(RALPH_STATIC AND LLD)
  set(hot_symbols ${CMAKE_CURRENT_LIST_DIR}/hot_symbols.txt)
  target_link_options(ralph_flags INTERFACE -fuse-ld=lld
    -Wl,--symbol-ordering-file=${hot_symbols} -Wl,--no-warn-symbol-ordering)
elseif(MOLD)
  target_link_options(ralph_flags INTERFACE -fuse-ld=mold)
endif()
if(RALPH_TYPES AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # The objects contain the compiler's intermediate code in addition to the machine code, which is linked as usual.
  # tests/one_definition.py reads it.
  target_compile_options(ralph_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-flto> $<$<COMPILE_LANGUAGE:CXX>:-ffat-lto-objects>)
  target_link_options(ralph_flags INTERFACE -fno-lto)
endif()
if(RALPH_SANITIZE)
  # Using a null pointer ends the program anyway, and checking for it before each use would double the compile time.
  target_compile_options(ralph_flags INTERFACE -fsanitize=${RALPH_SANITIZE} -fno-sanitize=null,alignment,vptr -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ warns about overflows in code that the sanitizers insert. The other builds show its warnings.
    target_compile_options(ralph_flags INTERFACE -w)
  endif()
  target_link_options(ralph_flags INTERFACE -fsanitize=${RALPH_SANITIZE})
endif()
if(RALPH_STATIC)
  # Not position-independent: a hook starts on every tool call, and thousands of start-up relocations are its main cost.
  target_compile_options(ralph_flags INTERFACE -fno-pie)
  target_link_options(ralph_flags INTERFACE -static -no-pie)
endif()

find_library(SECCOMP_LIBRARY NAMES libseccomp.a REQUIRED)
find_library(UTF8PROC_LIBRARY NAMES libutf8proc.a REQUIRED)
find_library(BOOST_JSON_LIBRARY NAMES libboost_json.a REQUIRED)
