// What the CUDA runtime knows of this machine's devices, as JSON text for
// fhelium.native.cuda.cuda_info. A library of its own: operators need none of it.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>

namespace {

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text != '\0'; ++text)
    if (*text == '"' || *text == '\\')
      out += {'\\', *text};
    else if (static_cast<unsigned char>(*text) >= ' ')
      out += *text;
  return out + "\"";
}

std::string field(const char* name, size_t value) {
  return "\"" + std::string(name) + "\": " + std::to_string(value);
}

size_t attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, name, device) == cudaSuccess ? static_cast<size_t>(value)
                                                                     : 0;
}

/// The devices whose memory this one reaches directly.
std::string peers(int device, int count) {
  std::string out;
  for (int other = 0; other < count; ++other) {
    int reaches = 0;
    if (other == device || cudaDeviceCanAccessPeer(&reaches, device, other) != cudaSuccess ||
        reaches == 0)
      continue;
    out += (out.empty() ? "" : ", ") + std::to_string(other);
  }
  return "[" + out + "]";
}

std::string describe(int device, int count) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return "";
  char bus[32] = "";
  cudaDeviceGetPCIBusId(bus, sizeof bus, device);
  const std::string fields[] = {
      field("index", static_cast<size_t>(device)),
      "\"name\": " + quoted(properties.name),
      "\"pci_bus_id\": " + quoted(bus),
      "\"compute_capability\": [" + std::to_string(properties.major) + ", " +
          std::to_string(properties.minor) + "]",
      field("memory_bytes", properties.totalGlobalMem),
      field("l2_bytes", attribute(cudaDevAttrL2CacheSize, device)),
      field("shared_bytes_per_block", attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device)),
      field("multiprocessors", attribute(cudaDevAttrMultiProcessorCount, device)),
      field("threads_per_multiprocessor",
            attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device)),
      "\"peers\": " + peers(device, count)};
  std::string out;
  for (const std::string& text : fields) out += (out.empty() ? "{" : ", ") + text;
  return out + "}";
}

}  // namespace

/// The text lives until the next call of this thread.
extern "C" __attribute__((visibility("default"))) const char* fhelium_cuda_info() {
  static thread_local std::string text;
  int runtime = 0, driver = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) count = 0;
  text = "{" + field("runtime", static_cast<size_t>(runtime)) + ", " +
         field("driver", static_cast<size_t>(driver)) +
         ", \"reason\": " + quoted(status == cudaSuccess ? "" : cudaGetErrorString(status)) +
         ", \"devices\": [";
  for (int device = 0; device < count; ++device)
    text += (device ? ", " : "") + describe(device, count);
  text += "]}";
  return text.c_str();
}
