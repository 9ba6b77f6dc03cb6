# FHELIUM_NATIVE_BACKENDS: what the module is compiled for. Needs torch_version and torch_cuda; sets
# FHELIUM_BACKENDS (CPU, CUDA or CPU+CUDA), FHELIUM_CUDA_TOOLKIT and FHELIUM_CUDA_ARCHITECTURES, and
# with CUDA the function fhelium_use_cuda. A CPU build never looks for a toolkit.
set(FHELIUM_NATIVE_BACKENDS "AUTO" CACHE STRING "AUTO, CPU, CUDA or CPU+CUDA")
set_property(CACHE FHELIUM_NATIVE_BACKENDS PROPERTY STRINGS AUTO CPU CUDA CPU+CUDA)
set(FHELIUM_CUDA_ARCHITECTURES "")
set(FHELIUM_CUDA_TOOLKIT "")

if(FHELIUM_NATIVE_BACKENDS STREQUAL "AUTO")
  # A torch without CUDA has no CUDA tensors to hand to a kernel.
  if(torch_cuda STREQUAL "none")
    set(FHELIUM_BACKENDS CPU)
  else()
    set(FHELIUM_BACKENDS CPU+CUDA)
  endif()
elseif(FHELIUM_NATIVE_BACKENDS MATCHES "^(CPU|CUDA|CPU\\+CUDA)$")
  set(FHELIUM_BACKENDS ${FHELIUM_NATIVE_BACKENDS})
else()
  message(FATAL_ERROR "FHELIUM_NATIVE_BACKENDS is '${FHELIUM_NATIVE_BACKENDS}', needed is AUTO, CPU, "
    "CUDA or CPU+CUDA.")
endif()
if(NOT FHELIUM_BACKENDS MATCHES "CUDA")
  return()
endif()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(FHELIUM_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  if(FHELIUM_NVCC)
    set(CMAKE_CUDA_COMPILER "${FHELIUM_NVCC}")
  endif()
endif()
include(CheckLanguage)
check_language(CUDA)
if(NOT CMAKE_CUDA_COMPILER)
  if(FHELIUM_NATIVE_BACKENDS STREQUAL "AUTO")
    # Most CUDA builds of torch are installed where there is no toolkit.
    message(WARNING "torch ${torch_version} has CUDA ${torch_cuda}, but no nvcc was found: only CPU "
      "operators are compiled. For those on CUDA tensors install a CUDA ${torch_cuda} toolkit, or "
      "name its nvcc in CUDACXX.")
    set(FHELIUM_BACKENDS CPU)
    return()
  endif()
  message(FATAL_ERROR "FHELIUM_NATIVE_BACKENDS is ${FHELIUM_NATIVE_BACKENDS}, but no nvcc was found. "
    "Install a CUDA toolkit, name its nvcc in CUDACXX, or ask for CPU.")
endif()

if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  # Device code for 8.0 and 9.0, which 8.x and 9.x run; 9.0's intermediate code for what comes after.
  set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
set(FHELIUM_CUDA_TOOLKIT ${CMAKE_CUDA_COMPILER_VERSION})
list(JOIN CMAKE_CUDA_ARCHITECTURES "," FHELIUM_CUDA_ARCHITECTURES)
if(NOT torch_cuda STREQUAL "none")
  string(REGEX MATCH "^[0-9]+" torch_major "${torch_cuda}")
  string(REGEX MATCH "^[0-9]+" toolkit_major "${FHELIUM_CUDA_TOOLKIT}")
  if(NOT torch_major STREQUAL toolkit_major)
    message(FATAL_ERROR "The toolkit is CUDA ${FHELIUM_CUDA_TOOLKIT} (${CMAKE_CUDA_COMPILER}), torch "
      "${torch_version} has CUDA ${torch_cuda}. A process runs one major version. Name the nvcc of a "
      "CUDA ${torch_major} toolkit in CUDACXX, or ask for CPU.")
  endif()
endif()

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
