# Libraries that some versions of libtorch contain, and that Lockstep uses too. Debian's libtorch shares both.

# fmt: libtorch's include folder may have headers of another version, which would hide those of the linked fmt. A folder
# with the right headers only is put before it.
get_target_property(fmt_headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
list(GET TORCH_INCLUDE_DIRS 0 torch_headers)
if(EXISTS "${torch_headers}/fmt" AND NOT torch_headers STREQUAL fmt_headers)
  set(one_fmt "${PROJECT_BINARY_DIR}/one_fmt")
  file(MAKE_DIRECTORY "${one_fmt}")
  file(CREATE_LINK "${fmt_headers}/fmt" "${one_fmt}/fmt" SYMBOLIC)
  target_include_directories(torch_cpu_library BEFORE INTERFACE "${one_fmt}")
endif()

# Gloo: two versions of it in one process would call each other's functions, with classes of different layouts.
# With LOCKSTEP_GLOO_APART, Lockstep's Gloo is loaded separately: see src/comm/gloo/gloo_loader.cpp.
get_target_property(torch_configurations torch_cpu IMPORTED_CONFIGURATIONS)
list(GET torch_configurations 0 torch_configuration)
get_target_property(torch_file torch_cpu IMPORTED_LOCATION_${torch_configuration})
execute_process(COMMAND "${CMAKE_READELF}" --dynamic "${torch_file}"
  OUTPUT_VARIABLE torch_needs COMMAND_ERROR_IS_FATAL ANY)
if(NOT torch_needs MATCHES "NEEDED[^\n]*libgloo")
  set(LOCKSTEP_GLOO_APART ON)
  set(LOCKSTEP_PLUGINS "${PROJECT_BINARY_DIR}/lib/lockstep")
  list(APPEND CMAKE_BUILD_RPATH "${LOCKSTEP_PLUGINS}")  # Lockstep's programs search it there
endif()

# oneDNN: the onednn engine is built if libtorch uses the same oneDNN library. find_package is not used, because Debian's
# package file needs OpenCL.
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
