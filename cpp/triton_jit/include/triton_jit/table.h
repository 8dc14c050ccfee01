// SPDX-License-Identifier: Apache-2.0
// From a packed key to a compiled kernel: readers take no lock and allocate nothing.
//
// Entries are never changed or freed once published; when the table is full, a larger one with the same entries takes its
// place and the old one stays for readers that are still in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

namespace triton_jit {

// The words that tell one compiled kernel from another; built on the caller's stack.
class Key {
 public:
  static constexpr int kMostWords = 72;

  void add(std::uint64_t word) { words_[count_++] = word; }
  int count() const { return count_; }
  const std::uint64_t *words() const { return words_; }
  bool full() const { return count_ == kMostWords; }

  std::uint64_t hash() const {
    std::uint64_t value = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(count_);
    for (int i = 0; i < count_; ++i) {
      const auto wide = static_cast<unsigned __int128>(words_[i] ^ value) * 0xd6e8feb86659fd93u;
      value = static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64) ^ 0x2545f4914f6cdd1du;
    }
    return value;
  }

 private:
  int count_ = 0;
  std::uint64_t words_[kMostWords];
};

template <class Value>
class Table {
 public:
  struct Entry {
    std::uint64_t hash;
    std::vector<std::uint64_t> words;
    Value value;

    bool is(std::uint64_t wanted, const Key &key) const {
      return hash == wanted && words.size() == static_cast<std::size_t>(key.count()) &&
             std::memcmp(words.data(), key.words(), words.size() * sizeof(std::uint64_t)) == 0;
    }
  };

  Table() { grow(16); }

  const Value *find(const Key &key, std::uint64_t hash) const {
    const Slots &slots = *current_.load(std::memory_order_acquire);
    for (std::uint64_t i = hash;; ++i) {
      const Entry *entry = slots.at[i & slots.mask].load(std::memory_order_acquire);
      if (!entry) return nullptr;
      if (entry->is(hash, key)) return &entry->value;
    }
  }

  // Publishes `value` unless another thread already did for this key; answers what is published.
  const Value *insert(const Key &key, std::uint64_t hash, Value value) {
    std::lock_guard lock(mutex_);
    if (const Value *found = find(key, hash)) return found;
    if (2 * (entries_.size() + 1) > current_.load(std::memory_order_relaxed)->mask) grow(4 * entries_.size() + 16);
    entries_.push_back(std::make_unique<Entry>(
        Entry{hash, {key.words(), key.words() + key.count()}, std::move(value)}));
    place(*current_.load(std::memory_order_relaxed), entries_.back().get());
    return &entries_.back()->value;
  }

  std::size_t size() const {
    std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  struct Slots {
    std::uint64_t mask;
    std::unique_ptr<std::atomic<const Entry *>[]> at;
  };

  static void place(Slots &slots, const Entry *entry) {
    std::uint64_t i = entry->hash;
    while (slots.at[i & slots.mask].load(std::memory_order_relaxed)) ++i;
    slots.at[i & slots.mask].store(entry, std::memory_order_release);
  }

  void grow(std::size_t least) {
    std::size_t size = 16;
    while (size < least) size *= 2;
    auto slots = std::make_unique<Slots>();
    slots->mask = size - 1;
    slots->at = std::make_unique<std::atomic<const Entry *>[]>(size);
    for (const auto &entry : entries_) place(*slots, entry.get());
    current_.store(slots.get(), std::memory_order_release);
    all_.push_back(std::move(slots));
  }

  mutable std::mutex mutex_;
  std::atomic<Slots *> current_{nullptr};
  std::vector<std::unique_ptr<Slots>> all_;
  std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace triton_jit
