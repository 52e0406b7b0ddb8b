# What some libtorch has inside itself that Lockstep has from elsewhere. Debian's libtorch shares both.

# fmt: headers of another version in libtorch's own include folder would hide those of the fmt that is linked. Ours are
# put before them, in a folder that has nothing else.
get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
list(GET TORCH_INCLUDE_DIRS 0 torch_headers)
if(EXISTS "${torch_headers}/fmt" AND NOT torch_headers STREQUAL fmt_headers)
  set(one_fmt "${PROJECT_BINARY_DIR}/one_fmt")
  file(MAKE_DIRECTORY "${one_fmt}")
  file(CREATE_LINK "${fmt_headers}/fmt" "${one_fmt}/fmt" SYMBOLIC)
  target_include_directories(torch_cpu_library BEFORE INTERFACE "${one_fmt}")
endif()

# Gloo: two versions of it in one process would call each other's functions, with classes of different layouts.
# LOCKSTEP_GLOO_APART says that ours must be kept apart: see src/comm/gloo/gloo_loader.cpp.
get_target_property(torch_configurations torch_cpu IMPORTED_CONFIGURATIONS)
list(GET torch_configurations 0 torch_configuration)
get_target_property(torch_file torch_cpu IMPORTED_LOCATION_${torch_configuration})
execute_process(COMMAND "${CMAKE_READELF}" --dynamic "${torch_file}"
  OUTPUT_VARIABLE torch_needs COMMAND_ERROR_IS_FATAL ANY)
if(NOT torch_needs MATCHES "NEEDED[^\n]*libgloo")
  set(LOCKSTEP_GLOO_APART ON)
  set(LOCKSTEP_PLUGINS "${PROJECT_BINARY_DIR}/lib/lockstep")
  list(APPEND CMAKE_BUILD_RPATH "${LOCKSTEP_PLUGINS}")  # there our programs look for it
endif()

# oneDNN: the onednn engine is built where libtorch takes oneDNN from the same library as we do. Not found by its own
# package file: Debian's wants OpenCL, for graphics cards.
find_path(dnnl_headers oneapi/dnnl/dnnl.hpp)
find_library(dnnl_library dnnl)
if(dnnl_headers AND dnnl_library AND torch_needs MATCHES "NEEDED[^\n]*libdnnl")
  set(can_onednn ON)
  add_library(dnnl SHARED IMPORTED)
  set_target_properties(dnnl PROPERTIES IMPORTED_LOCATION "${dnnl_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${dnnl_headers}")
else()
  set(can_onednn OFF)
endif()
option(LOCKSTEP_ONEDNN "Build the onednn engine" ${can_onednn})
