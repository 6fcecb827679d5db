# The libraries whose barriers are measured, each where it is found: by NCCL_ROOT,
# NVSHMEM_ROOT and CMAKE_PREFIX_PATH, also in the folders of NVIDIA's Python packages
# (nvidia/nccl, nvidia/nvshmem in site-packages), whose libraries have no other name.

# find_in_packages(NCCL nccl nccl.h LIBRARY nccl libnccl.so.2): NCCL_INCLUDE_DIR and
# NCCL_LIBRARY.
function(find_in_packages prefix package header variable)
  set(hints ${${prefix}_ROOT} $ENV{${prefix}_ROOT} $ENV{${prefix}_HOME})
  list(TRANSFORM hints APPEND /lib64 OUTPUT_VARIABLE hints64)
  find_path(${prefix}_INCLUDE_DIR ${header} HINTS ${hints}
    PATH_SUFFIXES include nvidia/${package}/include)
  find_library(${prefix}_${variable} NAMES ${ARGN} NAMES_PER_DIR HINTS ${hints} ${hints64}
    PATH_SUFFIXES lib nvidia/${package}/lib)
  mark_as_advanced(${prefix}_INCLUDE_DIR ${prefix}_${variable})
endfunction()

find_in_packages(NCCL nccl nccl.h LIBRARY nccl libnccl.so.2)
find_in_packages(NVSHMEM nvshmem nvshmem.h LIBRARY nvshmem_host libnvshmem_host.so.3)
find_in_packages(NVSHMEM nvshmem nvshmem.h DEVICE_LIBRARY nvshmem_device)
set(MPI_CXX_SKIP_MPICXX TRUE)
find_package(MPI QUIET COMPONENTS CXX)

# Says where a library is, or which methods a build without it leaves out.
function(tell_library name where methods)
  if(where)
    message(STATUS "${name}: ${where}")
  else()
    message(STATUS "${name}: not found; left out: ${methods}")
  endif()
endfunction()

set(found_nccl "")
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  set(found_nccl "${NCCL_LIBRARY}")
  # Links to its headers, in a folder that has no others: it comes before all that may have another
  # NCCL. A folder of the system, such as /usr/include, cannot.
  set(nccl_headers "${CMAKE_BINARY_DIR}/generated/nccl")
  file(REMOVE_RECURSE "${nccl_headers}")
  file(MAKE_DIRECTORY "${nccl_headers}")
  file(GLOB headers RELATIVE "${NCCL_INCLUDE_DIR}" "${NCCL_INCLUDE_DIR}/nccl*")
  foreach(header ${headers})
    file(CREATE_LINK "${NCCL_INCLUDE_DIR}/${header}" "${nccl_headers}/${header}" SYMBOLIC)
  endforeach()
endif()
set(found_nvshmem "")
if(NVSHMEM_INCLUDE_DIR AND NVSHMEM_LIBRARY AND NVSHMEM_DEVICE_LIBRARY)
  set(found_nvshmem "${NVSHMEM_LIBRARY}")
  if(NOT MPI_CXX_FOUND)
    string(APPEND found_nvshmem "; left out, as it needs MPI: nvshmem_* of Libraries")
  endif()
endif()
set(found_mpi "")
if(MPI_CXX_FOUND)
  set(found_mpi "${MPI_CXX_LIBRARIES}")
endif()
tell_library(NCCL "${found_nccl}"
  "nccl of Reduction, nccl_send_recv of Stencil, nccl_* of Libraries")
tell_library(NVSHMEM "${found_nvshmem}" "nvshmem_* of Libraries")
tell_library(MPI "${found_mpi}"
  "mpi_send_recv of Stencil, mpi_* of Libraries, and a process for each GPU")
