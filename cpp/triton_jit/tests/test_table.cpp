// SPDX-License-Identifier: Apache-2.0
// The table under many threads; meant to run under ThreadSanitizer too, so without Python.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "triton_jit/table.h"

using namespace triton_jit;

namespace {

Key key_of(std::uint64_t number) {
  Key key;
  for (int i = 0; i < 9; ++i) key.add(number >> (7 * i));
  return key;
}

TEST(Table, ReadersSeeWholeEntriesWhileItGrows) {
  Table<std::uint64_t> table;
  constexpr std::uint64_t kKeys = 3000;
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> found{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 0; i < kKeys; ++i) {
        const std::uint64_t number = thread % 2 ? kKeys - 1 - i : i;
        const Key key = key_of(number);
        table.insert(key, key.hash(), number);
        const Key other = key_of((number * 7919) % kKeys);
        if (const auto *value = table.find(other, other.hash())) {
          ASSERT_EQ(*value, (number * 7919) % kKeys);
          ++found;
        }
      }
    });
  for (auto &thread : threads) thread.join();
  EXPECT_EQ(table.size(), kKeys);
  EXPECT_GT(found, kKeys);
}

TEST(Table, EqualHashesOfDifferentKeysStayApart) {
  Table<int> table;
  table.insert(key_of(1), 5, 1);
  table.insert(key_of(2), 5, 2);
  EXPECT_EQ(*table.find(key_of(1), 5), 1);
  EXPECT_EQ(*table.find(key_of(2), 5), 2);
  EXPECT_EQ(table.find(key_of(3), 5), nullptr);
  EXPECT_EQ(*table.insert(key_of(2), 5, 3), 2);
}

}  // namespace
