# SPDX-License-Identifier: Apache-2.0
# torch as an imported target, found beside the interpreter. torch's own TorchConfig.cmake asks for a whole CUDA
# toolchain where torch is a CUDA build; headers and libraries are enough here.
function(flag_gems_find_torch python)
  if(NOT FLAGGEMS_TORCH_DIR)
    execute_process(
      COMMAND ${python} -c "
import glob, os, site, sysconfig
folders = [sysconfig.get_path('purelib'), *site.getsitepackages()]
found = [f + '/torch' for f in folders if os.path.isdir(f + '/torch/include')]
print(found[0] if found else '', end='')"
      OUTPUT_VARIABLE folder)
    if(NOT folder)
      execute_process(COMMAND ${python} -c "import torch; print(torch.__path__[0], end='')" OUTPUT_VARIABLE folder)
    endif()
    set(FLAGGEMS_TORCH_DIR "${folder}" CACHE PATH "Folder of the torch package" FORCE)
  endif()
  set(folder "${FLAGGEMS_TORCH_DIR}")
  if(NOT EXISTS "${folder}/include/ATen/ATen.h")
    message(FATAL_ERROR "no torch in ${folder}: install torch, build with --no-build-isolation, or set FLAGGEMS_TORCH_DIR")
  endif()
  set(libraries)
  foreach(name c10 torch_cpu c10_cuda torch_cuda torch)
    if(EXISTS "${folder}/lib/lib${name}.so")
      list(APPEND libraries "${folder}/lib/lib${name}.so")
    endif()
  endforeach()
  # CUDA libraries of torch are linked even where no symbol of theirs is named: they register kernels.
  add_library(flag_gems_torch_headers INTERFACE IMPORTED GLOBAL)
  target_include_directories(flag_gems_torch_headers SYSTEM INTERFACE
    "${folder}/include" "${folder}/include/torch/csrc/api/include")
  add_library(flag_gems_torch INTERFACE IMPORTED GLOBAL)
  target_link_libraries(flag_gems_torch INTERFACE flag_gems_torch_headers ${libraries})
  add_library(flag_gems_torch_python INTERFACE IMPORTED GLOBAL)
  target_link_libraries(flag_gems_torch_python INTERFACE flag_gems_torch "${folder}/lib/libtorch_python.so")
endfunction()
