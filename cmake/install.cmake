# What a program links, and what `cmake --install` puts into its prefix: the command, the public headers, the
# libraries, and a package for find_package(lockstep).
#   lockstep::core       Group and init, without torch
#   lockstep::lockstep   all of Lockstep
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(parts base comm launch)
add_library(lockstep_without_torch INTERFACE)
target_link_libraries(lockstep_without_torch INTERFACE lockstep_launch)
set_target_properties(lockstep_without_torch PROPERTIES EXPORT_NAME core)
add_library(lockstep::core ALIAS lockstep_without_torch)
set(faces lockstep_without_torch)
if(LOCKSTEP_TORCH)
  list(APPEND parts observe data optim sync ddp models engine train)
  add_library(lockstep_with_torch INTERFACE)
  target_link_libraries(lockstep_with_torch INTERFACE lockstep_train lockstep_without_torch)
  set_target_properties(lockstep_with_torch PROPERTIES EXPORT_NAME lockstep)
  add_library(lockstep::lockstep ALIAS lockstep_with_torch)
  list(APPEND faces lockstep_with_torch)
endif()

if(LOCKSTEP_SANITIZE)
  return()  # nothing to give away
endif()

list(TRANSFORM parts PREPEND lockstep_)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/lockstep")
install(TARGETS ${parts} ${faces} EXPORT lockstepTargets)
# A libtorch that is not the system's is looked for where it was when Lockstep was built.
set_target_properties(lockstep PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
if(TARGET lockstep_gloo)
  set(plugins "${CMAKE_INSTALL_LIBDIR}/lockstep")
  install(TARGETS lockstep_gloo DESTINATION "${plugins}")
  set_target_properties(lockstep PROPERTIES INSTALL_RPATH "\$ORIGIN/../${plugins}")
  target_link_options(lockstep_comm INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${plugins}>")
endif()
install(TARGETS lockstep)
if(TARGET lockstep-simulate)
  install(TARGETS lockstep-simulate)
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/" DESTINATION "${CMAKE_INSTALL_DATADIR}/lockstep/data")
install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION "${package}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/lockstepConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/lockstepConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lockstepConfig.cmake" "${PROJECT_BINARY_DIR}/lockstepConfigVersion.cmake"
  "${CMAKE_CURRENT_LIST_DIR}/libtorch.cmake" DESTINATION "${package}")
