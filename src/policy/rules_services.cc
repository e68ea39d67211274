// Rules about services: databases, clouds, registries and containers.
#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "policy/known_output.h"
#include "policy/rules.h"

namespace ralph {
namespace {

bool is_dry(const Subject& subject) {
  return subject.option("--dry-run") || subject.has("--help") || subject.has("--dry-run=client") ||
         subject.has("--dry-run=server");
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
      if (statement.find(words) != std::string::npos) return std::string(words) + " cannot be undone";
    }
    if (statement.starts_with("TRUNCATE")) return "TRUNCATE cannot be undone";
    if (statement.starts_with("DELETE FROM") && statement.find(" WHERE ") == std::string::npos)
      return "DELETE without WHERE empties the table";
  }
  return std::nullopt;
}

}  // namespace

Finding destroys_database(const Subject& subject) {
  if (subject.program == "dropdb" || subject.program == "dropuser") return "it deletes a database or a user";
  if (subject.program == "mysqladmin" && subject.has("drop")) return "it deletes a database";
  const bool in_container = subject.is({"docker", "podman", "kubectl", "docker-compose"}) && subject.has("exec") &&
                            (subject.has("psql") || subject.has("mysql") || subject.has("mariadb"));
  const bool is_sql = in_container || subject.is({"psql", "mysql", "mariadb", "sqlcmd", "cockroach",
                                                  "clickhouse-client", "clickhouse", "sqlplus", "pgcli", "mycli", "bq",
                                                  "snowsql", "duckdb", "sqlite3", "usql", "mssql-cli", "trino"});
  if (is_sql) {
    if (subject.is({"sqlite3", "duckdb"})) {
      const auto paths = subject.paths(subject.operand(0));
      const bool is_own =
          subject.operand(0) == ":memory:" || std::all_of(paths.begin(), paths.end(), [&](const std::string& path) {
            return is_within(path, subject.place.project) || is_temporary(path);
          });
      if (is_own) return std::nullopt;  // a file of the project
    }
    for (const ShellWord& word : subject.command.words) {
      if (auto found = destruction_in(word.text.substr(
              word.text.find('=') == std::string::npos || !word.text.starts_with("--") ? 0 : word.text.find('=') + 1)))
        return found;
      if (word.text.starts_with("-c") || word.text.starts_with("-e")) {
        if (auto found = destruction_in(std::string_view(word.text).substr(2))) return found;
      }
    }
    if (const auto input = known_input(subject.reading, subject.command)) return destruction_in(*input);
    return std::nullopt;
  }
  if (subject.is({"redis-cli", "valkey-cli", "keydb-cli"})) {
    for (const ShellWord& word : subject.command.words) {
      if (is_one_of(to_upper(word.text), {"FLUSHALL", "FLUSHDB", "SHUTDOWN"})) return "it empties or ends the database";
    }
    const auto input = known_input(subject.reading, subject.command);
    if (input && to_upper(*input).find("FLUSH") != std::string::npos) return "it empties the database";
  }
  if (subject.is({"mongo", "mongosh"})) {
    std::string text = known_input(subject.reading, subject.command).value_or("");
    for (const ShellWord& word : subject.command.words) text += " " + word.text;
    if (text.find("dropDatabase(") != std::string::npos || text.find(".drop(") != std::string::npos ||
        text.find("deleteMany({})") != std::string::npos)
      return "it deletes data that nothing brings back";
  }
  if (subject.is({"rails", "rake"}) && std::any_of(subject.operands.begin(), subject.operands.end(),
                                                   [](const std::string& one) { return one.starts_with("db:drop"); }))
    return "it deletes the database";
  return std::nullopt;
}

