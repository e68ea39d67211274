#include "hooks/install.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/text.h"
#include "hooks/own_file.h"
#include "json/edit.h"
#include "json/walk.h"

namespace ralph {
namespace {

// A hook that calls ralph, and its position.
struct FoundHook {
  std::string event;
  size_t group = 0, index = 0;  // positions in the event's array and in the group's hooks
  size_t siblings = 0;          // the number of hooks in its group
  RalphHook hook;
  const json::value* value = nullptr;
  const json::value* group_value = nullptr;

  std::string group_pointer() const { return fmt::format("/hooks/{}/{}", to_pointer_part(event), group); }
  std::string pointer() const { return fmt::format("{}/hooks/{}", group_pointer(), index); }
};

std::string place_of(std::string_view text, std::string_view where, std::string_view pointer) {
  const TextPosition position = position_of(text, locate(text, pointer).value_or(0));
  return fmt::format("{}:{}:{}", where, position.line, position.column);
}

// Parses the settings and checks that hooks are where the host reads them.
Result<json::value> parse_settings(std::string_view text, std::string_view where, const Host& host) {
  TRY_VALUE(json::value settings, parse_json(text, where));
  const auto expect = [&](const json::value* value, json::kind kind, const std::string& pointer) -> Status {
    if (!value || value->kind() == kind) return {};
    return fail(ErrorKind::kInput, "{}: {} here; correct that first", place_of(text, where, pointer),
                kind == json::kind::object ? "expected an object {…}" : "expected a list […]");
  };
  TRY(expect(&settings, json::kind::object, ""));
  const json::value* hooks = find(settings, "hooks");
  TRY(expect(hooks, json::kind::object, "/hooks"));
  TRY(expect(find(settings, "env"), json::kind::object, "/env"));
  for (const HookWire& wire : host.wires) {
    if (hooks) TRY(expect(find(*hooks, wire.event), json::kind::array, fmt::format("/hooks/{}", wire.event)));
  }
  return settings;
}

// In document order.
std::vector<FoundHook> ralph_hooks(const json::value& settings) {
  std::vector<FoundHook> found;
  const json::value* events = find(settings, "hooks");
  if (!events) return found;
  for (const auto& [event, groups] : events->get_object()) {
    if (!groups.is_array()) continue;
    for (size_t g = 0; g < groups.get_array().size(); ++g) {
      const json::value& group = groups.get_array()[g];
      const json::array& hooks = array_at(group, "hooks");
      for (size_t i = 0; i < hooks.size(); ++i) {
        if (auto ralph = ralph_hook_in(hooks[i]))
          found.push_back({std::string(event), g, i, hooks.size(), *std::move(ralph), &hooks[i], &group});
      }
    }
  }
  return found;
}

std::optional<std::string> block_cap_in(const json::value& settings, const Host& host) {
  const json::value* env = find(settings, "env");
  const json::value* cap = env ? find(*env, host.block_cap_variable) : nullptr;
  if (!cap) return std::nullopt;
  return cap->is_string() ? std::string(cap->get_string()) : to_compact_json(*cap);
}

// The hooks in `found` that belong to this wire. context-monitor is the former name of post-tool.
std::vector<FoundHook> hooks_of(const HookWire& wire, const std::vector<FoundHook>& found) {
  std::vector<FoundHook> hooks;
  for (const FoundHook& one : found) {
    const bool former = wire.hook == "post-tool" && one.hook.hook == "context-monitor";
    if (one.event == wire.event && (former || one.hook.hook == wire.hook)) hooks.push_back(one);
  }
  return hooks;
}

// Collects the edits to one text and lists the changes.
class Installer {
 public:
  Installer(JsonEdits& edits, const json::value& settings, const Host& host, std::string_view program)
      : edits_(edits), settings_(settings), host_(host), program_(program), found_(ralph_hooks(settings)) {}

  void install(const std::optional<std::string>& cap_before) {
    if (!find(settings_, "hooks")) {
      json::object events;
      for (const HookWire& wire : host_.wires) {
        events[wire.event] = json::array{group_of(host_, wire, program_)};
        note('+', wire.event, command_of(host_, wire, program_));
      }
      edits_.set("/hooks", events);
    } else {
      for (const HookWire& wire : host_.wires) install(wire);
    }
    take_back_cap(cap_before);
  }

