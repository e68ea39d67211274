// Which hosts a program in a sandbox may reach, by name and port.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ralph {

class Allowlist {
 public:
  // Entries: "name", "*.name" (any subdomain, but not the name itself) or "1.2.3.4", each with an optional ":port";
  // without one, ports 80 and 443 are allowed. `resolve` maps names to addresses, which need not be public.
  static Result<Allowlist> from(const std::vector<std::string>& hosts,
                                const std::map<std::string, std::string>& resolve);

  bool allows(std::string_view host, int port) const;
  const std::string* address_of(std::string_view host) const;  // from `resolve`; nullptr if absent

 private:
  struct Entry {
    std::string name;
    bool below = false;
    int port = 0;  // 0: 80 and 443
  };
  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> resolve_;
};

bool is_ip_address(std::string_view host);

// Dot-separated lower-case labels of letters, digits, "-" and "_". Anything that is neither such a name nor an address
// is not a host: the lookup functions stop at a NUL and would ignore the rest.
bool is_host_name(std::string_view name);

// True for addresses of this machine, a private network or no network at all: everything that is not on the public
// Internet.
bool is_private_address(std::string_view address);

// In lower case, without a trailing dot and without the brackets of [::1].
std::string plain_host(std::string_view host);

}  // namespace ralph
