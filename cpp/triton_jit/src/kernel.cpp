// SPDX-License-Identifier: Apache-2.0
#include "triton_jit/kernel.h"

#include <cstdio>
#include <fstream>
#include <mutex>
#include <sstream>
#include <vector>

#include "active_backend.h"
#include "triton_jit/python.h"
#include "triton_jit/table.h"

namespace triton_jit {

static_assert(Backend<ActiveBackend>);

namespace {

// What is kept of one compiled specialisation: its function, and which arguments go where.
struct Compiled {
  ActiveBackend::Function function;
  std::vector<std::uint8_t> argument;  // index of the argument behind each slot
  std::vector<Slot> slot;
};

std::vector<std::vector<std::string>> rows_of(const std::string &text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::size_t from = 0;
    for (std::size_t at; (at = line.find('\t', from)) != std::string::npos; from = at + 1)
      fields.push_back(line.substr(from, at - from));
    fields.push_back(line.substr(from));
    rows.push_back(std::move(fields));
  }
  return rows;
}

// The answer behind "ok"; `fail` makes the exception of the message behind "error".
template <class Fail>
std::string ask(const std::string &request, Fail fail) {
  const std::string answer = ask_python(request);
  const std::size_t end = answer.find('\n');
  const std::string rest = end == std::string::npos ? "" : answer.substr(end + 1);
  if (answer.compare(0, end, "ok") != 0) throw fail(rest);
  return rest;
}

std::string real_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

// Kind and value of a constant, as host.py reads them.
std::string constant_text(const Argument &argument) {
  switch (argument.kind) {
    case Kind::none: return "literal\tNone";
    case Kind::boolean: return argument.integer ? "literal\tTrue" : "literal\tFalse";
    case Kind::integer: return "literal\t" + std::to_string(argument.integer);
    case Kind::unsigned_integer: return "literal\t" + std::to_string(argument.bits);
    case Kind::real: return "real\t" + real_text(argument.real);
    case Kind::text: return "text\t" + std::string(argument.text->value);
    case Kind::function: return "function\t" + std::string(argument.text->value);
    case Kind::dtype: return "dtype\t" + std::string(dtype_name(argument.dtype));
    default: return "literal\tNone";
  }
}

ScratchAllocator &allocator() {
  static ScratchAllocator current;
  return current;
}

}  // namespace

void set_scratch_allocator(ScratchAllocator given) { allocator() = std::move(given); }
const ScratchAllocator &scratch_allocator() { return allocator(); }

std::int64_t Binary::number(const std::string &field, std::int64_t otherwise) const {
  const auto found = metadata.find(field);
  return found == metadata.end() ? otherwise : std::strtoll(found->second.c_str(), nullptr, 10);
}

std::string Binary::bytes() const {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) throw LaunchError("triton_jit: cannot read " + path + " of Triton's cache");
  return content.str();
}

struct Kernel::State {
  std::string module, name, expected;
  std::atomic<bool> is_described{false};
  std::vector<Parameter> parameters;
  Table<Compiled> table;
  std::mutex compiling;

  void describe() {
    WithoutInterpreterLock released;
    std::lock_guard lock(compiling);
    if (is_described.load(std::memory_order_relaxed)) return;
    const auto fail = [&](const std::string &message) {
      return CompileError("kernel " + module + "." + name + " cannot be read: " + message);
    };
    std::vector<Parameter> found;
    std::string names;
    for (const auto &row : rows_of(ask("describe\n" + module + "\t" + name, fail))) {
      found.push_back({row.at(0), row.at(1) == "1", row.at(2) == "1", row.at(3) == "1", row.at(4) == "1", row.at(6),
                       row.at(5) == "1"});
      names += (names.empty() ? "" : " ") + row[0];
    }
    if (!expected.empty() && names != expected)
      throw fail("its parameters are (" + names + "), the caller was written for (" + expected + ")");
    parameters = std::move(found);
    is_described.store(true, std::memory_order_release);
  }

  void check_count(int count) const {
    if (static_cast<std::size_t>(count) != parameters.size())
      throw ArgumentError("kernel " + name + " takes " + std::to_string(parameters.size()) + " arguments, not " +
                          std::to_string(count));
  }

