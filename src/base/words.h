// Enums and their spelling: code compares enums; words are for files and people, and are defined once.
//
//   enum class Fruit { kApple, kPear };
//   template <>
//   inline constexpr auto kWords<Fruit> = words({"apple", "pear"});
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace ralph {

template <size_t N>
constexpr std::array<std::string_view, N> words(const std::string_view (&all)[N]) {
  return std::to_array(all);
}

// The words of E in the order of its values.
template <class E>
inline constexpr int kWords = 0;
template <class E>
concept Worded = requires { kWords<E>.size(); };

template <Worded E>
constexpr std::string_view to_string(E value) {
  return kWords<E>[static_cast<size_t>(value)];
}

template <Worded E>
constexpr std::optional<E> find_word(std::string_view word) {
  const auto& all = kWords<E>;
  const auto found = std::find(all.begin(), all.end(), word);
  if (found == all.end()) return std::nullopt;
  return static_cast<E>(found - all.begin());
}

// nullopt for an unknown word: a newer version may have more.
template <Worded E>
constexpr std::optional<E> from_word(std::string_view word) {
  return find_word<E>(word);
}

}  // namespace ralph
