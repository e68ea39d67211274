#include "cli/accept.h"

#include <unistd.h>

#include "base/text.h"
#include "base/utf8.h"
#include "cli/masked_settings.h"
#include "cli/questions.h"
#include "cli/tell.h"
#include "journal/redactor.h"
#include "journal/run_folder.h"
#include "json/schema.h"
#include "os/ancestors.h"
#include "os/clock.h"
#include "os/files.h"
#include "os/tty.h"

namespace ralph::cli {
namespace {

struct Remark {
  std::string_view names;  // blank-separated; `*` at either end matches any text
  std::string_view what;
};

// Variables that turn an agent into something else. They are shown like all others, with a remark that says why they
// matter.
constexpr Remark kRemarks[] = {
    {"LD_* DYLD_*", "loads code into every program that the agent starts"},
    {"*_BASE_URL *_API_URL *_ENDPOINT *_API_HOST *_API_BASE HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy "
     "all_proxy",
     "decides where the agent sends your key and your code"},
    {"PATH", "decides which programs run"},
    {"NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONSTARTUP PYTHONHOME BASH_ENV ENV PERL5OPT PERL5LIB RUBYOPT RUBYLIB "
     "JAVA_TOOL_OPTIONS GIT_* SHELL EDITOR PAGER",
     "makes programs run other code"},
    {"*_CA_CERTS SSL_CERT_* *_TLS_REJECT_UNAUTHORIZED CURL_CA_BUNDLE REQUESTS_CA_BUNDLE",
     "decides which servers are "
     "believed"},
    {"HOME XDG_* *_CONFIG_DIR *_HOME", "decides whose configuration it reads"},
};

bool fits(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

// "/agent/env/NAME", "/agents/x/env/NAME"
std::string remark_on(const std::string& pointer) {
  const size_t env = pointer.find("/env/");
  if (env == std::string::npos) return {};
  const std::string name = pointer.substr(env + 5);
  for (const Remark& remark : kRemarks) {
    for (const std::string& pattern : split(remark.names, ' ')) {
      if (fits(name, pattern)) return fmt::format(" ({})", remark.what);
    }
  }
  return {};
}

// JSON on one line, with numbers as people write them: the library writes 0.1 as 1E-1.
std::string plain_json(const json::value& value) {
  std::vector<std::string> parts;
  if (const json::array* array = value.if_array()) {
    for (const json::value& one : *array) parts.push_back(plain_json(one));
    return fmt::format("[{}]", join(parts, ","));
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& member : *object)
      parts.push_back(
          fmt::format("{}:{}", to_compact_json(json::value(json::string(member.key()))), plain_json(member.value())));
    return fmt::format("{{{}}}", join(parts, ","));
  }
  return value.is_double() ? std::string(trim(to_pretty_json(value))) : to_compact_json(value);
}

std::string on_one_line(const NamedCommands& named) {
  const std::string settings = join(named.settings, "; ");
  if (named.commands.empty() || settings.empty()) return join(named.commands, "; ") + settings;
  return fmt::format("{}; with the settings {}", join(named.commands, "; "), settings);
}

Status ask_person(std::string_view question) {
  TerminalQuestions questions;
  TRY_VALUE(const bool yes, ask_yes_or_no(questions, question));
  if (yes) return {};
  return fail(ErrorKind::kUsage, "not accepted; nothing was started");
}

SettingValues with_verify_commands(SettingValues values, const AcceptRequest& request) {
  if (!request.verify_commands || request.verify_commands->empty()) return values;
  const Redactor redactor(Environment::of_this_process().as_lines(), secret_candidates(request.loaded.settings));
  SettingValue value = verify_commands_value(*request.verify_commands);
  value.shown = redactor.redact(value.shown);
  values.emplace(kVerifyCommands, std::move(value));
  return values;
}

tl::unexpected<Error> nobody_to_accept(std::string_view what) {
  return fail(
      ErrorKind::kUsage,
      "{}, and there is nobody to accept that; check the lines above, then run 'ralph trust', add --trust, or undo the "
      "changes",
      what);
}

}  // namespace

bool is_below_agent(const Environment& environment) {
  return !enclosing_run_id(environment).empty() || is_below("ralph", "RALPH_RUN_ID");
}

Status refuse_agents(const Environment& environment, std::string_view what) {
  if (!is_below_agent(environment)) return {};
  return fail(ErrorKind::kUsage,
              "{} is for the person who runs the agent; this was started by an agent that ralph runs, which can't "
              "accept anything",
              what);
}

SettingValues shown_values(const LoadedSettings& loaded) {
  const json::value project = masked_settings(loaded.project), user = masked_settings(loaded.user);
  const Redactor redactor(Environment::of_this_process().as_lines(), secret_candidates(loaded.settings));
  return values_of(loaded, [&](const std::string& pointer, const json::value& value) {
    const bool own = pointer.starts_with('~');
    boost::system::error_code none;
    const json::value* masked = (own ? user : project).find_pointer(own ? pointer.substr(1) : pointer, none);
    return redactor.redact(plain_json(masked ? *masked : value));
  });
}

NamedCommands describe_commands(const SettingValues& values) {
  NamedCommands named;
  for (const auto& [pointer, value] : values) {
    if (!names_commands(pointer)) continue;
    std::vector<std::string>& lines = is_command(pointer) ? named.commands : named.settings;
    const bool verify = pointer == kVerifyCommands;
    const auto list =
        verify || pointer == "/guardrails" ? parse_json(value.shown, "") : Result<json::value>(json::value());
    if (!list || !list->is_array()) {
      lines.push_back(fmt::format("{}: {}{}", readable_path(pointer), value.shown, remark_on(pointer)));
      continue;
    }
    for (const json::value& one : list->get_array())
      lines.push_back(verify ? fmt::format("verify command of the plan: {}", one.is_string() ? one.get_string() : "?")
                             : fmt::format("guardrail: {}", find_string(one, "command").value_or("?")));
  }
  return named;
}

void print_notes(const LoadedSettings& loaded) {
  for (const std::string& note : loaded.notes) tell(fmt::format("Note: {}\n", note));
}

TrustRecord TrustTicket::record_at_work() const {
  TrustRecord record = record_;
  if (!kept_) return record;  // a question about an earlier run is still open
  record.seen = seen_;
  record.known = true;
  record.running = began_;
  return record;
}

Status TrustTicket::begin() const {
  begun_.raise();
  return kept_ ? save_trust(Environment::of_this_process(), record_at_work()) : Status();
}

void TrustTicket::end() const {
  if (!begun_.is_raised()) return;  // the run never began, and another one may be active
  const Environment environment = Environment::of_this_process();
  if (trust_file(environment, record_.project).empty()) return;
  const auto loaded = load_settings(record_.project);
  std::vector<std::string> changed;
  if (loaded) {
    changed = differences(now_, shown_values(*loaded), Concern::kAll);
  } else {
    changed.emplace_back(first_line(loaded.error().message));
  }
  // Written from memory, because an agent may have changed the file. Only a person's revocation is taken from disk.
  TrustRecord record = record_at_work();
  if (!load_trust(environment, record.project).is_accepted()) record.accepted_by.clear();
  if (changed.empty() && kept_) record.running.clear();
  if (const Status saved = save_trust(environment, record); !saved)
    tell(fmt::format("Note: {}\n", saved.error().message));
  if (changed.empty()) return;
  tell(fmt::format(
      "Note: the settings were changed while the agent was running; the next run asks before it uses them: {}\n",
      join(changed, "; ")));
}

Result<bool> is_trusted_once(bool typed) {
  const Environment environment = Environment::of_this_process();
  const bool trusted = typed || is_trusted_by_environment(environment);
  if (trusted) TRY(refuse_agents(environment, typed ? "--trust" : "RALPH_TRUST"));
  return trusted;
}

Result<TrustTicket> accept_project(const AcceptRequest& request) {
  const Environment environment = Environment::of_this_process();
  print_notes(request.loaded);
  TRY_VALUE(const bool trusted, is_trusted_once(request.trusted));
  TrustTicket ticket;
  ticket.now_ = shown_values(request.loaded);
  TrustRecord& record = ticket.record_;
  record = load_trust(environment, request.project);
  const SettingValues asked = with_verify_commands(ticket.now_, request);
  ticket.seen_ = asked;
  if (const auto known = record.seen.find(std::string(kVerifyCommands)); known != record.seen.end())
    ticket.seen_.insert(*known);  // of a plan that this request is not about
  const bool asks = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO) && !request.json;
  const std::string time = to_iso8601(SystemClock().wall());
  // An agent may also have changed the user's own settings.
  const TrustMode mode = record.running.empty() ? request.loaded.settings.trust : record.mode;
  ticket.began_ = fmt::format("pid {}, {}", ::getpid(), time);
  ticket.kept_ = !trust_file(environment, request.project).empty();

