#include "sandbox/allowlist.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

#include "base/text.h"

namespace ralph {
namespace {

struct Block {
  std::string_view first;
  int bits;
};

// https://www.iana.org/assignments/iana-ipv4-special-registry, and its IPv6 counterpart. The last IPv4 entry is the
// virtual machine host of one of the large clouds.
constexpr std::array kPrivate4 = {Block{"0.0.0.0", 8},     Block{"10.0.0.0", 8},      Block{"100.64.0.0", 10},
                                  Block{"127.0.0.0", 8},   Block{"169.254.0.0", 16},  Block{"172.16.0.0", 12},
                                  Block{"192.0.0.0", 24},  Block{"192.0.2.0", 24},    Block{"192.168.0.0", 16},
                                  Block{"198.18.0.0", 15}, Block{"198.51.100.0", 24}, Block{"203.0.113.0", 24},
                                  Block{"224.0.0.0", 3},   Block{"168.63.129.16", 32}};
constexpr std::array kPrivate6 = {Block{"::", 8},      Block{"64:ff9b::", 32},  Block{"100::", 48},
                                  Block{"2001::", 23}, Block{"2001:db8::", 32}, Block{"2002::", 16},
                                  Block{"3fff::", 20}, Block{"5f00::", 16},     Block{"fc00::", 7},
                                  Block{"fe80::", 9},  Block{"ff00::", 8}};

bool has_prefix(const unsigned char* address, const unsigned char* first, int bits) {
  const auto whole = static_cast<size_t>(bits / 8);
  if (std::memcmp(address, first, whole) != 0) return false;
  const int rest = bits % 8;
  return rest == 0 || (address[whole] >> (8 - rest)) == (first[whole] >> (8 - rest));
}

template <class Blocks>
bool is_in_network(const Blocks& blocks, int family, const unsigned char* address) {
  return std::ranges::any_of(blocks, [&](const Block& block) {
    unsigned char first[16] = {};
    return ::inet_pton(family, std::string(block.first).c_str(), first) == 1 && has_prefix(address, first, block.bits);
  });
}

}  // namespace

std::string plain_host(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.ends_with('.')) host.remove_suffix(1);
  return to_lower(host);
}

bool is_host_name(std::string_view name) {
  if (name.empty() || name.size() > 253) return false;
  for (const std::string& label : split(name, '.')) {
    const bool good = !label.empty() && label.size() <= 63 && std::ranges::all_of(label, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
    if (!good) return false;
  }
  return true;
}

bool is_ip_address(std::string_view host) {
  if (host.find('\0') != std::string_view::npos) return false;
  unsigned char bytes[16];
  const std::string text(host);
  return ::inet_pton(AF_INET, text.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, text.c_str(), bytes) == 1;
}

bool is_private_address(std::string_view address) {
  unsigned char bytes[16] = {};
  const std::string text(address);
  if (::inet_pton(AF_INET, text.c_str(), bytes) == 1) return is_in_network(kPrivate4, AF_INET, bytes);
  if (::inet_pton(AF_INET6, text.c_str(), bytes) != 1) return true;  // not an address: treat as private
  return is_in_network(kPrivate6, AF_INET6, bytes);                  // ::/8 covers IPv4-mapped addresses
}

Result<Allowlist> Allowlist::from(const std::vector<std::string>& hosts,
                                  const std::map<std::string, std::string>& resolve) {
  Allowlist list;
  for (const std::string& text : hosts) {
    Entry entry;
    std::string_view rest = text;
    const bool several_colons = std::ranges::count(text, ':') > 1 && !text.starts_with('[');
    if (const size_t colon = rest.rfind(':');
        colon != std::string_view::npos && !several_colons && !rest.ends_with(']')) {
      const std::string_view digits = rest.substr(colon + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), entry.port);
      if (error != std::errc() || end != digits.data() + digits.size() || entry.port < 1 || entry.port > 65535)
        return fail(ErrorKind::kInput, "sandbox.hosts: \"{}\" has an invalid port; expected NAME or NAME:PORT", text);
      rest = rest.substr(0, colon);
    }
    if (rest.starts_with("*.")) {
      entry.below = true;
      rest.remove_prefix(2);
    }
    entry.name = plain_host(rest);
    if (!is_host_name(entry.name) && !is_ip_address(entry.name))
      return fail(ErrorKind::kInput,
                  "sandbox.hosts: \"{}\" is not a host; expected a name (*.name: all below it) or an address", text);
    list.entries_.push_back(std::move(entry));
  }
  for (const auto& [name, address] : resolve) {
    if (!is_ip_address(address))
      return fail(ErrorKind::kInput, "sandbox.resolve: {}: \"{}\" is not an address; expected e.g. 127.0.0.1", name,
                  address);
    list.resolve_[plain_host(name)] = address;
  }
  return list;
}

bool Allowlist::allows(std::string_view host, int port) const {
  const std::string name = plain_host(host);
  return std::ranges::any_of(entries_, [&](const Entry& entry) {
    if (entry.port == 0 ? port != 80 && port != 443 : port != entry.port) return false;
    return entry.below ? name.ends_with("." + entry.name) : name == entry.name;
  });
}

const std::string* Allowlist::address_of(std::string_view host) const {
  const auto found = resolve_.find(plain_host(host));
  return found == resolve_.end() ? nullptr : &found->second;
}

}  // namespace ralph
