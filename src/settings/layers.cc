#include "settings/layers.h"

#include <cerrno>
#include <map>
#include <span>
#include <sys/stat.h>

#include "base/text.h"
#include "embedded_schemas.h"
#include "json/own.h"
#include "os/files.h"

namespace ralph {
namespace {

// More lines would not help.
constexpr size_t kMaxProblemsShown = 10;
constexpr off_t kLargestFile = 1 << 20;

// The text of the file; nullopt if it does not exist.
Result<std::optional<std::string>> read_if_there(const std::string& path) {
  struct stat info{};
  // lstat, because a dangling link counts as existing: somebody created it on purpose.
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return fail(ErrorKind::kInput, "cannot read {}: {}", path, errno_text(errno));
  }
  if (::stat(path.c_str(), &info) != 0)
    return fail(ErrorKind::kInput, "cannot read {}: {} (it is a link)", path, errno_text(errno));
  if (S_ISDIR(info.st_mode)) return fail(ErrorKind::kInput, "cannot read {}: it is a folder, not a file", path);
  // Opening a pipe would block until a writer opens it.
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::kInput, "cannot read {}: it is not a regular file", path);
  if (info.st_size > kLargestFile)
    return fail(ErrorKind::kInput, "cannot read {}: it has {}, and settings have at most {}; make it smaller", path,
                human_bytes(static_cast<size_t>(info.st_size)), human_bytes(kLargestFile));
  auto text = read_file(path);
  if (!text) return fail(ErrorKind::kInput, "{}", text.error().message);
  return *std::move(text);
}

void add_meaning(const json::value& value, const std::string& pointer, std::vector<SchemaProblem>& problems) {
  if (value.is_string() && std::string_view(value.get_string()).find('\0') != std::string_view::npos)
    problems.push_back({pointer, false, "a NUL character (\\u0000) cannot be passed to a program; remove it"});
  if (value.is_array()) {
    size_t index = 0;
    for (const json::value& item : value.get_array())
      add_meaning(item, fmt::format("{}/{}", pointer, index++), problems);
  }
  if (value.is_object()) {
    for (const auto& member : value.get_object())
      add_meaning(member.value(), child_pointer(pointer, member.key()), problems);
  }
}

const json::value* at_pointer(const json::value& document, std::string_view pointer) {
  boost::system::error_code ignored;
  return document.find_pointer(pointer, ignored);
}

// The sources of values: the layers from the lowest to the topmost, then the flags.
struct Source {
  const json::object* values;
  std::string name{};                                    // of a file
  const std::map<std::string, std::string>* flags = {};  // for flags: the flag behind each pointer
};

std::string name_of(const Source& source, const std::string& pointer) {
  if (!source.flags) return source.name;
  const auto flag = source.flags->find(pointer);
  return flag == source.flags->end() ? "command line" : flag->second;
}

void add_origins(const json::value& value, const std::string& pointer, std::span<const Source> sources,
                 std::vector<Origin>& origins) {
  if (value.is_object()) {
    for (const auto& member : value.get_object())
      add_origins(member.value(), child_pointer(pointer, member.key()), sources, origins);
    return;
  }
  while (!sources.empty() && !at_pointer(*sources.back().values, pointer)) sources = sources.first(sources.size() - 1);
  origins.push_back({pointer, sources.empty() ? "default" : name_of(sources.back(), pointer)});
  if (!value.is_array() || sources.empty()) return;
  // A list is replaced as a whole, so its items come from the same source, or are defaults.
  size_t index = 0;
  for (const json::value& item : value.get_array()) {
    if (item.is_object()) add_origins(item, fmt::format("{}/{}", pointer, index), sources.last(1), origins);
    ++index;
  }
}

// "agent.flags[2]: ". A message about a wrong key already names the key, so the path is that of its object.
std::string path_prefix(const SchemaProblem& problem) {
  const std::string_view pointer = problem.pointer;
  if (!problem.is_key) return readable_path(pointer) + ": ";
  const std::string_view holder = pointer.substr(0, pointer.find_last_of('/'));
  return holder.empty() ? "" : readable_path(holder) + ": ";
}

Result<std::vector<SchemaProblem>> problems_of(const json::value& values) {
  if (values.is_object() && values.get_object().empty()) return {};  // an empty object is always valid
  TRY_VALUE(auto problems, check_schema(parsed_settings_schema(), values, {.partial = true}));
  // check_meaning() requires a document that fits the schema.
  return problems.empty() ? check_meaning(values) : problems;
}

Result<std::optional<Layer>> read_as(Layer layer) {
  TRY_VALUE(auto text, read_if_there(layer.path));
  if (!text) return std::nullopt;
  layer.text = *std::move(text);
  TRY_VALUE(json::value values, parse_json(layer.text, layer.path));
  TRY_VALUE(const auto problems, problems_of(values));
  if (!problems.empty()) return tl::unexpected(explain(problems, layer));
  layer.values = std::move(values.as_object());
  layer.values.erase("$schema");  // for editors, not a setting
  return layer;
}

}  // namespace