Finding destroys_infrastructure(const Subject& subject) {
  if (is_dry(subject)) return std::nullopt;
  const std::string first = subject.operand(0), second = subject.operand(1);
  if (subject.is({"terraform", "tofu", "terragrunt"})) {
    if (first == "destroy" || subject.has("-destroy") || subject.has("--destroy") ||
        (first == "run-all" && second == "destroy") || (first == "state" && second == "rm"))
      return "it destroys infrastructure";
  }
  if (subject.is({"pulumi", "cdk", "vagrant", "cdktf", "sst"}) &&
      (first == "destroy" || (first == "stack" && second == "rm") || first == "remove"))
    return "it destroys infrastructure";
  if (subject.is({"kubectl", "oc", "k3s", "microk8s"})) {
    const auto verb = std::find(subject.operands.begin(), subject.operands.end(), "delete");
    if (verb != subject.operands.end()) {
      const std::string kind = verb + 1 == subject.operands.end() ? "" : *(verb + 1);
      const std::string type = kind.substr(0, kind.find('/'));
      if (is_one_of(type, {"ns", "namespace", "namespaces", "node", "nodes", "pv", "persistentvolume", "pvc",
                           "persistentvolumeclaim", "crd", "customresourcedefinition", "all", "clusterrole"}))
        return fmt::format("it deletes {} with all that is in it", type);
      if (subject.option("--all") || subject.option("--all-namespaces") || subject.flag('A'))
        return "it deletes all of them";
    }
    if (subject.has("drain")) return "it empties a node of the cluster";
  }
  if (subject.program == "helm" && is_one_of(first, {"uninstall", "delete", "del", "un"}))
    return "it removes what was deployed";
  if (subject.program == "aws") {
    const bool empties = first == "s3" && (second == "rb" || (second == "rm" && subject.option("--recursive")) ||
                                           (second == "sync" && subject.option("--delete")));
    if (empties) return "it deletes a bucket or all that is in it";
    for (const std::string& operand : subject.operands) {
      if (operand.starts_with("delete-") || operand.starts_with("terminate-") || operand.starts_with("deregister-") ||
          operand.starts_with("purge-"))
        return "it deletes things of the cloud account";
    }
  }
  if (subject.is({"gcloud", "az", "doctl", "ibmcloud", "hcloud", "linode-cli", "eksctl", "oci", "scw", "flyctl", "fly",
                  "firebase", "supabase", "wrangler", "railway", "aliyun"})) {
    for (const std::string& operand : subject.operands) {
      if (is_one_of(operand, {"delete", "destroy", "purge"}) || operand.ends_with(":delete") ||
          operand.ends_with(":destroy"))
        return "it deletes things of the cloud account";
    }
  }
  if (subject.program == "gsutil" &&
      (first == "rb" || (first == "rm" && (subject.flag('r') || subject.flag('R'))) || subject.has("rm")))
    return "it deletes a bucket or all that is in it";
  if (subject.program == "heroku" && (first.find(":destroy") != std::string::npos || first == "pg:reset"))
    return "it deletes an app or its data";
  if (subject.is({"vercel", "netlify", "now"}) && (is_one_of(first, {"rm", "remove"}) || first.ends_with(":delete")))
    return "it deletes what was deployed";
  if (subject.is({"serverless", "sls", "amplify"}) && is_one_of(first, {"remove", "delete"}))
    return "it deletes what was deployed";
  if (subject.is({"gh", "glab"}) &&
      ((first == "repo" && is_one_of(second, {"delete", "archive"})) ||
       (first == "api" && (subject.has("DELETE") || subject.has("-XDELETE") || subject.has("--method=DELETE")))))
    return "it deletes things of the forge";
  if (subject.program == "virsh" && is_one_of(first, {"destroy", "undefine", "vol-delete", "pool-destroy"}))
    return "it destroys a virtual machine";
  return std::nullopt;
}

