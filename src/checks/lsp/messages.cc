// The parts of messages that are independent of a conversation: URIs and diagnostics.
#include "base/text.h"
#include "checks/diagnostics/tools.h"
#include "checks/lsp/conversation.h"

namespace ralph::lsp {
namespace {

using diagnostics::Finding;
using diagnostics::Severity;

// 1 error, 2 warning, 3 information, 4 hint. If it is missing, the client decides: a finding counts as an error unless
// the server says otherwise.
Severity severity_from(const json::value& item) {
  switch (find_integer(item, "severity").value_or(1)) {
    case 1:
      return Severity::kError;
    case 2:
      return Severity::kWarning;
    default:
      return Severity::kInfo;
  }
}

// A number or a string.
std::string code_of(const json::value& item) {
  if (const auto number = find_integer(item, "code")) return fmt::format("{}", *number);
  return std::string(find_string(item, "code").value_or(""));
}

}  // namespace

std::string uri_of(std::string_view path) {
  constexpr std::string_view kPlain = "/-_.~";
  std::string uri = "file://";
  for (const char c : path) {
    if (is_alphanumeric(c) || contains(kPlain, c)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::string path_of_uri(std::string_view uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme)) return {};
  uri.remove_prefix(kScheme.size());
  if (!uri.starts_with('/')) uri.remove_prefix(std::min(uri.find('/'), uri.size()));  // skip the host
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    if (uri[i] != '%') {
      path += uri[i];
      continue;
    }
    const int high = i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
    const int low = i + 2 < uri.size() ? hex_digit(uri[i + 2]) : -1;
    if (high < 0 || low < 0) return {};
    path += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return path.find('\0') == std::string::npos ? path : "";
}

std::vector<Finding> findings_in(const json::value* items, const std::string& path) {
  std::vector<Finding> findings;
  for (const json::value& item : items_of(items)) {
    const Severity severity = severity_from(item);
    // Hints only make editors grey out unused names.
    if (find_integer(item, "severity") == 4 || findings.size() >= kMostFindings) continue;
    Finding finding;
    finding.file = path;
    finding.line = number_at(item, {"range", "start", "line"}) + 1;
    finding.column = number_at(item, {"range", "start", "character"}) + 1;
    finding.severity = severity;
    finding.rule = code_of(item);
    finding.message = text_at(item, {"message"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> tsserver_findings_in(const json::value* body, const std::string& path) {
  std::vector<Finding> findings;
  for (const json::value& item : items_of(body)) {
    const std::string category = text_at(item, {"category"});
    if (category == "suggestion" || findings.size() >= kMostFindings) continue;
    Finding finding;
    finding.file = path;
    finding.line = number_at(item, {"start", "line"});
    finding.column = number_at(item, {"start", "offset"});
    finding.severity = category == "error"     ? Severity::kError
                       : category == "warning" ? Severity::kWarning
                                               : Severity::kInfo;
    const std::string code = code_of(item);
    finding.rule = code.empty() ? "" : "TS" + code;  // as tsc prints it
    finding.message = text_at(item, {"text"});
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ralph::lsp
