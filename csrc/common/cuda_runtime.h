// What adapters ask of the CUDA runtime that the module carries; the emulator answers the same.
#pragma once

extern "C" {

/// What a launcher's code means.
const char* fhelium_cuda_error_text(int status);

/// Make this thread's launches go to a device. Returns 0 or a code.
int fhelium_cuda_set_device(int index);
}
