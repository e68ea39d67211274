#include "hooks/own_file.h"

#include "base/text.h"

namespace ralph {
namespace {

constexpr std::string_view kMark = "// Written by `ralph hooks install";  // the same in every version
constexpr std::string_view kProgramLine = "\nconst RALPH = ";

// The program that a file written by ralph calls; nullopt if ralph did not write it.
std::optional<std::string> program_in(std::string_view text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  const size_t line = text.find(kProgramLine);
  if (line == std::string_view::npos) return "";  // somebody edited it
  const auto value = parse_json(first_line(text.substr(line + kProgramLine.size())), "");
  return value && value->is_string() ? std::string(value->get_string()) : "";
}

std::vector<HookChange> changes_of(char sign, const Host& host, std::string_view program) {
  std::vector<HookChange> changes;
  for (const HookWire& wire : host.wires)
    changes.push_back({sign, std::string(wire.event), command_of(host, wire, program)});
  return changes;
}

}  // namespace

// A JSON string is also a valid JavaScript string.
std::string own_file_text(const Host& host, std::string_view program) {
  return replace_all(host.own_text, fmt::format("{}\"ralph\"\n", kProgramLine),
                     fmt::format("{}{}\n", kProgramLine, to_compact_json(to_json_string(program))));
}

Result<MergedSettings> with_own_file(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                     std::string_view program) {
  std::string wanted = own_file_text(host, program);
  if (text && !program_in(*text))
    return fail(ErrorKind::kInput, "{} exists and is not ralph's; rename it so that ralph can write its own", where);
  if (text == wanted) return MergedSettings{std::move(wanted), {}};
  return MergedSettings{std::move(wanted), changes_of(text ? '~' : '+', host, program)};
}

MergedSettings without_own_file(std::string_view text, const Host& host) {
  const auto program = program_in(text);
  if (!program) return {std::string(text), {}};
  return {"", changes_of('-', host, *program)};
}

HookSurvey survey_own_file(std::string_view text, const Host& host) {
  HookSurvey survey;
  const auto program = program_in(text);
  if (!program) return survey;
  survey.programs.push_back(program->empty() ? "ralph" : *program);
  survey.is_own = true;
  if (text != own_file_text(host, *program)) survey.faults.emplace_back("it is not what this ralph writes");
  return survey;
}

}  // namespace ralph
