#include "sandbox/refusals.h"

#include <algorithm>

#include "base/text.h"
#include "json/value.h"

namespace ralph {
namespace {

constexpr size_t kMostLogBytes = 1 << 20;

std::string advice_for(const Refusal& refusal) {
  const bool usual = refusal.port == 443 || refusal.port == 80;
  if (refusal.why == kNotListed)
    return fmt::format("to allow it, add \"{}\" to sandbox.hosts",
                       usual ? refusal.host : host_and_port(refusal.host, refusal.port));
  if (refusal.why == kPrivateAddress)
    return fmt::format("to allow it, add \"{}\" with its address to sandbox.resolve", refusal.host);
  if (refusal.why == kNoTls) return "port 443 carries TLS only";
  return "a tunnel carries TLS for its own host only";
}

}  // namespace

std::string host_and_port(std::string_view host, int port) {
  const bool bare = host.find(':') != std::string_view::npos && !host.starts_with('[');
  return bare ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

RefusalLog::RefusalLog(const std::string& path) {
  if (path.empty()) return;
  if (auto file = open_for_append(path)) file_ = *std::move(file);
}

void RefusalLog::add(const std::string& host, int port, std::string_view why, const Clock& clock) {
  const std::string line = to_compact_json(json::object{{"time", to_iso8601(clock.wall())},
                                                        {"host", to_json_string(host.substr(0, 256))},
                                                        {"port", port},
                                                        {"why", why}}) +
                           "\n";
  if (!file_ || written_ + line.size() > kMostLogBytes) return;
  written_ += line.size();
  static_cast<void>(write_all(file_.get(), line, "the proxy's log"));
}

std::vector<Refusal> read_refusals(const std::string& log) {
  std::vector<Refusal> refusals;
  for (const std::string& line : split(read_file(log).value_or(""), '\n')) {
    const auto value = line.empty() ? Result<json::value>(tl::unexpected<Error>(Error{})) : parse_json(line, log);
    if (!value) continue;
    const Refusal one{std::string(find_string(*value, "host").value_or("?")),
                      static_cast<int>(find_integer(*value, "port").value_or(0)),
                      std::string(find_string(*value, "why").value_or("")), 1};
    const auto same = std::ranges::find_if(refusals, [&](const Refusal& known) {
      return known.host == one.host && known.port == one.port && known.why == one.why;
    });
    if (same == refusals.end()) {
      refusals.push_back(one);
    } else {
      ++same->count;
    }
  }
  return refusals;
}

std::string describe(const Refusal& refusal) {
  return fmt::format("blocked {} to {} ({}); {}", count_of(static_cast<unsigned>(refusal.count), "request"),
                     host_and_port(refusal.host, refusal.port), refusal.why, advice_for(refusal));
}

}  // namespace ralph
