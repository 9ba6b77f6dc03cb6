# Finds the CUDA compiler: sets FHELIUM_NVCC, FHELIUM_CUDA_TOOLKIT to its version, and where there is
# none, or one that does not tell its version, FHELIUM_NO_NVCC to that fact.
# As a script, `cmake -P cmake/nvcc.cmake`, it exits 0 where there is one. No cache keeps the answer:
# who installs a toolkit, or names one in CUDACXX, configures the same build folder again.
unset(FHELIUM_NO_NVCC)
unset(FHELIUM_NVCC)
if(CMAKE_CUDA_COMPILER)
  set(FHELIUM_NVCC "${CMAKE_CUDA_COMPILER}")
elseif(NOT "$ENV{CUDACXX}" STREQUAL "")
  separate_arguments(FHELIUM_NVCC UNIX_COMMAND "$ENV{CUDACXX}")  # options may follow the name
else()
  find_program(FHELIUM_NVCC nvcc NO_CACHE
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
endif()

if(NOT FHELIUM_NVCC)
  set(FHELIUM_NO_NVCC "no nvcc was found")
else()
  set(nvcc_says "")
  execute_process(COMMAND ${FHELIUM_NVCC} --version OUTPUT_VARIABLE nvcc_says ERROR_QUIET)
  if(nvcc_says MATCHES "release [0-9.]+, V([0-9.]+)")
    set(FHELIUM_CUDA_TOOLKIT ${CMAKE_MATCH_1})
  else()
    set(FHELIUM_NO_NVCC "${FHELIUM_NVCC} does not tell a version of CUDA")
  endif()
endif()

if(FHELIUM_NO_NVCC AND CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  message(FATAL_ERROR "${FHELIUM_NO_NVCC}.")
endif()
