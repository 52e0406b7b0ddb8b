# Functions and flags for all CMakeLists.txt of this project.

# Uses ccache if it is installed.
find_program(LOCKSTEP_CCACHE ccache)
if(LOCKSTEP_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "${LOCKSTEP_CCACHE}")
endif()

# Flags of all our targets. LOCKSTEP_QUICK is for code without loops over data (tests, the command line, reports, launching,
# the training loop) and for builds with sanitizers or coverage: -O1 compiles in two thirds of the time.
add_library(lockstep_flags INTERFACE)
target_compile_features(lockstep_flags INTERFACE cxx_std_20)
set(quick $<BOOL:$<TARGET_PROPERTY:LOCKSTEP_QUICK>>)
if(LOCKSTEP_SANITIZE OR LOCKSTEP_COVERAGE)
  set(quick 1)
endif()
target_compile_options(lockstep_flags INTERFACE
  -Wall -Wextra -Werror -fpch-preprocess
  $<$<CONFIG:RelWithDebInfo>:$<IF:${quick},-O1,-O3>> $<$<CONFIG:RelWithDebInfo>:-g1>
  # g++ 12 has false warnings about copies within std::string.
  "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread>")
target_include_directories(lockstep_flags INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_flags INTERFACE
    -fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    # g++ 12 has false warnings in instrumented code.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()

if(LOCKSTEP_COVERAGE)
  # Counters are atomic because of threads. Workers end with _exit, so it is wrapped to write the counters first.
  add_library(lockstep_coverage OBJECT "${PROJECT_SOURCE_DIR}/tests/support/coverage_exit.cpp")
  target_compile_options(lockstep_flags INTERFACE --coverage -fprofile-update=atomic -Wno-maybe-uninitialized)
  target_link_options(lockstep_flags INTERFACE --coverage -Wl,--wrap=_exit,--wrap=_Exit)
  target_link_libraries(lockstep_flags INTERFACE $<TARGET_OBJECTS:lockstep_coverage>)
endif()

if(LOCKSTEP_FUZZ)
  target_compile_options(lockstep_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# lockstep_compile_in_batches(TARGET)
#   Compiles 8 sources at a time, because headers of libtorch, CLI11 and JSON take longer to parse than our sources. Names
#   in unnamed namespaces must differ between the sources of a target.
function(lockstep_compile_in_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${LOCKSTEP_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# lockstep_library(NAME [QUICK] SOURCES file... DEPENDS target...)
#   One static library per folder, so that its CMakeLists.txt lists the folder's dependencies. QUICK sets LOCKSTEP_QUICK.
function(lockstep_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "" "SOURCES;DEPENDS")
  add_library(lockstep_${name} STATIC ${arg_SOURCES})
  # Users' programs have their own flags.
  target_link_libraries(lockstep_${name} PUBLIC $<BUILD_INTERFACE:lockstep_flags> ${arg_DEPENDS})
  target_compile_features(lockstep_${name} PUBLIC cxx_std_20)
  target_include_directories(lockstep_${name} PUBLIC $<INSTALL_INTERFACE:include>)
  set_target_properties(lockstep_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON LOCKSTEP_QUICK ${arg_QUICK})
  lockstep_compile_in_batches(lockstep_${name})
endfunction()

# lockstep_use_torch(TARGET [QUICK] [TORCH_FREE file...])
#   Links libtorch and shares a precompiled torch header: the first target builds it, the others reuse it. QUICK sets
#   LOCKSTEP_QUICK. TORCH_FREE lists the files that include no torch, because loading the header takes longer than
#   compiling them. Targets that only link torch do not need this function.
function(lockstep_use_torch target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "QUICK" "" "TORCH_FREE")
  set_target_properties(${target} PROPERTIES LOCKSTEP_QUICK ${arg_QUICK})
  target_link_libraries(${target} PUBLIC torch_cpu_library)
  # The header is compiled with -fPIC, so its users must be too; executables would be compiled with -fPIE.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  get_property(owner GLOBAL PROPERTY LOCKSTEP_PCH_OWNER)
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${target} PRIVATE <torch/torch.h>)
    set_property(GLOBAL PROPERTY LOCKSTEP_PCH_OWNER ${target})
  endif()
  set_source_files_properties(${arg_TORCH_FREE} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# lockstep_test(NAME [LABELS label...] [TIMEOUT seconds] COMMAND command...)
#   The timeout ends a test that hangs.
function(lockstep_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LABELS;COMMAND")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1800)
  endif()
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
