// Rules that rows can't express, about services: databases, clusters and containers.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "policy/command_view.h"
#include "policy/known_output.h"
#include "policy/rules.h"

namespace ralph {
namespace {

// SQL in upper case, with comments and strings blanked and runs of blanks collapsed, so that only the statements
// remain.
std::string statements_of(std::string_view sql) {
  std::string out;
  for (size_t i = 0; i < sql.size(); ++i) {
    const char c = sql[i];
    if (c == '\'') {
      for (++i; i < sql.size() && sql[i] != '\''; ++i) {
      }
      out += "''";
    } else if (c == '-' && i + 1 < sql.size() && sql[i + 1] == '-') {
      while (i < sql.size() && sql[i] != '\n') ++i;
    } else if (c == '/' && i + 1 < sql.size() && sql[i + 1] == '*') {
      const size_t end = sql.find("*/", i + 2);
      i = end == std::string_view::npos ? sql.size() : end + 1;
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (!out.empty() && out.back() != ' ') out += ' ';
    } else {
      out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

// app_test, test, TEST_app, app-testing: the name of a test database.
bool is_test_name(std::string_view name) {
  std::string word;
  for (const char c : name) word += is_alphanumeric(c) ? c : ' ';
  for (const std::string& part : split(to_lower(word), ' ')) {
    if (is_listed("test tests testing", part)) return true;
  }
  return false;
}

// prod.db, production.sqlite3: production data, or a copy of it.
bool names_production(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return is_listed("prod production live", to_lower(name.substr(0, name.find_first_of(".-_"))));
}

Finding destruction_in(std::string_view sql) {
  const std::string text = statements_of(sql);
  for (const std::string& raw : split(text, ';')) {
    const std::string statement(trim(raw));
    for (const std::string_view words :
         {"DROP DATABASE", "DROP SCHEMA", "DROP TABLE", "DROP OWNED", "DROP USER", "DROP ROLE", "DROP KEYSPACE"}) {
      const size_t at = statement.find(words);
      if (at == std::string::npos) continue;
      const bool is_tests = words == "DROP DATABASE" && is_test_name(statement.substr(at));
      if (!is_tests) return std::string(words) + " cannot be undone";
    }
    if (statement.starts_with("TRUNCATE")) return "TRUNCATE cannot be undone";
    if (statement.starts_with("DELETE FROM") && !contains(statement, " WHERE "))
      return "DELETE without WHERE empties the table";
  }
  return std::nullopt;
}

}  // namespace

// RAILS_ENV=test rails db:reset, psql -d app_test, dropdb app_test: test databases exist to be emptied.
bool is_for_tests(const Subject& subject) {
  const ShellCommand* command = &subject.command;
  for (int depth = 0; depth < 8; ++depth) {  // RAILS_ENV=test bundle exec rake: set for the command that runs it
    for (const ShellAssignment& one : command->assignments) {
      const bool names_place = one.name.ends_with("_ENV") || one.name == "ENV" || one.name == "DATABASE_URL";
      if (names_place && is_test_name(one.value.text.substr(one.value.text.rfind('/') + 1))) return true;
    }
    if (command->via < 0) break;
    command = &subject.reading.commands[static_cast<size_t>(command->via)];
  }
  if (const auto place = subject.value(0, "--env"); place && is_test_name(*place)) return true;
  if (subject.is("rails rake") && subject.has("RAILS_ENV=test")) return true;
  if (!subject.is("psql dropdb mysql mariadb mysqladmin mongosh mongo pgcli")) return false;
  return std::any_of(subject.command.words.begin() + 1, subject.command.words.end(), [](const ShellWord& word) {
    const bool is_name =
        !contains(word.text, ' ') && (!word.text.starts_with('-') || word.text.starts_with("--dbname="));
    return is_name && is_test_name(word.text.substr(word.text.find_last_of("/=") + 1));
  });
}

Finding destroys_by_sql(const Subject& subject) {
  if (subject.is("sqlite3 duckdb")) {
    const auto paths = subject.paths(subject.operand(0));
    const bool is_own = subject.operand(0) == ":memory:" || std::ranges::all_of(paths, [&](const std::string& path) {
                          return is_within(path, subject.place.project) || is_temporary(path);
                        });
    if (is_own && !names_production(subject.operand(0))) return std::nullopt;  // a file of the project
  }
  for (const ShellWord& word : subject.command.words) {
    if (auto found = destruction_in(
            word.text.substr(!contains(word.text, '=') || !word.text.starts_with("--") ? 0 : word.text.find('=') + 1)))
      return found;
    if (word.text.starts_with("-c") || word.text.starts_with("-e")) {
      if (auto found = destruction_in(std::string_view(word.text).substr(2))) return found;
    }
  }
  if (const auto input = known_input(subject.reading, subject.command)) return destruction_in(*input);
  return std::nullopt;
}

Finding empties_key_store(const Subject& subject) {
  for (const ShellWord& word : subject.command.words) {
    if (is_one_of(to_upper(word.text), {"FLUSHALL", "FLUSHDB", "SHUTDOWN"})) return "it empties or ends the database";
  }
  // redis-cli keys '*' | xargs redis-cli del
  const bool deletes = std::ranges::any_of(
      subject.operands, [](const std::string& one) { return is_one_of(to_upper(one), {"DEL", "UNLINK"}); });
  for (const ShellSpan& span : deletes ? subject.origins() : std::vector<ShellSpan>()) {
    for (const ShellCommand& one : subject.reading.in(span)) {
      bool lists_all = false, chooses = false;
      for (const ShellWord& word : one.words) {
        lists_all |= is_one_of(word.text, {"*", "--scan"});
        chooses |= word.text.starts_with("--pattern");
      }
      if (lists_all && !chooses && program_of(one).ends_with("-cli")) return "it deletes every key";
    }
  }
  const auto input = known_input(subject.reading, subject.command);
  return input && contains(to_upper(*input), "FLUSH") ? "it empties the database" : Finding();
}

// rails runner 'User.delete_all', manage.py shell -c 'User.objects.all().delete()': deletes a whole table.
Finding deletes_all_records(const Subject& subject) {
  std::string text = known_input(subject.reading, subject.command).value_or("");
  for (const ShellWord& word : subject.command.words) text += " " + word.text;
  if (contains(text, "objects.all().delete()")) return "it deletes every record of a table";
  for (const std::string_view call : {".delete_all", ".destroy_all"}) {
    const size_t at = text.find(call);
    if (at == std::string::npos || at == 0) continue;
    const size_t before = text.find_last_of(" ;(.\n", at - 1) + 1;  // a class: User, not users.where(...)
    if (before < at && std::isupper(static_cast<unsigned char>(text[before])))
      return "it deletes every record of a table";
  }
  return std::nullopt;
}

Finding drops_documents(const Subject& subject) {
  std::string text = known_input(subject.reading, subject.command).value_or("");
  for (const ShellWord& word : subject.command.words) text += " " + word.text;
  if (contains(text, "dropDatabase(") || contains(text, ".drop(") || contains(text, "deleteMany({})"))
    return "it deletes data that can't be restored";
  return std::nullopt;
}

Finding deletes_from_cluster(const Subject& subject) {
  const auto verb = std::find(subject.operands.begin(), subject.operands.end(), "delete");
  if (verb != subject.operands.end()) {
    const std::string kind = verb + 1 == subject.operands.end() ? "" : *(verb + 1);
    const std::string type = kind.substr(0, kind.find('/'));
    if (is_listed("ns namespace namespaces node nodes pv persistentvolume pvc persistentvolumeclaim crd "
                  "customresourcedefinition all clusterrole",
                  type))
      return fmt::format("it deletes {} with everything in it", type);
    if (subject.option("--all") || subject.option("--all-namespaces") || subject.flag('A'))
      return "it deletes all of them";
  }
  return subject.has("drain") ? "it empties a node of the cluster" : Finding();
}

// docker rm $(docker ps -aq), docker ps -q | xargs docker rm: containers of every project, unless filtered.
Finding deletes_all_containers(const Subject& subject) {
  if (!subject.fed_by("docker podman nerdctl")) return std::nullopt;
  const auto is_filtered = [&](ShellSpan span) {
    return std::ranges::any_of(subject.reading.in(span), [](const ShellCommand& one) {
      return std::ranges::any_of(one.words, [](const ShellWord& word) {
        return starts_with_any(word.text, {"--filter", "name="}) || is_listed("-f compose grep", word.text);
      });
    });
  };
  bool filtered = is_filtered(subject.command.input);
  for (const ShellWord& word : subject.command.words) {
    for (const ShellSpan& span : word.sources) filtered |= is_filtered(span);
  }
  return filtered ? Finding() : "it ends or deletes all of them";
}

}  // namespace ralph