Finding publishes(const Subject& subject) {
  if (is_dry(subject)) return std::nullopt;
  const std::string first = subject.operand(0), second = subject.operand(1);
  if (subject.is({"npm", "yarn", "pnpm", "bun", "lerna", "deno"}) &&
      (is_one_of(first, {"publish", "unpublish", "deprecate"}) || (first == "npm" && second == "publish") ||
       (first == "dist-tag" && second != "ls")))
    return "a published version can't be taken back";
  if (subject.program == "cargo" && is_one_of(first, {"publish", "yank", "owner"}))
    return "a published version can't be taken back";
  if (subject.program == "twine" && first == "upload") return "a published version can't be taken back";
  if (subject.program.starts_with("python") && subject.has("-m") && subject.has("twine") && subject.has("upload"))
    return "a published version can't be taken back";
  if (subject.is({"poetry", "uv", "flit", "hatch", "pdm", "changeset", "vsce", "ovsx", "maturin", "rye", "jsr"}) &&
      (first == "publish" || first == "upload"))
    return "a published version can't be taken back";
  if (subject.program == "gem" && is_one_of(first, {"push", "yank"})) return "a published version can't be taken back";
  if (subject.is({"gh", "glab"}) && first == "release" &&
      is_one_of(second, {"create", "delete", "upload", "edit", "delete-asset"}))
    return "a release is public";
  if (subject.is({"mvn", "mvnw", "gradle", "gradlew"})) {
    for (const std::string& operand : subject.operands) {
      if (operand == "deploy" || operand == "release:perform" || operand == "publish" || operand == "publishPlugins" ||
          operand.ends_with(":publish") || operand == "publishToMavenCentral")
        return "a published version can't be taken back";
    }
  }
  if (subject.is({"docker", "podman", "nerdctl", "buildah"}) &&
      (first == "push" || subject.option("--push") || (first == "image" && second == "push") ||
       (first == "compose" && second == "push")))
    return "a pushed image is public";
  if (subject.is({"skopeo", "crane"}) && is_one_of(first, {"copy", "push", "delete"}))
    return "a pushed image is public";
  if (subject.is({"dotnet", "nuget"}) && (first == "push" || (first == "nuget" && second == "push")))
    return "a published version can't be taken back";
  if (subject.program == "goreleaser" && first == "release" && !subject.option("--snapshot") &&
      !subject.option("--skip"))
    return "a release is public";
  if (subject.program == "helm" && first == "push") return "a pushed chart is public";
  if (subject.is({"np", "semantic-release", "release-it"})) return "a published version can't be taken back";
  return std::nullopt;
}

Finding deletes_containers(const Subject& subject) {
  if (!subject.is({"docker", "podman", "nerdctl", "docker-compose", "podman-compose"}) || subject.has("--help"))
    return std::nullopt;
  const std::string first = subject.operand(0), second = subject.operand(1);
  if (first == "system" && (second == "prune" || second == "reset")) return "it deletes what other projects use too";
  if (second == "prune" && is_one_of(first, {"volume", "container", "network"}))
    return "it deletes what other projects use too";
  if (first == "image" && second == "prune" && (subject.flag('a') || subject.option("--all")))
    return "it deletes what other projects use too";
  if (first == "volume" && is_one_of(second, {"rm", "remove"})) return "a volume's data can't be brought back";
  if (first == "swarm" && second == "leave") return "it takes this machine out of the swarm";
  const bool removes = is_one_of(first, {"rm", "rmi", "kill", "stop"}) ||
                       (is_one_of(first, {"container", "image"}) && is_one_of(second, {"rm", "kill", "stop"}));
  if (removes && (subject.option("--all") || (subject.program == "podman" && subject.flag('a'))))
    return "it ends or deletes all of them";
  // docker rm $(docker ps -aq), docker ps -q | xargs docker rm
  if (removes && subject.fed_by({"docker", "podman", "nerdctl"})) {
    const auto is_filtered = [&](ShellSpan span) {
      for (int i = span.first; i < span.last; ++i) {
        for (const ShellWord& word : subject.reading.commands[static_cast<size_t>(i)].words) {
          if (word.text.starts_with("--filter") || word.text == "-f" || word.text.starts_with("name=") ||
              word.text == "compose" || word.text == "grep")
            return true;
        }
      }
      return false;
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
