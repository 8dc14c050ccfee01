// SPDX-License-Identifier: Apache-2.0
// CPython through names looked up at run time: inside Python the process has them, and linking libpython would load a
// second interpreter; a plain C++ program gets them from the shared library.
#include "triton_jit/python.h"

#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "triton_jit/errors.h"

namespace triton_jit {

namespace {

using Object = void *;

struct Api {
  void *library;

  template <class F>
  F *get(const char *name) const {
    auto *found = reinterpret_cast<F *>(dlsym(library, name));
    if (!found) throw Error(std::string("triton_jit: this Python lacks ") + name);
    return found;
  }
};

constexpr const char *kHost =
#include "host.py.inc"
    ;

std::string library_path() {
  const char *given = std::getenv("TRITON_JIT_LIBPYTHON");
  return given && *given ? given : TRITON_JIT_LIBPYTHON;
}

bool in_process() { return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != nullptr; }

const Api &api() {
  static const Api found = [] {
    if (in_process()) return Api{RTLD_DEFAULT};
    const std::string path = library_path();
    // Global: Python's own extension modules look for its symbols there.
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      throw Error("triton_jit: cannot load Python to compile a kernel (" + std::string(dlerror()) +
                  "); set TRITON_JIT_LIBPYTHON to its libpython");
    return Api{library};
  }();
  return found;
}

Object checked(const Api &python, Object object) {
  if (!object) {
    python.get<void()>("PyErr_Print")();
    throw Error("triton_jit: Python failed (its traceback is on stderr)");
  }
  return object;
}

// The function `answer` of host.py; the caller holds the interpreter lock, which also makes this once.
Object host(const Api &python) {
  static Object answer = nullptr;
  if (answer) return answer;
  Object module = checked(python, python.get<Object(const char *)>("PyImport_AddModule")("triton_jit_host"));
  Object names = python.get<Object(Object)>("PyModule_GetDict")(module);
  constexpr int kFileInput = 257;
  using Run = Object(const char *, int, Object, Object);
  checked(python, python.get<Run>("PyRun_String")(kHost, kFileInput, names, names));
  answer = checked(python, python.get<Object(Object, const char *)>("PyObject_GetAttrString")(module, "answer"));
  return answer;
}

// An interpreter for a program that has none, with the packages of the environment that this library was built in.
void start(const Api &python) {
  if (python.get<int()>("Py_IsInitialized")()) return;
  python.get<void(int)>("Py_InitializeEx")(0);
  const char *given = std::getenv("TRITON_JIT_PYTHONPATH");
  const std::string folders = given && *given ? given : TRITON_JIT_PYTHONPATH;
  const std::string code = "import site\nfor folder in r'''" + folders + "'''.split(':'):\n    site.addsitedir(folder)\n";
  python.get<int(const char *, void *)>("PyRun_SimpleStringFlags")(code.c_str(), nullptr);
  python.get<void *()>("PyEval_SaveThread")();
}

}  // namespace

WithoutInterpreterLock::WithoutInterpreterLock() {
  if (!in_process()) return;
  const Api &python = api();
  if (python.get<int()>("Py_IsInitialized")() && python.get<int()>("PyGILState_Check")())
    saved_ = python.get<void *()>("PyEval_SaveThread")();
}

WithoutInterpreterLock::~WithoutInterpreterLock() {
  if (saved_) api().get<void(void *)>("PyEval_RestoreThread")(saved_);
}

std::string ask_python(const std::string &request) {
  const Api &python = api();
  static std::once_flag started;
  {
    WithoutInterpreterLock released;
    std::call_once(started, start, python);
  }
  struct Lock {
    const Api &python;
    int state = python.get<int()>("PyGILState_Ensure")();
    ~Lock() { python.get<void(int)>("PyGILState_Release")(state); }
  } lock{python};

  Object function = host(python);
  Object text = checked(
      python, python.get<Object(const char *, long)>("PyUnicode_FromStringAndSize")(request.data(), request.size()));
  Object result = python.get<Object(Object, Object)>("PyObject_CallOneArg")(function, text);
  python.get<void(Object)>("Py_DecRef")(text);
  checked(python, result);
  long size = 0;
  const char *data = python.get<const char *(Object, long *)>("PyUnicode_AsUTF8AndSize")(result, &size);
  std::string answer(data, static_cast<std::size_t>(size));
  python.get<void(Object)>("Py_DecRef")(result);
  return answer;
}

std::string call_python(const std::string &module, const std::string &name, const std::vector<std::string> &arguments) {
  std::string request = "call\n" + module + '\t' + name;
  for (const std::string &argument : arguments) request += '\t' + argument;
  const std::string answer = ask_python(request);
  const std::size_t end = answer.find('\n');
  if (answer.compare(0, end, "ok") != 0) throw Error(module + "." + name + ": " + answer.substr(end + 1));
  return answer.substr(end + 1);
}

}  // namespace triton_jit