  void uninstall(const std::optional<std::string>& cap_before) {
    std::vector<FoundHook> own;
    for (const FoundHook& hook : found_) {
      if (hook.hook.does_more) {
        left_.push_back(fmt::format("{}: `{}` does more than call ralph", hook.event, command_in(hook)));
        continue;
      }
      own.push_back(hook);
      note('-', hook.event, command_in(hook));
    }
    remove(own);
    take_back_cap(cap_before);
  }

  std::vector<HookChange> take_changes() { return std::move(changes_); }
  std::vector<std::string> take_left() { return std::move(left_); }

 private:
  void note(char sign, std::string_view where, std::string what) {
    changes_.push_back({sign, std::string(where), std::move(what)});
  }

  static std::string command_in(const FoundHook& hook) {
    return std::string(find_string(*hook.value, "command").value_or(""));
  }

  void install(const HookWire& wire) {
    std::vector<FoundHook> here = hooks_of(wire, found_);
    if (here.empty()) {
      const std::string event = fmt::format("/hooks/{}", wire.event);
      const json::object group = group_of(host_, wire, program_);
      if (const json::value* groups = find(*find(settings_, "hooks"), wire.event)) {
        edits_.insert(event, groups->get_array().size(), group);
      } else {
        edits_.set(event, json::array{group});
      }
      note('+', wire.event, command_of(host_, wire, program_));
      return;
    }
    // Keep one: preferably a command that does more than call ralph, then the hook with this very name.
    const auto rank = [&](const FoundHook& h) {
      return (h.hook.does_more ? 2 : 0) + (h.hook.hook == wire.hook ? 1 : 0);
    };
    std::stable_sort(here.begin(), here.end(),
                     [&](const FoundHook& a, const FoundHook& b) { return rank(a) > rank(b); });
    std::vector<FoundHook> doubles;
    for (size_t i = 0; i < here.size(); ++i) {
      if (i == 0 || here[i].hook.does_more) {
        update(wire, here[i]);
      } else {
        doubles.push_back(here[i]);
        note('-', here[i].event, command_in(here[i]) + " (once is enough)");
      }
    }
    remove(doubles);
  }

  std::string command_for(const HookWire& wire, const FoundHook& hook) const {
    if (!hook.hook.does_more) return command_of(host_, wire, program_);
    if (hook.hook.program == program_ && hook.hook.hook == wire.hook) return command_in(hook);
    return with_call(command_in(hook), program_, wire.hook);
  }

  void update(const HookWire& wire, const FoundHook& hook) {
    const std::string command = command_for(wire, hook);
    std::vector<std::string> now;
    if (command_in(hook) != command) {
      edits_.set(hook.pointer() + "/command", to_json_string(command));
      now.push_back(command);
    }
    if (find(*hook.value, "args")) {
      edits_.remove(hook.pointer() + "/args");
      if (now.empty()) now.push_back(command);
    }
    const auto timeout = find_integer(*hook.value, "timeout");
    if (!timeout || *timeout < timeout_of(host_, wire)) {
      edits_.set(hook.pointer() + "/timeout", timeout_of(host_, wire));
      now.push_back(fmt::format("time-out {} s", wire.seconds));
    }
    if (!now.empty()) note('~', wire.event, join(now, ", "));
  }

  // Removes these hooks, and every group, event and "hooks" object that becomes empty.
  void remove(const std::vector<FoundHook>& hooks) {
    struct Count {
      size_t gone = 0, all = 0;
      bool took_one(size_t of) {
        all = of;
        return ++gone == all;
      }
    };
    std::map<std::string, Count> groups, events;
    Count table;
    const auto size_of = [](const json::value* v) {
      return v->is_array() ? v->get_array().size() : v->get_object().size();
    };
    const json::value* all_events = find(settings_, "hooks");
    for (const FoundHook& hook : hooks) {
      edits_.remove(hook.pointer());
      if (!groups[hook.group_pointer()].took_one(hook.siblings)) continue;
      edits_.remove(hook.group_pointer());
      if (!events[hook.event].took_one(size_of(find(*all_events, hook.event)))) continue;
      edits_.remove(fmt::format("/hooks/{}", to_pointer_part(hook.event)));
      if (table.took_one(size_of(all_events))) edits_.remove("/hooks");
    }
  }

  std::string cap_pointer() const { return fmt::format("/env/{}", host_.block_cap_variable); }
  std::string cap_name() const { return fmt::format("env.{}", host_.block_cap_variable); }

