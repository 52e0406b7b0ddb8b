# The targets that users' programs link, and the files that `cmake --install` installs: the command, the public headers,
# the libraries, and a package for find_package(lockstep [COMPONENTS core|ddp|trainer]).
#   lockstep::core       Group and init, without torch
#   lockstep::ddp        core, DistributedDataParallel, the other wrappers for torch, and collectives on tensors
#   lockstep::trainer    ddp, SequentialTrainer and its engines, models and data
#   lockstep::lockstep   all of Lockstep
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# lockstep_component(NAME PARTS folder... LINKS target...)
#   A library for users, and the folders whose libraries are installed for it. Each has its own file of targets, so that
#   find_package finds core without torch.
function(lockstep_component name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PARTS;LINKS")
  add_library(lockstep_component_${name} INTERFACE)
  target_link_libraries(lockstep_component_${name} INTERFACE ${arg_LINKS})
  set_target_properties(lockstep_component_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(lockstep::${name} ALIAS lockstep_component_${name})
  if(LOCKSTEP_SANITIZE)
    return()  # users cannot link libraries that are built with a sanitizer
  endif()
  list(TRANSFORM arg_PARTS PREPEND lockstep_)
  install(TARGETS ${arg_PARTS} lockstep_component_${name} EXPORT lockstep_${name})
  install(EXPORT lockstep_${name} FILE lockstep_${name}.cmake NAMESPACE lockstep::
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/cmake/lockstep")
endfunction()

lockstep_component(core PARTS base comm launch LINKS lockstep_launch)
if(LOCKSTEP_TORCH)
  lockstep_component(ddp PARTS optim sync data ddp LINKS lockstep_ddp lockstep_component_core)
  lockstep_component(trainer PARTS observe run weights models engine_interface engine train sequential_trainer
    LINKS lockstep_sequential_trainer lockstep_component_ddp)
  lockstep_component(lockstep LINKS lockstep_component_trainer)
endif()
# The libraries alone: cmake --build BUILD --target lockstep_libraries
add_custom_target(lockstep_libraries DEPENDS $<IF:$<BOOL:${LOCKSTEP_TORCH}>,lockstep_sequential_trainer,lockstep_launch>)
include(api_docs)

if(LOCKSTEP_SANITIZE)
  return()
endif()

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/lockstep")
# If libtorch is not the system's, find_package(lockstep) searches it in the folder that Lockstep was built with.
set(programs lockstep)
if(LOCKSTEP_TORCH)
  list(APPEND programs lockstep-torch)
endif()
set_target_properties(${programs} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET lockstep_gloo)
  set(plugins "${CMAKE_INSTALL_LIBDIR}/lockstep")
  install(TARGETS lockstep_gloo DESTINATION "${plugins}")
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "\$ORIGIN/../${plugins}")
  target_link_options(lockstep_comm INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${plugins}>")
endif()
if(TARGET lockstep-simulate)
  list(APPEND programs lockstep-simulate)
endif()
install(TARGETS ${programs})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/" DESTINATION "${CMAKE_INSTALL_DATADIR}/lockstep/data")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/lockstepConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/lockstepConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lockstepConfig.cmake" "${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake" DESTINATION "${package}")
