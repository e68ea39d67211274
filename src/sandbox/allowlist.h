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
  // Entries: "name", "*.name" (any name below it, not itself), "1.2.3.4", each with ":port" or for the ports 80 and
  // 443. `resolve`: addresses for names; they need not be public.
  static Result<Allowlist> from(const std::vector<std::string>& hosts,
                                const std::map<std::string, std::string>& resolve);

  bool allows(std::string_view host, int port) const;
  const std::string* address_of(std::string_view host) const;  // from `resolve`; nullptr: none

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

// Labels of letters, digits, "-" and "_", in lower case, with dots between them. What is no such name and no address
// is no host: the functions that look names up end at a NUL, and would take the rest for nothing.
bool is_host_name(std::string_view name);

// Whether it is an address of this machine, of a private network or of no network: not of the Internet.
bool is_private_address(std::string_view address);

// Lower case, without a final dot and without the brackets of [::1].
std::string plain_host(std::string_view host);

}  // namespace ralph
