// Rules about services: databases, clouds, registries and containers.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "policy/known_output.h"
#include "policy/rules.h"

namespace ralph {
namespace {

bool is_dry(const Subject& subject) {
  return subject.option("--dry-run") || subject.has("--help --dry-run=client --dry-run=server");
}

// SQL in upper case, with comments and strings blanked and runs of blanks collapsed: only the statements remain.
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

Finding destruction_in(std::string_view sql) {
  const std::string text = statements_of(sql);
  for (const std::string& raw : split(text, ';')) {
    const std::string statement(trim(raw));
    for (const std::string_view words :
         {"DROP DATABASE", "DROP SCHEMA", "DROP TABLE", "DROP OWNED", "DROP USER", "DROP ROLE"}) {
      if (contains(statement, words)) return std::string(words) + " cannot be undone";
    }
    if (statement.starts_with("TRUNCATE")) return "TRUNCATE cannot be undone";
    if (statement.starts_with("DELETE FROM") && !contains(statement, " WHERE "))
      return "DELETE without WHERE empties the table";
  }
  return std::nullopt;
}

}  // namespace

Finding destroys_database(const Subject& subject) {
  if (subject.program == "dropdb" || subject.program == "dropuser") return "it deletes a database or a user";
  if (subject.program == "mysqladmin" && subject.has("drop")) return "it deletes a database";
  const bool in_container =
      subject.is("docker podman kubectl docker-compose") && subject.has("exec") && (subject.has("psql mysql mariadb"));
  const bool is_sql = in_container || subject.is(
                                          "psql mysql mariadb sqlcmd cockroach clickhouse-client clickhouse sqlplus "
                                          "pgcli mycli bq snowsql duckdb sqlite3 usql mssql-cli trino");
  if (is_sql) {
    if (subject.is("sqlite3 duckdb")) {
      const auto paths = subject.paths(subject.operand(0));
      const bool is_own = subject.operand(0) == ":memory:" || std::ranges::all_of(paths, [&](const std::string& path) {
                            return is_within(path, subject.place.project) || is_temporary(path);
                          });
      if (is_own) return std::nullopt;  // a file of the project
    }
    for (const ShellWord& word : subject.command.words) {
      if (auto found = destruction_in(word.text.substr(
              !contains(word.text, '=') || !word.text.starts_with("--") ? 0 : word.text.find('=') + 1)))
        return found;
      if (word.text.starts_with("-c") || word.text.starts_with("-e")) {
        if (auto found = destruction_in(std::string_view(word.text).substr(2))) return found;
      }
    }
    if (const auto input = known_input(subject.reading, subject.command)) return destruction_in(*input);
    return std::nullopt;
  }
  if (subject.is("redis-cli valkey-cli keydb-cli")) {
    for (const ShellWord& word : subject.command.words) {
      if (is_one_of(to_upper(word.text), {"FLUSHALL", "FLUSHDB", "SHUTDOWN"})) return "it empties or ends the database";
    }
    const auto input = known_input(subject.reading, subject.command);
    if (input && to_upper(*input).find("FLUSH") != std::string::npos) return "it empties the database";
  }
  if (subject.is("mongo mongosh")) {
    std::string text = known_input(subject.reading, subject.command).value_or("");
    for (const ShellWord& word : subject.command.words) text += " " + word.text;
    if (contains(text, "dropDatabase(") || contains(text, ".drop(") || contains(text, "deleteMany({})"))
      return "it deletes data that nothing brings back";
  }
  if (subject.is("rails rake") &&
      std::ranges::any_of(subject.operands, [](const std::string& one) { return one.starts_with("db:drop"); }))
    return "it deletes the database";
  return std::nullopt;
}

Finding destroys_infrastructure(const Subject& subject) {
  if (is_dry(subject)) return std::nullopt;
  const std::string first = subject.operand(0), second = subject.operand(1);
  constexpr CallRow kDestroyers[] = {
      {"terraform tofu terragrunt", "destroy run-all/destroy state/rm", "it destroys infrastructure"},
      {"pulumi cdk vagrant cdktf sst", "destroy stack/rm remove", "it destroys infrastructure"},
      {"helm", "uninstall delete del un", "it removes what was deployed"},
      {"serverless sls amplify", "remove delete", "it deletes what was deployed"},
      {"gh glab", "repo/delete repo/archive", "it deletes things of the forge"},
      {"virsh", "destroy undefine vol-delete pool-destroy", "it destroys a virtual machine"}};
  if (auto finding = first_call(subject, kDestroyers)) return finding;
  if (subject.is("terraform tofu terragrunt") && subject.has("-destroy --destroy")) return "it destroys infrastructure";
  if (subject.is("kubectl oc k3s microk8s")) {
    const auto verb = std::find(subject.operands.begin(), subject.operands.end(), "delete");
    if (verb != subject.operands.end()) {
      const std::string kind = verb + 1 == subject.operands.end() ? "" : *(verb + 1);
      const std::string type = kind.substr(0, kind.find('/'));
      if (is_listed("ns namespace namespaces node nodes pv persistentvolume pvc persistentvolumeclaim crd "
                    "customresourcedefinition all clusterrole",
                    type))
        return fmt::format("it deletes {} with all that is in it", type);
      if (subject.option("--all") || subject.option("--all-namespaces") || subject.flag('A'))
        return "it deletes all of them";
    }
    if (subject.has("drain")) return "it empties a node of the cluster";
  }
  if (subject.program == "aws") {
    const bool empties = first == "s3" && (second == "rb" || (second == "rm" && subject.option("--recursive")) ||
                                           (second == "sync" && subject.option("--delete")));
    if (empties) return "it deletes a bucket or all that is in it";
    for (const std::string& operand : subject.operands) {
      if (starts_with_any(operand, {"delete-", "terminate-", "deregister-", "purge-"}))
        return "it deletes things of the cloud account";
    }
  }
  if (subject.is("gcloud az doctl ibmcloud hcloud linode-cli eksctl oci scw flyctl fly firebase supabase wrangler "
                 "railway aliyun")) {
    for (const std::string& operand : subject.operands) {
      if (is_one_of(operand, {"delete", "destroy", "purge"}) || operand.ends_with(":delete") ||
          operand.ends_with(":destroy"))
        return "it deletes things of the cloud account";
    }
  }
  if (subject.program == "gsutil" &&
      (first == "rb" || (first == "rm" && (subject.flag('r') || subject.flag('R'))) || subject.has("rm")))
    return "it deletes a bucket or all that is in it";
  if (subject.program == "heroku" && (contains(first, ":destroy") || first == "pg:reset"))
    return "it deletes an app or its data";
  if (subject.is("vercel netlify now") && (is_one_of(first, {"rm", "remove"}) || first.ends_with(":delete")))
    return "it deletes what was deployed";
  if (subject.is("gh glab") && first == "api" && subject.has("DELETE -XDELETE --method=DELETE"))
    return "it deletes things of the forge";
  return std::nullopt;
}

Finding publishes(const Subject& subject) {
  constexpr std::string_view kForGood = "a published version can't be taken back", kImage = "a pushed image is public",
                             kRelease = "a release is public";
  constexpr CallRow kPublishers[] = {
      {"npm yarn pnpm bun lerna deno", "publish unpublish deprecate npm/publish", kForGood},
      {"cargo", "publish yank owner", kForGood},
      {"twine", "upload", kForGood},
      {"poetry uv flit hatch pdm changeset vsce ovsx maturin rye jsr", "publish upload", kForGood},
      {"gem", "push yank", kForGood},
      {"gh glab", "release/create release/delete release/upload release/edit release/delete-asset", kRelease},
      {"docker podman nerdctl buildah", "push image/push compose/push", kImage},
      {"skopeo crane", "copy push delete", kImage},
      {"dotnet nuget", "push nuget/push", kForGood},
      {"helm", "push", "a pushed chart is public"},
      {"np semantic-release release-it", "", kForGood}};
  if (is_dry(subject)) return std::nullopt;
  if (auto finding = first_call(subject, kPublishers)) return finding;
  if (subject.is("npm yarn pnpm bun lerna deno") && subject.operand(0) == "dist-tag" && subject.operand(1) != "ls")
    return std::string(kForGood);
  if (subject.program.starts_with("python") && subject.has("-m") && subject.has("twine") && subject.has("upload"))
    return std::string(kForGood);
  for (const std::string& operand : subject.operands) {
    if (subject.is("mvn mvnw gradle gradlew") &&
        (operand.ends_with(":publish") ||
         is_listed("deploy release:perform publish publishPlugins publishToMavenCentral", operand)))
      return std::string(kForGood);
  }
  if (subject.is("docker podman nerdctl buildah") && subject.option("--push")) return std::string(kImage);
  if (subject.program == "goreleaser" && subject.does("release") && !subject.option("--snapshot") &&
      !subject.option("--skip"))
    return std::string(kRelease);
  return std::nullopt;
}

Finding deletes_containers(const Subject& subject) {
  if (!subject.is("docker podman nerdctl docker-compose podman-compose") || subject.has("--help")) return std::nullopt;
  const bool all_images = subject.does("image/prune") && (subject.flag('a') || subject.option("--all"));
  if (all_images || subject.does("system/prune system/reset volume/prune container/prune network/prune"))
    return "it deletes what other projects use too";
  if (subject.does("volume/rm volume/remove")) return "a volume's data can't be brought back";
  if (subject.does("swarm/leave")) return "it takes this machine out of the swarm";
  const bool removes =
      subject.does("rm rmi kill stop container/rm container/kill container/stop image/rm image/kill image/stop");
  if (removes && (subject.option("--all") || (subject.program == "podman" && subject.flag('a'))))
    return "it ends or deletes all of them";
  // docker rm $(docker ps -aq), docker ps -q | xargs docker rm
  if (removes && subject.fed_by("docker podman nerdctl")) {
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
    if (!filtered) return "it ends or deletes all of them";
  }
  return std::nullopt;
}

}  // namespace ralph
