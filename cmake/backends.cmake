# FHELIUM_NATIVE_BACKENDS: what the module is compiled for. Needs torch_version and torch_cuda; sets
# FHELIUM_BACKENDS (CPU, CUDA or CPU+CUDA) and with CUDA what nvcc.cmake sets. A CPU build never
# looks for a toolkit. It only decides, so that tests run it as a script.
set(FHELIUM_NATIVE_BACKENDS "AUTO" CACHE STRING "AUTO, CPU, CUDA or CPU+CUDA")
set_property(CACHE FHELIUM_NATIVE_BACKENDS PROPERTY STRINGS AUTO CPU CUDA CPU+CUDA)
set(FHELIUM_CUDA_TOOLKIT "")

set(FHELIUM_BACKENDS "${FHELIUM_NATIVE_BACKENDS}")
if(FHELIUM_NATIVE_BACKENDS STREQUAL "AUTO")
  # A torch without CUDA has no CUDA tensors to hand to a kernel.
  set(FHELIUM_BACKENDS CPU+CUDA)
  if(torch_cuda STREQUAL "none")
    set(FHELIUM_BACKENDS CPU)
  endif()
elseif(NOT FHELIUM_NATIVE_BACKENDS MATCHES "^(CPU|CUDA|CPU\\+CUDA)$")
  message(FATAL_ERROR "FHELIUM_NATIVE_BACKENDS is '${FHELIUM_NATIVE_BACKENDS}', needed is AUTO, CPU, "
    "CUDA or CPU+CUDA.")
endif()
if(FHELIUM_BACKENDS STREQUAL "CPU")
  return()
endif()

include("${CMAKE_CURRENT_LIST_DIR}/nvcc.cmake")
string(REGEX MATCH "^[0-9]+" torch_major "${torch_cuda}")
if(FHELIUM_NO_NVCC)
  if(FHELIUM_NATIVE_BACKENDS STREQUAL "AUTO")
    # Most CUDA builds of torch are installed where there is no toolkit.
    message(WARNING "torch ${torch_version} has CUDA ${torch_cuda}, but ${FHELIUM_NO_NVCC}: only CPU "
      "operators are compiled. For those on CUDA tensors install a CUDA ${torch_major} toolkit, or "
      "name its nvcc in CUDACXX.")
    set(FHELIUM_BACKENDS CPU)
    return()
  endif()
  message(FATAL_ERROR "FHELIUM_NATIVE_BACKENDS is ${FHELIUM_NATIVE_BACKENDS}, but "
    "${FHELIUM_NO_NVCC}. Install a CUDA toolkit, name its nvcc in CUDACXX, or set "
    "FHELIUM_NATIVE_BACKENDS=CPU.")
endif()
if(NOT torch_cuda STREQUAL "none" AND NOT FHELIUM_CUDA_TOOLKIT MATCHES "^${torch_major}\\.")
  message(FATAL_ERROR "The toolkit is CUDA ${FHELIUM_CUDA_TOOLKIT} (${FHELIUM_NVCC}), torch "
    "${torch_version} has CUDA ${torch_cuda}. A process runs one major version. Name the nvcc of a "
    "CUDA ${torch_major} toolkit in CUDACXX, or set FHELIUM_NATIVE_BACKENDS=CPU.")
endif()
