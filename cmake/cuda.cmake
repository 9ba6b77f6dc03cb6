# CUDA as a language, what a target with kernels needs, and the library of cuda_info. Needs
# FHELIUM_NVCC; sets FHELIUM_CUDA_ARCHITECTURES.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND "$ENV{CUDAARCHS}" STREQUAL "")
  # Device code for 8.0 and 9.0, which 8.x and 9.x run; 9.0's intermediate code for what comes after.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
if(NOT CMAKE_CUDA_COMPILER AND "$ENV{CUDACXX}" STREQUAL "")
  set(CMAKE_CUDA_COMPILER "${FHELIUM_NVCC}")
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
list(JOIN CMAKE_CUDA_ARCHITECTURES "," FHELIUM_CUDA_ARCHITECTURES)

# The runtime is linked statically and no CUDA library of torch's is linked, so the module loads in
# every torch. -fmad=false: floating point rounds where it is written, as on the CPU. A kernel that
# spills registers or keeps an array in memory is an error.
function(fhelium_use_cuda target)
  set(flags -fmad=false -Xcompiler=-Wall,-Wextra -Xptxas=-warn-spills,-warn-lmem-usage,-Werror)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${flags}>")
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  # What the static runtime would export is nobody's.
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
endfunction()

# What the runtime tells of devices: a library of its own, which Python loads with ctypes.
add_library(_cuda_info MODULE csrc/cuda_info.cpp)
set_target_properties(_cuda_info PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden
  BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "")
target_compile_options(_cuda_info PRIVATE -Wall -Wextra)
target_link_options(_cuda_info PRIVATE -Wl,--exclude-libs,ALL)
target_link_libraries(_cuda_info PRIVATE CUDA::cudart_static)
install(TARGETS _cuda_info LIBRARY DESTINATION fhelium/native/cuda)
