// SPDX-License-Identifier: Apache-2.0
// Prints the signatures that the run time chooses: one line of input is "KERNEL<TAB>kind:value<TAB>...", one line of
// output "type/attribute" for each argument, or "error". compare_specialisation.py holds it against Triton.
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <vector>

#include "triton_jit/kernel.h"

using namespace triton_jit;

namespace {

Argument parse(const std::string &text) {
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon), value = text.substr(colon + 1);
  if (kind == "none") return Argument(nullptr);
  if (kind == "bool") return Argument(value == "True");
  if (kind == "int") return value[0] == '-' ? Argument(std::strtoll(value.c_str(), nullptr, 10))
                                            : Argument(std::strtoull(value.c_str(), nullptr, 10));
  if (kind == "float") return Argument(std::strtod(value.c_str(), nullptr));
  if (kind == "text") return Argument(intern(value));
  for (int i = 0;; ++i)  // pointer to the named element type
    if (dtype_name(static_cast<DType>(i)) == kind)
      return Argument(reinterpret_cast<const void *>(std::strtoull(value.c_str(), nullptr, 10)), static_cast<DType>(i));
}

}  // namespace

int main() {
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream fields(line);
    std::string name;
    std::getline(fields, name, '\t');
    std::vector<Argument> arguments;
    for (std::string field; std::getline(fields, field, '\t');) arguments.push_back(parse(field));
    auto &kernel = kernels[name];
    if (!kernel) kernel = std::make_unique<Kernel>("jit_kernels", name);
    try {
      for (const auto &one : kernel->signature(arguments.data(), static_cast<int>(arguments.size())))
        std::cout << one.type << '/' << one.attribute << '\t';
    } catch (const ArgumentError &) {
      std::cout << "error";
    }
    std::cout << '\n';
  }
}