  const std::vector<std::string> suspect = record.changed_under_agent(ticket.now_);
  for (const std::string& line : suspect) tell(fmt::format("Changed while an agent was running: {}\n", line));
  if (!suspect.empty() && mode != TrustMode::kOff) {
    ticket.kept_ = false;  // with --trust the question stays open
    if (trusted) return ticket;
    if (!asks) return nobody_to_accept("the settings were changed while an agent was running");
    TRY(ask_person("The settings were changed while an agent was running. Use them anyway? (y/N): "));
    record.accept(asked, "your answer", time);
    ticket.kept_ = true;
  }
  record.mode = request.loaded.settings.trust;
  if (!has_commands(asked) || mode == TrustMode::kOff || record.accepts(asked)) return ticket;

  const NamedCommands named = describe_commands(asked);
  const bool runs = !named.commands.empty();
  const auto changed = [&](Concern concern) { return differences(record.seen, ticket.seen_, concern); };
  if (record.is_accepted() && !request.changes_shown) {
    for (const std::string& line : changed(Concern::kOnlyCommands))
      tell(fmt::format("Commands changed since the last run: {}\n", line));
    for (const std::string& line : changed(Concern::kOnlySettings))
      tell(fmt::format("Settings changed since the last run: {}\n", line));
  }
  const bool must_ask = !record.is_accepted() || mode == TrustMode::kRequire;
  if (must_ask && !trusted && asks) {
    if (runs)
      tell(fmt::format("This project names these commands, and you have not accepted them yet:\n  {}\n",
                       join(named.commands, "\n  ")));
    if (!named.settings.empty())
      tell(
          fmt::format("{}:\n  {}\n",
                      runs ? "With these settings" : "This project has these settings, which you have not accepted yet",
                      join(named.settings, "\n  ")));
    TRY(ask_person(runs ? "Run them? (y/N): " : "Use them? (y/N): "));
  } else if (must_ask && !trusted && mode == TrustMode::kRequire) {
    tell(fmt::format("Not accepted yet: {}\n", on_one_line(named)));
    return nobody_to_accept(fmt::format("this project has {} that you have not accepted (trust is \"require\")",
                                        runs ? "commands" : "settings about what runs"));
  } else if (!record.is_accepted() && !changed(Concern::kCommands).empty()) {
    tell(fmt::format("Note: {} that nobody has accepted ('ralph trust' accepts them): {}\n",
                     runs ? "this project runs commands" : "this project uses settings", on_one_line(named)));
  }
  // A person saw them; --trust is for one run.
  if (asks && !trusted) record.accept(asked, "your answer", time);
  return ticket;
}

std::string foreseen_refusal(const LoadedSettings& loaded, const std::string& project) {
  const Environment environment = Environment::of_this_process();
  if (is_trusted_by_environment(environment)) return "";
  const TrustRecord record = load_trust(environment, project);
  const SettingValues now = shown_values(loaded);
  const TrustMode mode = record.running.empty() ? loaded.settings.trust : record.mode;
  if (mode == TrustMode::kOff) return "";
  const std::vector<std::string> suspect = record.changed_under_agent(now);
  if (!suspect.empty())
    return fmt::format("the settings were changed while an agent was running: {}", join(suspect, "; "));
  if (mode == TrustMode::kRequire && has_commands(now) && !record.accepts(now))
    return R"(this project has commands that you have not accepted (trust is "require"))";
  return "";
}

}  // namespace ralph::cli