  // Restores the cap if version 0.1 raised it when it installed its hooks. Any other value is the user's own.
  void take_back_cap(const std::optional<std::string>& before) {
    if (host_.block_cap_variable.empty() || found_.empty()) return;
    if (block_cap_in(settings_, host_) != kFormerBlockCap || before == kFormerBlockCap) return;
    if (before) {
      edits_.set(cap_pointer(), to_json_string(*before));
      note('~', cap_name(), *before);
      return;
    }
    edits_.remove(find(settings_, "env")->get_object().size() == 1 ? "/env" : cap_pointer());
    note('-', cap_name(), std::string(kFormerBlockCap));
  }

  JsonEdits& edits_;
  const json::value& settings_;
  const Host& host_;
  std::string_view program_;
  std::vector<FoundHook> found_;
  std::vector<HookChange> changes_;
  std::vector<std::string> left_;
};

Result<MergedSettings> edited(std::string_view text, std::string_view where, const Host& host, std::string_view program,
                              const std::function<void(Installer&)>& edit) {
  TRY_VALUE(const json::value settings, parse_settings(text, where, host));
  TRY_VALUE(JsonEdits edits, JsonEdits::of(text, where));
  Installer installer(edits, settings, host, program);
  edit(installer);
  return MergedSettings{edits.apply(), installer.take_changes(), installer.take_left()};
}

void add_once(std::vector<std::string>& list, const std::string& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::optional<bool> plugin_in(const json::value& settings) {
  const json::value* plugins = find(settings, "enabledPlugins");
  std::optional<bool> on;
  if (!plugins || !plugins->is_object()) return on;
  for (const auto& [name, value] : plugins->get_object()) {
    if (std::string_view(name).starts_with("ralph@") && value.is_bool()) on = on.value_or(false) || value.get_bool();
  }
  return on;
}

// The user's own block cap, from the text before ralph's hooks were installed.
std::optional<std::string> cap_before(std::optional<std::string_view> before, std::string_view where,
                                      const Host& host) {
  if (!before) return std::nullopt;
  const auto settings = parse_settings(*before, where, host);  // the backup may be damaged by now
  return settings ? block_cap_in(*settings, host) : std::nullopt;
}

}  // namespace

Result<MergedSettings> with_hooks(std::optional<std::string_view> text, std::string_view where, const Host& host,
                                  std::string_view program, std::optional<std::string_view> before) {
  if (!host.own_text.empty()) return with_own_file(text, where, host, program);
  const auto cap = cap_before(before, where, host);
  return edited(text.value_or("{}\n"), where, host, program, [&](Installer& installer) { installer.install(cap); });
}

Result<MergedSettings> without_hooks(std::string_view text, std::string_view where, const Host& host,
                                     std::optional<std::string_view> before) {
  if (!host.own_text.empty()) return without_own_file(text, host);
  const auto cap = cap_before(before, where, host);
  return edited(text, where, host, "ralph", [&](Installer& installer) { installer.uninstall(cap); });
}

Result<HookSurvey> survey_hooks(std::string_view text, std::string_view where, const Host& host) {
  if (!host.own_text.empty()) return survey_own_file(text, host);
  TRY_VALUE(const json::value settings, parse_settings(text, where, host));
  HookSurvey survey;
  const std::vector<FoundHook> found = ralph_hooks(settings);
  for (const FoundHook& hook : found) {
    add_once(survey.programs, hook.hook.program);
    survey.is_own = survey.is_own || !hook.hook.does_more;
  }
  for (const HookWire& wire : host.wires) {
    const std::vector<FoundHook> here = hooks_of(wire, found);
    if (here.empty()) {
      survey.missing.emplace_back(wire.event);
      continue;
    }
    const auto kept = std::count_if(here.begin(), here.end(), [](const FoundHook& one) { return one.hook.does_more; });
    if (here.size() > 1)
      (kept > 1 ? survey.choices : survey.faults)
          .push_back(fmt::format("{} calls ralph {} times", wire.event, here.size()));
    const auto timeout = find_integer(*here[0].value, "timeout");
    if (!timeout || *timeout < timeout_of(host, wire))
      survey.faults.push_back(fmt::format("the time-out of {} is below {} s", wire.event, wire.seconds));
    const std::string_view matcher = find_string(*here[0].group_value, "matcher").value_or("");
    if (!wire.matcher.empty() && !matcher.empty() && matcher != "*" && matcher != wire.matcher)
      survey.choices.push_back(fmt::format("{} is for {} only, not for every tool", wire.event, matcher));
  }
  survey.block_cap = block_cap_in(settings, host);
  survey.plugin = plugin_in(settings);
  return survey;
}

}  // namespace ralph