Result<std::optional<Layer>> read_layer(const std::string& project, std::string_view name) {
  const bool here = project.empty() || project == ".";
  return read_as({std::string(name), here ? std::string(name) : join_path(project, name), {}, {}});
}

Result<std::optional<Layer>> read_user_layer(const std::string& path) {
  return read_as({path, path, {}, {}});
}

std::string folder_with_settings(const std::string& folder) {
  std::string found;
  for (std::string at = folder; at.starts_with('/'); at = parent_path(at)) {
    const bool here = path_exists(join_path(at, kSettingsFile)) || path_exists(join_path(at, kLocalSettingsFile));
    if (found.empty() && here) found = at;
    if (found == folder) break;
    if (path_exists(join_path(at, ".git"))) return found.empty() ? folder : found;
    if (at == "/") break;
  }
  return folder;
}

Status check_overrides(const Overrides& overrides) {
  TRY_VALUE(const auto problems, problems_of(overrides.values));
  if (problems.empty()) return {};
  const SchemaProblem& first = problems.front();
  const auto flag = overrides.flags.find(first.pointer);
  const std::string name = flag == overrides.flags.end() ? readable_path(first.pointer) : flag->second;
  return fail(ErrorKind::kUsage, "{}: {}", name, first.message);
}

void merge_into(json::object& lower, const json::object& upper) {
  for (const auto& member : upper) {
    json::value* old = lower.if_contains(member.key());
    if (old && old->is_object() && member.value().is_object()) {
      merge_into(old->get_object(), member.value().get_object());
    } else {
      lower[member.key()] = member.value();
    }
  }
}

std::vector<Origin> origins_of(const json::value& effective, const std::vector<Layer>& layers,
                               const Overrides& overrides) {
  std::vector<Source> sources;
  for (const Layer& layer : layers) sources.push_back({&layer.values, layer.source});
  sources.push_back({&overrides.values, {}, &overrides.flags});
  std::vector<Origin> origins;
  add_origins(effective, "", sources, origins);
  return origins;
}

std::vector<SchemaProblem> check_meaning(const json::value& document) {
  std::vector<SchemaProblem> problems;
  add_meaning(document, "", problems);
  std::vector<std::string> agents = {"/agent"};
  if (const json::value* defined = find(document, "agents"); defined && defined->is_object()) {
    for (const auto& agent : defined->get_object()) agents.push_back(child_pointer("/agents", agent.key()));
  }
  for (const std::string& agent : agents) {
    const json::value* flags = at_pointer(document, agent + "/flags");
    if (!flags || !flags->is_array()) continue;
    size_t index = 0;
    for (const json::value& flag : flags->get_array()) {
      const auto words = split_shell_words(std::string_view(flag.as_string()));
      if (!words) problems.push_back({fmt::format("{}/flags/{}", agent, index), false, words.error().message});
      ++index;
    }
  }
  if (const json::value* paths = at_pointer(document, "/protect/paths"); paths && paths->is_array()) {
    size_t index = 0;
    for (const json::value& path : paths->get_array()) {
      if (is_one_of(std::string(".."), split(std::string_view(path.as_string()), '/')))
        problems.push_back({fmt::format("/protect/paths/{}", index), false,
                            fmt::format("\"{}\" leaves the project; expected a path in it, without ..",
                                        std::string_view(path.as_string()))});
      ++index;
    }
  }
  return problems;
}

Error explain(const std::vector<SchemaProblem>& problems, const Layer& layer) {
  std::multimap<size_t, std::string> lines;  // by their position in the file
  for (const SchemaProblem& problem : problems) {
    const size_t offset = locate(layer.text, problem.pointer, problem.is_key).value_or(0);
    const TextPosition at = position_of(layer.text, offset);
    lines.emplace(offset,
                  fmt::format("{}:{}:{}: {}{}", layer.path, at.line, at.column, path_prefix(problem), problem.message));
  }
  std::string message;
  size_t shown = 0;
  for (auto line = lines.begin(); line != lines.end() && shown < kMaxProblemsShown; ++line)
    message += (shown++ == 0 ? "" : "\n") + line->second;
  if (lines.size() > shown) message += fmt::format("\n(and {} more)", count_of(lines.size() - shown, "problem"));
  return Error{ErrorKind::kInput, message};
}

std::string_view settings_schema() {
  return embedded::settings_schema_json;
}

const json::value& parsed_settings_schema() {
  static const json::value& schema = parse_own_json(settings_schema());
  return schema;
}

}  // namespace ralph
