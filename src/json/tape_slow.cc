// The slow path for unusual lines: Boost.JSON reads them, after a repair if necessary.
#include <new>
#include <optional>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>

#include "json/repair.h"
#include "json/tape.h"

namespace ralph {
namespace {

constexpr size_t kMostMemory = 64 << 20;
constexpr size_t kMostDepth = 256;

// Stops a line crafted to exhaust memory: "[0,0,0,…" takes ten times its size as values.
class LimitedMemory final : public json::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > kMostMemory - used_) throw std::bad_alloc();
    used_ += bytes;
    return ::operator new(bytes, std::align_val_t(alignment));
  }
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override {
    used_ -= bytes;
    ::operator delete(memory, std::align_val_t(alignment));
  }
  bool do_is_equal(const json::memory_resource& other) const noexcept override { return this == &other; }

  size_t used_ = 0;
};

struct Outcome {
  std::optional<json::value> value;
  bool too_deep = false;
};

Outcome parse(std::string_view text, const json::storage_ptr& memory) {
  json::parse_options options;
  options.max_depth = kMostDepth;
  json::parser parser(memory, options);
  parser.reset(memory);
  boost::system::error_code error;
  parser.write(text, error);
  if (!error) return {parser.release()};
  return {std::nullopt, error == json::error::too_deep};
}

}  // namespace

const char* JsonTape::read_slowly(std::string_view line, const Wanted& wanted) {
  try {
    LimitedMemory limited;
    json::monotonic_resource memory(64 << 10, json::storage_ptr(&limited));
    Outcome outcome = parse(line, &memory);
    size_t bytes = line.size();
    if (!outcome.value) {
      const std::string repaired = repair_json(line);
      bytes = repaired.size();
      if (repaired != line) outcome = parse(repaired, &memory);
    }
    if (!outcome.value) return outcome.too_deep ? "nested too deeply" : "not JSON";
    if (!outcome.value->is_object()) return "not an object";
    size_ = 0;
    make_room(bytes);
    return copy(*outcome.value, {}, &wanted) ? nullptr : "too many values";
  } catch (const std::bad_alloc&) {
    return "too many values";
  }
}

bool JsonTape::copy(const json::value& value, std::string_view key, const Wanted* wanted) {
  const size_t self = size_;
  if (self >= kMostNodes) return false;
  JsonNode node;
  node.key = keep(key);
  switch (value.kind()) {
    case json::kind::null:
      break;
    case json::kind::bool_:
      node.kind = JsonKind::kBool;
      node.integer = value.get_bool() ? 1 : 0;
      break;
    case json::kind::int64:
      node.kind = JsonKind::kInteger;
      node.integer = value.get_int64();
      break;
    case json::kind::uint64:
      node.kind = JsonKind::kReal;
      node.real = static_cast<double>(value.get_uint64());
      break;
    case json::kind::double_:
      node.kind = JsonKind::kReal;
      node.real = value.get_double();
      break;
    case json::kind::string:
      node.kind = JsonKind::kString;
      node.text = keep({value.get_string().data(), value.get_string().size()});
      break;
    case json::kind::array:
      node.kind = JsonKind::kArray;
      break;
    case json::kind::object:
      node.kind = JsonKind::kObject;
      break;
  }
  add_node() = node;
  if (wanted == later_) wanted = nullptr;  // it has already been read
  if (wanted && wanted->none()) return true;
  if (const json::array* array = value.if_array()) {
    for (const json::value& element : *array) {
      if (!copy(element, {}, wanted)) return false;
    }
  } else if (const json::object* object = value.if_object()) {
    for (const json::key_value_pair& member : *object) {
      const std::string_view name(member.key().data(), member.key().size());
      const WantedKey* found = wanted ? wanted->find(name) : nullptr;
      if (wanted && !found) continue;
      if (!copy(member.value(), name, found ? found->inside : nullptr)) return false;
    }
  }
  nodes_.get()[self].span = static_cast<std::uint32_t>(size_ - self);
  return true;
}

std::string_view JsonTape::keep(std::string_view text) {
  char* const begin = texts_.get() + texts_size_;
  if (!text.empty()) std::memcpy(begin, text.data(), text.size());
  texts_size_ += text.size();
  return {begin, text.size()};
}

}  // namespace ralph
