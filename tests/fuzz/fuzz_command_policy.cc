// No text makes the parser of shell lines, or the policy applied to them, crash or hang. Text quoted as one word is
// read as one word, and a harmless command before a dangerous one does not hide it.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "policy/command_policy.h"
#include "policy/hosts_for_tests.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ralph::PolicyPlace place = {.project = "/srv/app",
                                    .home = "/home/dev",
                                    .state_folder = "/home/dev/.local/state/ralph",
                                    .hosts = ralph::hosts_for_tests()};
  const ralph::ShellSetting setting = {"/home/dev", "/srv/app", {}};
  const ralph::CommandReport report = ralph::judge_command(text, {}, place, setting);
  require(report.objections.size() == report.reading.commands.size());
  for (const auto& command : report.reading.commands) {
    require(command.via < static_cast<int>(report.reading.commands.size()));
    ralph::readable(command);
  }
  if (report.first) require(!ralph::reason_of(*report.first).empty());
  ralph::scripts_of_guardrail(text);

  if (text.find_first_of(std::string_view("\0\xff", 2)) != std::string_view::npos) return 0;
  const std::vector<std::string> words = {"echo", std::string(text)};
  const auto quoted = ralph::read_shell(ralph::quote_shell_words(words), setting);
  require(quoted.commands.size() == 1 && quoted.commands[0].word(1) == text);
  // A deletion on its own line, before everything else, is seen whatever follows.
  require(ralph::judge_command("rm -rf /\n" + std::string(text), {}, place, setting).first.has_value());
  return 0;
}
