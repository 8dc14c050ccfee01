// SPDX-License-Identifier: Apache-2.0
#include "aten_patch.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <torch/library.h>
#include <torch/version.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "aten_functions.h"
#include "native.h"

// The way to the kernel that a registration hides came with this release.
#if TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 10)
#error "aten_patch needs torch 2.10 or newer: configure with -DFLAGGEMS_BUILD_ATEN_PATCH=OFF"
#endif

namespace flag_gems {

namespace {

// torch's own kernel of each patched operator, taken before it is replaced. Never freed: a thread may be in it while
// another gives the operator back.
struct Original {
  c10::OperatorHandle op;
  c10::SafeKernelFunction kernel;
};

struct Patch {
  const char *name;
  void (*implement)(torch::Library &, const char *);
  std::atomic<const Original *> *original;
};

template <class F>
struct Signature;
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Return = R;
};

// The argument that an in-place or out= operator gives back.
template <class First, class... Rest>
at::Tensor &written(First &&first, Rest &&...rest) {
  if constexpr (std::is_same_v<First, at::Tensor &>) return first;
  else return written(std::forward<Rest>(rest)...);
}

template <auto *F>
struct Replacement {
  inline static std::atomic<const Original *> original{nullptr};

  template <class Return, class... Arguments>
  static Return call(c10::DispatchKeySet keys, Arguments... arguments) {
    if (InsideOperator::now()) {
      torch::jit::Stack stack;
      torch::jit::push(stack, arguments...);
      const Original &own = *original.load(std::memory_order_acquire);
      own.kernel.callBoxed(own.op, keys, &stack);
      if constexpr (std::is_same_v<Return, at::Tensor &>) return written(std::forward<Arguments>(arguments)...);
      else return unpack<Return>(stack);
    }
    InsideOperator inside;
    return F(std::forward<Arguments>(arguments)...);
  }

  template <class Return>
  static Return unpack(torch::jit::Stack &stack) {
    if constexpr (std::is_same_v<Return, std::tuple<at::Tensor, at::Tensor>>)
      return {stack[0].toTensor(), stack[1].toTensor()};
    else return stack[0].to<Return>();
  }

  template <class Return, class... Arguments>
  static void implement(torch::Library &library, const char *name, Return (*)(Arguments...)) {
    using Kernel = Return(c10::DispatchKeySet, Arguments...);
    library.impl(name, torch::CppFunction(c10::CompileTimeFunctionPointer<Kernel, &call<Return, Arguments...>>()));
  }

  static Patch patch(const char *name) {
    return {name, [](torch::Library &library, const char *op) { implement(library, op, F); }, &original};
  }
};

const Patch kPatches[] = {
#define FLAG_GEMS_PATCH(name, function) Replacement<&aten::function>::patch(name),
    FLAG_GEMS_ATEN_FUNCTIONS(FLAG_GEMS_PATCH)
#undef FLAG_GEMS_PATCH
};

std::mutex mutex;
std::map<std::string, std::unique_ptr<torch::Library>> &active() {
  static auto &libraries = *new std::map<std::string, std::unique_ptr<torch::Library>>;
  return libraries;
}

bool matches(const std::string &wanted, const std::string &name) {
  return wanted == name || wanted == name.substr(0, name.find('.'));
}

void replace(const Patch &patch, c10::DispatchKey key) {
  const std::string name = patch.name;
  const auto dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name.substr(0, dot)).c_str(), overload.c_str());
  patch.original->store(new Original{op, op.getComputedKernelForDispatchKey(key)}, std::memory_order_release);
  auto library = std::make_unique<torch::Library>(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
  // Replacing torch's kernel is what was asked for; torch warns of it.
  struct Silent : c10::WarningHandler {
    void process(const c10::Warning &) override {}
  } silent;
  c10::WarningUtils::WarningHandlerGuard guard(&silent);
  patch.implement(*library, patch.name);
  active()[name] = std::move(library);
}

}  // namespace

std::vector<std::string> patchable() {
  std::vector<std::string> names;
  for (const Patch &patch : kPatches) names.emplace_back(patch.name);
  return names;
}

std::vector<std::string> patched() {
  std::lock_guard lock(mutex);
  std::vector<std::string> names;
  for (const auto &[name, library] : active()) names.push_back(name);
  return names;
}

bool enable_patch(const std::string &name, c10::DispatchKey key) {
  std::lock_guard lock(mutex);
  bool known = false, changed = false;
  for (const Patch &patch : kPatches) {
    if (!matches(name, patch.name)) continue;
    known = true;
    if (active().count(patch.name)) continue;
    replace(patch, key);
    changed = true;
  }
  TORCH_CHECK_VALUE(known, "aten_patch: ", name, " is not one of the operators that can be replaced; see patchable()");
  return changed;
}

bool disable_patch(const std::string &name) {
  std::lock_guard lock(mutex);
  bool changed = false;
  for (const Patch &patch : kPatches)
    if (matches(name, patch.name)) changed |= active().erase(patch.name) > 0;
  return changed;
}

}  // namespace flag_gems
