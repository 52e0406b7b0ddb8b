# Finds libtorch: whichever CMake finds, or the one that Torch_DIR names. It is included by Lockstep's own build, and
# by find_package(lockstep) in the projects of others.
#
# Lockstep computes on the CPU. Of a libtorch that is built for CUDA as well, such as the one in the PyTorch package of
# the Python index, only that part is linked, and no CUDA toolkit is wanted: libtorch looks for one unless the first two
# targets are there. A project that does want CUDA finds Torch before it finds Lockstep.
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
    "C++ libraries cannot be linked with it. Take the one of PyTorch 2.7 or later, or the archive for the 'cxx11 ABI'.")
endif()
# The target that Lockstep links. TORCH_LIBRARIES is not what it wants: the package looks for some of these files in the
# system's folders first, and may list another libtorch's.
target_include_directories(torch_cpu_library INTERFACE ${TORCH_INCLUDE_DIRS})
target_compile_options(torch_cpu_library INTERFACE ${TORCH_CXX_FLAGS})