  // Packs what tells specialisations apart: launch options and device, eight codes a word, values of constants.
  void pack(const Launch &launch, const Argument *arguments, int count, Key &key, Code *codes) const {
    std::uint64_t options = static_cast<std::uint32_t>(launch.device);
    if constexpr (ActiveBackend::has_warps)
      options |= static_cast<std::uint64_t>(launch.num_warps) << 32 |
                 static_cast<std::uint64_t>(launch.num_stages) << 40 |
                 static_cast<std::uint64_t>(launch.num_ctas) << 48;
    key.add(options);
    key.add(ActiveBackend::context());
    std::uint64_t word = 0;
    std::uint64_t values[Kernel::kMostArguments];
    int number_of_values = 0;
    for (int i = 0; i < count; ++i) {
      codes[i] = specialise(parameters[i], arguments[i]);
      word |= static_cast<std::uint64_t>(codes[i]) << (8 * (i % 8));
      if (i % 8 == 7) {
        key.add(word);
        word = 0;
      }
      if (code::has_value(codes[i])) values[number_of_values++] = arguments[i].bits;
    }
    if (count % 8) key.add(word);
    for (int i = 0; i < number_of_values; ++i) {
      if (key.full()) throw ArgumentError("kernel " + name + " has more arguments than a key holds");
      key.add(values[i]);
    }
  }

  std::vector<Specialisation> specialisations(const Code *codes, int count) const {
    std::vector<Specialisation> result;
    for (int i = 0; i < count; ++i) result.push_back(triton_jit::describe(parameters[i], codes[i]));
    return result;
  }

  Compiled compile(const Launch &launch, const Argument *arguments, const Code *codes, int count) const {
    std::ostringstream request;
    request << "compile\n" << module << '\t' << name << '\n' << ActiveBackend::extension << '\t' << launch.num_warps
            << '\t' << launch.num_stages << '\t' << launch.num_ctas << '\n';
    std::string signature;
    Compiled result;
    const std::vector<Specialisation> types = specialisations(codes, count);
    for (int i = 0; i < count; ++i) {
      const bool is_constant = types[i].type == "constexpr";
      const std::string value = is_constant ? constant_text(arguments[i]) : "-\t-";
      request << types[i].type << '\t' << types[i].attribute << '\t' << value << '\n';
      signature += (i ? ", " : "") + parameters[i].name + ": " + types[i].type;
      if (is_constant) signature += " = " + value.substr(value.find('\t') + 1);
      if (types[i].attribute == "D") signature += " % 16";
      const Slot slot = slot_of(types[i]);
      if (slot == Slot::skip) continue;
      result.argument.push_back(static_cast<std::uint8_t>(i));
      result.slot.push_back(slot);
    }
    const auto fail = [&](const std::string &message) {
      return CompileError("kernel " + module + "." + name + "(" + signature + ") does not compile: " + message);
    };
    Binary binary;
    for (const auto &row : rows_of(ask(request.str(), fail)))
      if (row.size() == 2) binary.metadata[row[0]] = row[1];
    binary.path = binary.metadata["path"];
    binary.name = binary.metadata["name"];
    result.function = ActiveBackend::load(binary);
    return result;
  }

  const Compiled &compiled(const Launch &launch, const Argument *arguments, const Code *codes, int count,
                           const Key &key, std::uint64_t hash) {
    WithoutInterpreterLock released;
    // One compilation of a kernel at a time: threads that race for the first call wait for its result.
    std::lock_guard lock(compiling);
    if (const Compiled *found = table.find(key, hash)) return *found;
    return *table.insert(key, hash, compile(launch, arguments, codes, count));
  }
};

Kernel::Kernel(std::string module, std::string name, std::string parameters)
    : module_(std::move(module)), name_(std::move(name)), parameters_(std::move(parameters)),
      owned_(std::make_unique<State>()) {
  owned_->module = module_;
  owned_->name = name_;
  owned_->expected = parameters_;
}

Kernel::~Kernel() = default;

Kernel::State &Kernel::state() {
  if (!owned_->is_described.load(std::memory_order_acquire)) owned_->describe();
  return *owned_;
}

std::size_t Kernel::size() const { return owned_->table.size(); }

std::vector<Specialisation> Kernel::signature(const Argument *arguments, int count) {
  State &self = state();
  self.check_count(count);
  std::vector<Code> codes;
  for (int i = 0; i < count; ++i) codes.push_back(specialise(self.parameters[i], arguments[i]));
  return self.specialisations(codes.data(), count);
}

void Kernel::run(const Launch &launch, const Argument *arguments, int count) {
  if (launch.grid.x == 0 || launch.grid.y == 0 || launch.grid.z == 0) return;
  State &self = state();
  self.check_count(count);
  Key key;
  Code codes[kMostArguments];
  self.pack(launch, arguments, count, key, codes);
  const std::uint64_t hash = key.hash();
  const Compiled *compiled = self.table.find(key, hash);
  if (!compiled) [[unlikely]] compiled = &self.compiled(launch, arguments, codes, count, key, hash);
  std::uint64_t slots[kMostArguments + 2];
  const int used = static_cast<int>(compiled->slot.size());
  for (int i = 0; i < used; ++i) slots[i] = slot_value(arguments[compiled->argument[i]], compiled->slot[i]);
  ActiveBackend::launch(compiled->function, launch.grid, launch.stream, slots, used);
}

}  // namespace triton_jit
