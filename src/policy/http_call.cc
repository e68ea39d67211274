#include "policy/http_call.h"

#include <array>

#include "base/text.h"
#include "policy/command_words.h"

namespace ralph {
namespace {

// The options of a program that take a value, so that the value is not mistaken for an address.
struct Client {
  std::string_view name;
  std::string_view valued;       // letters
  std::string_view valued_long;  // separated by blanks
};
constexpr std::array kClients = {
    Client{"curl", "AbcCdDeEFHKmoPQrtTuUwxXyYz",
           "abstract-unix-socket aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to "
           "continue-at cookie cookie-jar create-file-mode data data-ascii data-binary data-raw data-urlencode "
           "dns-servers doh-url dump-header expect100-timeout form form-string header interface json keepalive-time "
           "key key-type limit-rate local-port mail-from mail-rcpt max-filesize max-redirs max-time netrc-file noproxy "
           "oauth2-bearer output output-dir parallel-max pass pinnedpubkey preproxy proto proto-default proxy "
           "proxy-header proxy-user quote range rate referer request request-target resolve retry retry-delay "
           "retry-max-time socks4 socks4a socks5 socks5-hostname speed-limit speed-time stderr time-cond tls-max "
           "trace trace-ascii unix-socket upload-file url url-query user user-agent variable write-out"},
    Client{"wget", "aABDeGiIlOoPQRtTUwX",
           "body-data body-file ca-certificate certificate header input-file method output-document output-file "
           "password post-data post-file private-key proxy-password quota referer timeout tries user user-agent wait "
           "directory-prefix"},
    Client{"", "oatxs", "auth auth-type body file output session timeout verify cert proxy raw print pretty"}};

const Client& client_of(std::string_view program) {
  for (const Client& one : kClients) {
    if (one.name == program) return one;
  }
  return kClients.back();
}

}  // namespace

bool is_local_host(std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://", "ftp://", "ws://", "tcp://"}) {
    if (host.starts_with(scheme)) host.remove_prefix(scheme.size());
  }
  if (const size_t at = host.substr(0, host.find('/')).find('@'); at != std::string_view::npos)
    host.remove_prefix(at + 1);
  for (const std::string_view local : {"localhost", "127.", "0.0.0.0", "[::1]", "::1", "host.docker.internal"}) {
    if (!host.starts_with(local)) continue;
    if (local.ends_with('.')) return true;
    const std::string_view rest = host.substr(local.size());
    return rest.empty() || rest[0] == ':' || rest[0] == '/' || rest[0] == '?';
  }
  return false;
}

bool goes_to_socket(const Subject& subject, bool& local) {
  for (const ShellRedirection& one : subject.command.redirections) {
    for (const std::string_view prefix : {"/dev/tcp/", "/dev/udp/"}) {
      if (!one.target.text.starts_with(prefix)) continue;
      local = is_local_host(std::string_view(one.target.text).substr(prefix.size()));
      return true;
    }
  }
  return false;
}

HttpCall http_call(const Subject& subject) {
  const Client& client = client_of(subject.program);
  HttpCall call;
  bool only_addresses = false;
  for (size_t i = 1; i < subject.command.words.size(); ++i) {
    const std::string& word = subject.command.word(i);
    if (only_addresses || !is_option(word)) {
      call.addresses.push_back(word);
    } else if (word == "--") {
      only_addresses = true;
    } else if (word.starts_with("--")) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (equals == std::string::npos && is_listed(client.valued_long, name.substr(2)))
        value = subject.command.word(++i);
      if (name == "--url") call.addresses.push_back(value);
      call.options.push_back({name, value});
    } else {
      for (size_t at = 1; at < word.size(); ++at) {
        const std::string name = {'-', word[at]};
        if (!contains(client.valued, word[at])) {
          call.options.push_back({name, ""});
          continue;
        }
        call.options.push_back({name, at + 1 < word.size() ? word.substr(at + 1) : subject.command.word(++i)});
        break;
      }
    }
  }
  return call;
}

Upload upload_of(const Subject& subject, const HttpOption& option) {
  using What = Upload::What;
  const bool is_curl = subject.program == "curl";
  const std::string &name = option.name, &value = option.value;
  std::string file;
  if ((is_curl && (name == "-T" || name == "--upload-file")) || name == "--post-file" || name == "--body-file") {
    file = value == "." ? "-" : value;
  } else if (name == "--data-raw" || name == "--form-string") {
    return {};                                                       // @ has no meaning in these
  } else if (name == "--data-urlencode" || name == "--url-query") {  // name@file
    const size_t at = value.find_first_of("@=");
    if (at != std::string::npos && value[at] == '@') file = value.substr(at + 1);
  } else if ((is_curl && name == "-d") || name.starts_with("--data") || name == "--json") {
    if (value.starts_with('@')) file = value.substr(1);
  } else if ((is_curl && name == "-F") || name == "--form") {  // name=@file;type=x, name=<file
    const size_t at = std::min(value.find("=@"), value.find("=<"));
    if (at != std::string::npos) file = value.substr(at + 2, value.find(';', at) - at - 2);
  }
  if (file.empty()) return {};
  return file == "-" || file == "/dev/stdin" ? Upload{What::kInput, ""} : Upload{What::kFile, file};
}

}  // namespace ralph
