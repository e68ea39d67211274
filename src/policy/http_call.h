// Network addresses, and the parsed words of curl, wget and similar: what they send, and where.
#pragma once

#include <string>
#include <vector>

#include "policy/rules.h"

namespace ralph {

// Whether an address refers to this machine: localhost:80, http://127.0.0.1/x.
bool is_local_host(std::string_view address);
// Whether a redirection goes to /dev/tcp/host/port. Sets `local` if that is on this machine.
bool goes_to_socket(const Subject& subject, bool& local);

struct HttpOption {
  std::string name;   // "-d" or "--data"; bundled letters are separated
  std::string value;  // empty if it takes none
};

struct HttpCall {
  std::vector<HttpOption> options;
  std::vector<std::string> addresses;  // operands; for curl also --url
};
HttpCall http_call(const Subject& subject);

// What an option sends.
struct Upload {
  enum class What { kNothing, kFile, kInput };
  What what = What::kNothing;
  std::string file;
};
Upload upload_of(const Subject& subject, const HttpOption& option);

}  // namespace ralph
