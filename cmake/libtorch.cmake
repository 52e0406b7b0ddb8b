# Finds libtorch: the one that CMake finds, or the one that Torch_DIR names. Included by Lockstep's build, and by
# find_package(lockstep) in users' projects.
#
# Lockstep computes on the CPU. The PyTorch package of the Python index contains a libtorch with CUDA; Lockstep links its
# CPU part only, and needs no CUDA toolkit. libtorch searches for a toolkit unless the first two targets exist. A project
# that uses CUDA must find Torch before it finds Lockstep.
if(NOT TARGET torch)
  foreach(part cudart nvtoolsext)
    if(NOT TARGET torch::${part})
      add_library(torch::${part} INTERFACE IMPORTED)
    endif()
  endforeach()
  # The second half of the package must come from the same folder, even if another libtorch is installed.
  if(IS_DIRECTORY "${Torch_DIR}/../Caffe2")
    set(Caffe2_DIR "${Torch_DIR}/../Caffe2")
  endif()
  find_package(Torch REQUIRED)
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "The libtorch in ${TORCH_INSTALL_PREFIX} is built with the old layout of std::string; the other "
    "C++ libraries cannot be linked with it. Use the one of PyTorch 2.7 or later, or the archive for the 'cxx11 ABI'.")
endif()
# The target that Lockstep links. TORCH_LIBRARIES cannot be used: the package searches some of these files in the system's
# folders first, and may list those of another libtorch.
target_include_directories(torch_cpu_library INTERFACE ${TORCH_INCLUDE_DIRS})
target_compile_options(torch_cpu_library INTERFACE ${TORCH_CXX_FLAGS})
