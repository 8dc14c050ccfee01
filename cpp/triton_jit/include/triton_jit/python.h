// SPDX-License-Identifier: Apache-2.0
// The way to Triton's compiler: the interpreter of this process, or one of our own in a plain C++ program.
#pragma once

#include <string>
#include <vector>

namespace triton_jit {

// Sends one request to src/host.py and gives its answer; takes the interpreter lock. Throws Error with the Python
// message when the host raised.
std::string ask_python(const std::string &request);

// The text that function `module`.`name` of Python answers to texts (without tabs and line ends); for what is decided once
// and kept. Throws Error with Python's message.
std::string call_python(const std::string &module, const std::string &name, const std::vector<std::string> &arguments);

// Gives up the interpreter lock, if this thread holds it, for as long as the object lives: whoever waits for another
// thread's compilation must not hold what that thread needs.
class WithoutInterpreterLock {
 public:
  WithoutInterpreterLock();
  ~WithoutInterpreterLock();
  WithoutInterpreterLock(const WithoutInterpreterLock &) = delete;
  WithoutInterpreterLock &operator=(const WithoutInterpreterLock &) = delete;

 private:
  void *saved_ = nullptr;
};

}  // namespace triton_jit
