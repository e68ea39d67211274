// The table of rules. A row is a family of commands that must not run; if a command's words are not enough to decide, a
// function does. Rows are in the order of the categories, and the first finding wins.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/rules.h"

namespace ralph {
namespace {

using enum Category;

constexpr std::string_view kNoHelp = "--help --version";
constexpr std::string_view kDry = "--dry-run --help";
constexpr std::string_view kPrints = "it prints credentials";
constexpr std::string_view kRemovesPackages = "it removes or replaces packages of the system";
constexpr std::string_view kServices = "it changes services of the system";
constexpr std::string_view kStartsItself = "it makes a service start by itself";
constexpr std::string_view kEndsMachine = "it shuts down or restarts this machine";
constexpr std::string_view kFirewall = "it changes the firewall";
constexpr std::string_view kNetwork = "it changes the network's configuration";
constexpr std::string_view kEmptiesDatabase = "it deletes the contents of the database";
constexpr std::string_view kDestroys = "it destroys infrastructure";
constexpr std::string_view kCloud = "it deletes resources in the cloud account";
constexpr std::string_view kBucket = "it deletes a bucket or its contents";
constexpr std::string_view kForge = "it deletes things on the forge";
constexpr std::string_view kDeployed = "it deletes what was deployed";
constexpr std::string_view kForGood = "a published version can't be taken back";
constexpr std::string_view kImage = "a pushed image is public";
constexpr std::string_view kRelease = "a release is public";
constexpr std::string_view kOthersUse = "it deletes what other projects use too";
constexpr std::string_view kAllOfThem = "it ends or deletes all of them";
constexpr std::string_view kUncommitted = "it discards all uncommitted changes";
constexpr std::string_view kRewrites = "it rewrites the whole history";
constexpr std::string_view kFromNetwork = "what it runs comes straight from the network";

constexpr Rule kRules[] = {
    {kTamperRalph, "", "", "", "", "", tampers_with_ralph},
    {kTamperRalph, "", "", "", "", "", steers_hooks},
    {kTamperRalph, "ralph", "loop/cancel", "", "", "only the user cancels a loop"},
    {kTamperRalph, "ralph", "hooks/uninstall hooks/install", "", "--dry-run", "only the user changes ralph's hooks"},
    // The host calls these hooks to report events. Called by the agent, they would end its loop or report events that
    // never happened.
    {kTamperRalph, "ralph",
     "hooks/cancel-loop hooks/stop hooks/stop-loop hooks/session-start hooks/session-end hooks/user-prompt "
     "hooks/post-tool hooks/context-monitor",
     "", "--help", "only the host calls ralph's hooks, and only the user ends a loop"},
    {kTamperRalph, "ralph", "plan/archive", "", "", "only the user archives a plan"},
    {kTamperRalph, "ralph", "trust", "", "--list --help", "only the user accepts a project's commands"},
    {kTamperRalph, "ralph", "", "--trust", "--help", "only the user accepts a project's commands"},
    {kTamperRalph, "ralph", "plan/run", "--accept-tasks", "--help", "only the user accepts a changed plan"},
    {kTamperRalph, "hash", "*/ralph", "-p", "", "it puts another program in ralph's place"},
    {kTamperRalph, "alias", "ralph=*", "", "", "it puts another program in ralph's place"},
    {kTamperRalph, "kill pkill killall", "", "", "", "", ends_host},

    // Even without -r: the reader turns `find . -type f -exec rm {} +` into `rm .`, which nobody would type.
    {kDeleteProject, "rm rmdir shred srm mv unlink rimraf rsync trash trash-put gio git tar gtar bsdtar zip 7z 7za rar",
     "", "", "", "", deletes_project},
    {kDeleteProject, "", "", "", "", "", empties_project},
    {kDeleteProject, "gzip bzip2 xz zstd", ".../. .../..", "-r --recursive", "-k --keep -d -l",
     "it replaces every file of the project"},
    {kDeleteOutside, "", "", "", "", "", deletes_outside},
    {kDeleteOutside, "rm rmdir shred srm unlink rimraf trash trash-put", "", "", "", "", deletes_unknown},
    {kDeleteOutside, "tar", "", "--recursive-unlink", "", "it deletes whole folders before it unpacks"},

    {kDeviceWrite, "", "", "", "", "", writes_to_device},
    {kDeviceWrite,
     "mkfs mkfs.* wipefs mkswap sfdisk sgdisk blkdiscard mke2fs fdisk gdisk parted cfdisk hdparm badblocks cryptsetup "
     "pvcreate vgremove lvremove pvremove zpool",
     "", "", "-l --list --help --version", "", changes_disks},
    {kDeviceWrite, "nvme", "format sanitize write-zeroes delete-ns", "", kNoHelp, "it erases a disk"},
    {kDeviceWrite, "mdadm", "", "--zero-superblock --create --stop", kNoHelp, "it changes disks"},
    {kDeviceWrite, "diskutil", "erase*", "", "", "it erases a disk"},

    {kCredentialRead, "", "", "", "", "", reads_credentials},
    {kCredentialRead, "gpg gpg2", "", "--export-secret-keys --export-secret-subkeys", "", "it prints secret keys"},
    {kCredentialRead, "gh", "auth/token", "", "", kPrints},
    {kCredentialRead, "git", "credential/fill", "", "", kPrints},
    {kCredentialRead, "aws", "configure/get configure/export-credentials", "", "", kPrints},
    {kCredentialRead, "az", "account/get-access-token", "", "", kPrints},
    {kCredentialRead, "gcloud", "auth/print-*", "", "", kPrints},
    {kCredentialRead, "security", "find-* dump-keychain", "", "", kPrints},
    {kCredentialRead, "kubectl oc", "get/secret*", "-o --output", "", kPrints},
    {kCredentialRead, "secret-tool", "lookup", "", "", kPrints},
    {kCredentialRead, "pass", "show", "", "", kPrints},
    {kCredentialRead, "op vault", "read kv/get", "", "", kPrints},
    {kCredentialRead, "keyring", "get", "", "", kPrints},
    {kCredentialRead, "ssh-keygen", "", "-y", "", kPrints},

    {kReverseShell, "", "", "", "", "", opens_reverse_shell},
    {kReverseShell, "ssh autossh", "", "-R", "-V", "it gives another machine access to this one"},

    {kReverseShell, "ztcp", "*", "", "", "it connects a shell to a network address"},
    {kReverseShell, "ngrok", "tcp", "", "", "it gives another machine access to this one"},

    {kDownloadAndRun, "", "", "", "", "", runs_download},
    {kDownloadAndRun, "deno bun", "run/http*", "", "", kFromNetwork},
    {kDownloadAndRun, "deno bun npx bunx", "http*", "", "", kFromNetwork},

    {kExfiltration, "curl wget http https xh", "", "", "", "", uploads_by_http},
    {kExfiltration, "scp rsync sftp rclone croc", "", "", "", "", sends_files},
    {kExfiltration, "aws gsutil az gcloud mc s3cmd", "", "", "", "", copies_to_bucket},
    {kExfiltration, "nc ncat netcat nc.openbsd nc.traditional socat telnet openssl", "", "", "", "", sends_to_socket},
    {kExfiltration, "ssh", "", "", "", "", sends_by_ssh},
    {kExfiltration, "dig nslookup host ping", "", "", "", "", looks_up_data},
    {kExfiltration, "mail mailx mutt sendmail", "", "", "", "", mails_data},
    {kExfiltration, "gh", "gist/create", "", "", "it publishes files as a gist"},
    {kExfiltration, "lftp smbclient", "", "*put*", "", "it sends files to another machine"},
    {kExfiltration, "git hub", "push send-pack", "", "--dry-run -n", "", pushes_elsewhere},
    {kExfiltration, "", "", "", "", "", writes_to_network},

    {kHistoryRewrite, "bfg git-filter-repo git-filter-branch", "", "", kNoHelp, kRewrites},
    {kHistoryRewrite, "git", "push", "-f --force --force-with-lease", "--dry-run -n",
     "a forced push replaces commits that others may have"},
    {kHistoryRewrite, "git", "push", "--mirror --prune", "--dry-run -n", "it removes branches of the remote"},
    {kHistoryRewrite, "git", "push", "--delete -d", "--dry-run -n", "it deletes a branch or tag of the remote"},
    {kHistoryRewrite, "git", "push", "", "--dry-run -n", "", forces_by_refspec},
    {kHistoryRewrite, "git", "filter-branch filter-repo", "", "", kRewrites},
    {kHistoryRewrite, "git", "reflog/expire reflog/delete", "", "", "the reflog is the way back from mistakes"},
    {kHistoryRewrite, "git", "gc", "--prune=now --prune=all --prune=0", "",
     "it deletes commits that could still be brought back"},
    {kHistoryRewrite, "git", "prune", "", "", "it deletes commits that could still be brought back"},
    {kHistoryRewrite, "git", "update-ref", "-d --stdin", "", "it deletes references"},
    {kHistoryRewrite, "git", "symbolic-ref", "-d --delete", "", "it deletes references"},
    {kHistoryRewrite, "git", "replace/*", "", "-l --list", "it replaces commits"},

    {kDiscardWork, "git", "clean", "", "-n --dry-run", "", cleans_all},
    {kDiscardWork, "git", "checkout restore", "", "", "", discards_all},
    {kDiscardWork, "git", "stash/clear", "", "", "it deletes all stashes"},
    {kDiscardWork, "git", "switch", "--discard-changes -f --force", "", kUncommitted},
    {kDiscardWork, "git", "checkout-index", "-f&-a", "", kUncommitted},
    {kDiscardWork, "git", "read-tree", "-u&--reset", "", kUncommitted},
    {kDiscardWork, "git", "worktree/remove", "-f --force", "", "it discards uncommitted work in that tree"},

    {kPrivilege, "sudo su doas pkexec runuser gosu sudoedit visudo run0", "", "", kNoHelp,
     "{} runs things as another user"},
    {kPrivilege, "machinectl", "shell login", "", kNoHelp, "{} runs things as another user"},
    {kPrivilege, "capsh", "", "--uid=0 --gid=0 --user=root", kNoHelp, "{} runs things as another user"},
    {kPrivilege, "chmod", "", "", "", "", sets_user_bit},
    {kPrivilege,
     "setcap useradd usermod userdel adduser deluser groupadd groupmod gpasswd passwd chpasswd vipw nsenter", "", "",
     kNoHelp, "{} changes users or their rights"},
    {kPrivilege, "chown chgrp", "", "", "", "", changes_owner},
    {kPrivilege, "docker podman nerdctl", "run create", "--privileged --pid=host", "",
     "a privileged container is root on this machine"},
    {kPrivilege, "docker podman nerdctl", "run create", "", "", "", mounts_whole_disk},

    {kPermissions, "chmod", "", "", "", "", loosens_permissions},
    {kPermissions, "setfacl", "", "", "", "", loosens_access_lists},

    {kPersistence, "", "", "", "", "", writes_start_up_file},
    {kPersistence, "", "", "", "", "", preloads_library},
    {kPersistence, "ssh-copy-id", "", "", "-n -h", "it lets a key log in permanently"},
    {kPersistence, "crontab", "", "", "-l", "it changes the user's cron jobs"},
    {kPersistence, "at batch", "", "", "-l", "it schedules a command for later"},
    {kPersistence, "systemctl", "enable link edit reenable", "", "", kStartsItself},
    {kPersistence, "loginctl", "enable-linger", "", kNoHelp, "it keeps processes running after the session"},
    {kPersistence, "systemd-run", "", "", "", "it starts a service outside the session"},
    {kPersistence, "launchctl", "load bootstrap submit enable", "", "", kStartsItself},
    {kPersistence, "update-rc.d ldconfig", "", "", "", "it changes what the system starts or loads"},
    {kPersistence, "chkconfig", "*/*", "", "", "it changes what the system starts or loads"},
    {kPersistence, "npm pnpm yarn", "config/set", "script-shell script-shell=*", "",
     "it makes every later script run in another shell"},
    {kPersistence, "git", "", "", "", "", passes_program_to_git},
    {kPersistence, "git", "", "--exec-path=*", "", "it makes git run the programs of another folder"},
    {kPersistence, "git", "config", "", "--get --get-all --get-regexp --list -l --unset", "",
     configures_program_for_git},

    {kExhaustion, "", "", "", "", "", spawns_forever},
    {kExhaustion, "yes cat tee cp base64 xxd od tail sort dd", "", "", "", "", fills_disk},
    {kExhaustion, "fallocate truncate mkfile", "", "", "", "", makes_huge_file},
    {kExhaustion, "stress stress-ng", "", "", kNoHelp, "it uses up the whole machine"},
    {kExhaustion, "", "", "", "", "", forks_forever},

    {kKillProcesses, "shutdown reboot halt poweroff telinit kexec", "", "", kNoHelp, kEndsMachine},
    {kKillProcesses, "init", "0 1 6 s S", "", "", kEndsMachine},
    {kKillProcesses, "systemctl", "reboot poweroff halt suspend hibernate kexec rescue emergency", "", kNoHelp,
     kEndsMachine},
    {kKillProcesses, "loginctl", "terminate-* kill-*", "", kNoHelp, "it ends users' sessions"},
    {kKillProcesses, "", "", "", "", "", ends_by_signal},
    {kKillProcesses, "tmux", "kill-server", "", "", "it ends every tmux session, whoever started it"},
    {kKillProcesses, "killall5", "", "", kNoHelp, "it ends every process"},
    {kKillProcesses, "killall", "", "-9 -KILL -SIGKILL KILL", "--help --version",
     "it ends processes by name, whoever started them, and leaves them no time"},
    {kKillProcesses, "pkill skill killall", "", "", "-l --help --version", "", ends_by_pattern},

    {kSystemChange, "yum dnf zypper microdnf", "remove erase autoremove rm upgrade distro-sync downgrade", "", kNoHelp,
     kRemovesPackages},
    {kSystemChange, "apk", "del", "", kNoHelp, kRemovesPackages},
    {kSystemChange, "brew snap flatpak port", "uninstall remove rm autoremove", "", kNoHelp, kRemovesPackages},
    {kSystemChange, "apt apt-get aptitude", "remove purge autoremove dist-upgrade full-upgrade upgrade autopurge", "",
     "--dry-run --simulate -s --help --version", kRemovesPackages},
    {kSystemChange, "dpkg", "", "-r -P --remove --purge", kNoHelp, kRemovesPackages},
    {kSystemChange, "rpm", "", "-e --erase", kNoHelp, kRemovesPackages},
    {kSystemChange, "pacman", "", "-R -Rs -Rns -Rn -Rc -Rsc -Rdd --remove", kNoHelp, kRemovesPackages},
    {kSystemChange, "launchctl", "unload bootout remove disable kill", "", kNoHelp, kServices},
    {kSystemChange, "systemctl", "stop disable mask kill isolate set-default restart daemon-reload", "",
     "--user --help --version", kServices},
    {kSystemChange, "service rc-service", "*/stop */restart */reload", "", kNoHelp, kServices},
    {kSystemChange, "sysctl", "", "-w -p", kNoHelp, "it changes the kernel's settings"},
    {kSystemChange, "sysctl", "*=*", "", kNoHelp, "it changes the kernel's settings"},
    {kSystemChange, "modprobe rmmod insmod swapoff umount update-grub grub-install hostnamectl update-alternatives",
     "*", "", "status --list --display --help --version", "{} changes the system"},
    {kSystemChange, "swapoff umount update-grub", "", "-a --all", kNoHelp, "{} changes the system"},
    {kSystemChange, "mount", "*/*", "", kNoHelp, "it mounts a file system"},
    {kSystemChange, "timedatectl", "set-*", "", kNoHelp, "it changes the system's clock"},
    {kSystemChange, "date", "", "-s --set", "-u --help --version", "it changes the system's clock"},
    {kSystemChange, "", "", "", "", "", writes_system_file},

    {kNetworkChange, "iptables-restore ip6tables-restore", "", "", kNoHelp, "it replaces the firewall's rules"},
    {kNetworkChange, "ifdown ifup wg-quick dhclient", "", "", kNoHelp, "it changes an interface"},
    {kNetworkChange, "route", "add del delete flush change", "", kNoHelp, "it changes routes"},
    {kNetworkChange, "tailscale resolvectl rfkill", "down up logout set dns revert block", "", kNoHelp, kNetwork},
    {kNetworkChange, "iptables ip6tables ebtables arptables", "", "",
     "-L -S --list --list-rules -C -V --help --version", kFirewall},
    {kNetworkChange, "nft", "add create delete destroy flush insert replace reset rename import", "", kNoHelp,
     kFirewall},
    {kNetworkChange, "nft", "", "-f --file", kNoHelp, kFirewall},
    {kNetworkChange, "ufw", "", "", "status show version --help --version", kFirewall},
    {kNetworkChange, "pfctl", "", "", "-s --help --version", kFirewall},
    {kNetworkChange, "firewall-cmd", "", "",
     "--list-all --state --get-default-zone --list-ports --list-services --help --version", kFirewall},
    {kNetworkChange, "ip", "", "", "show --help --version", "", changes_interfaces},
    {kNetworkChange, "ifconfig", "*/*", "", kNoHelp, "it changes an interface"},
    {kNetworkChange, "nmcli", "", "off down delete modify disconnect", kNoHelp, kNetwork},
    {kNetworkChange, "tc", "*/add */del */replace */change", "", kNoHelp, "it changes how traffic flows"},
    {kNetworkChange, "networksetup", "", "-set*", kNoHelp, kNetwork},

    {kDatabase, "dropdb dropuser", "", "", kNoHelp, "it deletes a database or a user"},
    {kDatabase, "mysqladmin", "", "drop", kNoHelp, "it deletes a database"},
    {kDatabase,
     "psql mysql mariadb sqlcmd cockroach clickhouse-client clickhouse sqlplus pgcli mycli bq snowsql duckdb sqlite3 "
     "usql mssql-cli trino cqlsh",
     "", "", "", "", destroys_by_sql},
    {kDatabase, "wrangler", "d1/execute", "", "--local --help", "", destroys_by_sql},
    {kDatabase, "redis-cli valkey-cli keydb-cli dragonfly-cli", "", "", "", "", empties_key_store},
    {kDatabase, "mongo mongosh", "", "", "", "", drops_documents},
    {kDatabase, "influx", "bucket/delete delete", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "bq", "rm", "-r -f --force --recursive", kNoHelp, kEmptiesDatabase},
    // Frameworks that can reset a database with one word.
    {kDatabase, "rails rake",
     ".../db:drop* .../db:reset .../db:purge .../db:migrate:reset .../db:seed:replant .../db:schema:load "
     ".../db:structure:load",
     "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "rails", "runner r console c", "", kNoHelp, "", deletes_all_records},
    {kDatabase, "python* pypy*", "*manage.py/shell *manage.py/shell_plus", "", kNoHelp, "", deletes_all_records},
    {kDatabase, "manage.py django-admin django", "shell shell_plus", "", kNoHelp, "", deletes_all_records},
    {kDatabase, "wp", ".../db/reset .../db/drop .../db/clean .../site/empty", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "drush", ".../sql-drop .../sql:drop .../site:install .../site-install", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "meteor", "reset", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "convex", "import", "--replace --replace-all", kNoHelp, kEmptiesDatabase},
    {kDatabase, "rails rake", "", "DISABLE_DATABASE_ENVIRONMENT_CHECK=1", kNoHelp,
     "it switches off the guard of a production database"},
    {kDatabase, "python* pypy*", "*manage.py/flush *manage.py/reset_db *manage.py/sqlflush", "", kNoHelp,
     kEmptiesDatabase},
    {kDatabase, "manage.py django-admin django", "flush reset_db sqlflush", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "python* pypy*", "*manage.py/migrate", "zero", "--plan --help", kEmptiesDatabase},
    {kDatabase, "manage.py django-admin django", "migrate", "zero", "--plan --help", kEmptiesDatabase},
    {kDatabase, "php sail",
     "*artisan/migrate:fresh *artisan/migrate:refresh *artisan/migrate:reset *artisan/db:wipe "
     "*console/doctrine:database:drop *console/doctrine:schema:drop",
     "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "artisan", "migrate:fresh migrate:refresh migrate:reset db:wipe", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "console", "doctrine:database:drop doctrine:schema:drop", "", "--dump-sql --help", kEmptiesDatabase},
    {kDatabase, "console", "doctrine:fixtures:load", "", "--append --help", kEmptiesDatabase},
    {kDatabase, "prisma", "migrate/reset", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "prisma", "db/push", "--force-reset --accept-data-loss", kNoHelp, kEmptiesDatabase},
    {kDatabase, "sequelize sequelize-cli", "db:drop db:migrate:undo:all db:seed:undo:all", "", kNoHelp,
     kEmptiesDatabase},
    {kDatabase, "typeorm typeorm-ts-node-commonjs typeorm-ts-node-esm", "schema:drop", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "mikro-orm", "schema:drop schema:fresh migration:fresh", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "knex", ".../migrate:rollback", "--all", kNoHelp, kEmptiesDatabase},
    {kDatabase, "drizzle-kit", "drop", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "drizzle-kit", "push", "--force", kNoHelp, "it drops columns and tables without asking"},
    {kDatabase, "mix", ".../ecto.drop* .../ecto.reset*", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "mix", "ecto.rollback", "--all", kNoHelp, kEmptiesDatabase},
    {kDatabase, "alembic", ".../downgrade/base", "", "--sql --help", kEmptiesDatabase},
    {kDatabase, "flask", ".../db/downgrade", "base", "--sql --help", kEmptiesDatabase},
    {kDatabase, "dotnet dotnet-ef", ".../database/drop .../update/0", "", "--dry-run --help", kEmptiesDatabase},
    {kDatabase, "flyway", ".../clean", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "mvn mvnw gradle gradlew", ".../flyway:clean .../flywayClean", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "liquibase", ".../drop-all .../dropAll", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "sqlx diesel", "database/drop database/reset", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "diesel", "migration/revert migration/redo", "-a --all", kNoHelp, kEmptiesDatabase},
    {kDatabase, "sea-orm-cli", "migrate/fresh migrate/reset migrate/refresh", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "supabase", "db/reset", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "hasura", "migrate/apply", "--down", kNoHelp, kEmptiesDatabase},
    {kDatabase, "hasura", "database/drop", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "atlas", "schema/clean", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "etcdctl", "del", "--prefix --from-key", kNoHelp, kEmptiesDatabase},
    {kDatabase, "goose", ".../reset", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "migrate", ".../drop", "", kNoHelp, kEmptiesDatabase},
    {kDatabase, "migrate", ".../down", "-all --all", kNoHelp, kEmptiesDatabase},
    {kDatabase, "dbmate", "drop", "", kNoHelp, kEmptiesDatabase},

    {kInfrastructure, "terraform tofu terragrunt", "destroy run-all/destroy state/rm", "", kDry, kDestroys},
    {kInfrastructure, "terraform tofu terragrunt", "", "-destroy --destroy", kDry, kDestroys},
    {kInfrastructure, "pulumi cdk vagrant cdktf sst helmfile", "destroy stack/rm remove", "", kDry, kDestroys},
    {kInfrastructure, "sam", "delete", "", kDry, kDeployed},
    {kInfrastructure, "railway", "down", "", kDry, kDeployed},
    {kInfrastructure, "argocd", ".../delete", "", kDry, kDeployed},
    {kInfrastructure, "nomad", "job/stop stop", "-purge", kDry, kDeployed},
    {kInfrastructure, "consul", "kv/delete", "-recurse", kDry, kDestroys},
    {kInfrastructure, "kind", "delete/clusters", "", kDry, "it deletes the clusters of other projects too"},
    {kInfrastructure, "minikube multipass", "delete", "--all", kDry, "it deletes the machines of other projects too"},
    {kInfrastructure, "colima", "delete", "", kDry, "it deletes the containers of other projects too"},
    {kInfrastructure, "helm", "uninstall delete del un", "", kDry, "it removes what was deployed"},
    {kInfrastructure, "serverless sls amplify", "remove delete", "", kDry, kDeployed},
    {kInfrastructure, "gh glab", "repo/delete repo/archive secret/delete secret/remove", "", kDry, kForge},
    {kInfrastructure, "gh glab", "api", "DELETE -XDELETE --method=DELETE", kDry, kForge},
    {kInfrastructure, "virsh", "destroy undefine vol-delete pool-destroy", "", kDry, "it destroys a virtual machine"},
    {kInfrastructure, "kubectl oc k3s microk8s", "", "", "--dry-run --dry-run=client --dry-run=server --help", "",
     deletes_from_cluster},
    {kInfrastructure, "aws", "s3/rb", "", kDry, kBucket},
    {kInfrastructure, "aws", "s3/rm", "--recursive", kDry, kBucket},
    {kInfrastructure, "aws", "s3/sync", "--delete", kDry, kBucket},
    {kInfrastructure, "aws", ".../delete-* .../terminate-* .../deregister-* .../purge-*", "", kDry, kCloud},
    {kInfrastructure,
     "gcloud az doctl ibmcloud hcloud linode-cli eksctl oci scw flyctl fly firebase supabase wrangler railway aliyun",
     ".../delete .../destroy .../purge .../*:delete .../*:destroy .../database:remove", "", kDry, kCloud},
    {kInfrastructure, "gsutil", "rb .../rm", "", kDry, kBucket},
    {kInfrastructure, "heroku", "*:destroy pg:reset", "", kDry, "it deletes an app or its data"},
    {kInfrastructure, "vercel netlify now", "rm remove *:delete", "", kDry, kDeployed},

    {kPublish, "npm yarn pnpm bun lerna deno", "publish unpublish deprecate npm/publish", "", kDry, kForGood},
    {kPublish, "npm yarn pnpm bun lerna deno", "dist-tag/add dist-tag/rm dist-tag/set dist-tag/remove", "", kDry,
     kForGood},
    {kPublish, "cargo", "publish yank owner", "", kDry, kForGood},
    {kPublish, "twine", "upload", "", kDry, kForGood},
    {kPublish, "python* pypy*", "twine/upload", "-m", kDry, kForGood},
    {kPublish, "poetry uv flit hatch pdm changeset vsce ovsx maturin rye jsr", "publish upload", "", kDry, kForGood},
    {kPublish, "gem", "push yank", "", kDry, kForGood},
    {kPublish, "gh glab", "release/create release/delete release/upload release/edit release/delete-asset", "", kDry,
     kRelease},
    {kPublish, "docker podman nerdctl buildah", "push image/push compose/push", "", kDry, kImage},
    {kPublish, "docker podman nerdctl buildah", "", "--push", kDry, kImage},
    {kPublish, "skopeo crane", "copy push delete", "", kDry, kImage},
    {kPublish, "dotnet nuget", "push nuget/push", "", kDry, kForGood},
    {kPublish, "helm", "push", "", kDry, "a pushed chart is public"},
    {kPublish, "np semantic-release release-it", "", "", kDry, kForGood},
    {kPublish, "mvn mvnw gradle gradlew",
     ".../deploy .../release:perform .../publish .../publishPlugins .../publishToMavenCentral .../*:publish", "", kDry,
     kForGood},
    {kPublish, "pod", "trunk/push repo/push", "", kDry, kForGood},
    {kPublish, "mix", "hex.publish", "", kDry, kForGood},
    {kPublish, "hex", "publish", "", kDry, kForGood},
    {kPublish, "nx", "release/publish", "", kDry, kForGood},
    {kPublish, "dart flutter", "pub/publish", "", kDry, kForGood},
    {kPublish, "conda anaconda", "upload", "", kDry, kForGood},
    {kPublish, "fastlane", "deliver supply pilot upload_to_app_store upload_to_play_store", "", kDry, kRelease},
    {kPublish, "eas", "submit", "", kDry, kRelease},
    {kPublish, "goreleaser", "release", "", "--snapshot --skip --dry-run --help", kRelease},

    {kContainers, "docker podman nerdctl docker-compose podman-compose", "image/prune builder/prune buildx/prune",
     "-a --all", "--help", kOthersUse},
    {kContainers, "docker", "stack/rm stack/remove stack/down", "", "--help", "it ends every service of the stack"},
    {kContainers, "docker podman nerdctl docker-compose podman-compose",
     "system/prune system/reset volume/prune container/prune network/prune", "", "--help", kOthersUse},
    {kContainers, "docker podman nerdctl docker-compose podman-compose", "volume/rm volume/remove", "", "--help",
     "a volume's data can't be brought back"},
    {kContainers, "docker podman nerdctl docker-compose podman-compose", "swarm/leave", "", "--help",
     "it takes this machine out of the swarm"},
    {kContainers, "docker podman nerdctl docker-compose podman-compose",
     "rm rmi kill stop container/rm container/kill container/stop image/rm image/kill image/stop", "--all", "--help",
     kAllOfThem},
    {kContainers, "podman", "rm rmi kill stop", "-a", "--help", kAllOfThem},
    {kContainers, "docker podman nerdctl docker-compose podman-compose",
     "rm rmi kill stop container/rm container/kill container/stop image/rm image/kill image/stop", "", "--help", "",
     deletes_all_containers},

    {kObfuscated, "", "", "", "", "", is_obfuscated},
};
static_assert(std::ranges::is_sorted(kRules, {}, &Rule::category));

// An index of the rows by program, so that a command costs only its own rows, not the whole table.
struct Entry {
  std::string_view program;
  unsigned short row = 0;
};

// Calls `use` with each name of a row, or with the empty name if the row has none.
constexpr void for_each_program(const Rule& rule, auto use) {
  std::string_view names = rule.programs;
  do {
    const size_t end = std::min(names.find(' '), names.size());
    use(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  } while (!names.empty());
}
constexpr bool is_general(std::string_view program) {
  return program.empty() || program.ends_with('*');
}

template <bool kGeneral>
consteval size_t count_entries() {
  size_t count = 0;
  for (const Rule& rule : kRules) {
    for_each_program(rule, [&](std::string_view program) { count += is_general(program) == kGeneral ? 1 : 0; });
  }
  return count;
}

// Sorted by program, then by row; the general ones only by row.
template <bool kGeneral>
consteval auto make_entries() {
  std::array<Entry, count_entries<kGeneral>()> entries{};
  size_t count = 0;
  for (size_t row = 0; row < std::size(kRules); ++row) {
    for_each_program(kRules[row], [&](std::string_view program) {
      if (is_general(program) == kGeneral) entries[count++] = {program, static_cast<unsigned short>(row)};
    });
  }
  if (!kGeneral) {
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
      return a.program != b.program ? a.program < b.program : a.row < b.row;
    });
  }
  return entries;
}
constexpr auto kGeneral = make_entries<true>();
constexpr auto kByProgram = make_entries<false>();

Finding finding_of(const Rule& rule, const Subject& subject) {
  if (!rule.verbs.empty() && !subject.does(rule.verbs)) return {};
  if (!rule.options.empty() && !subject.has_option(rule.options)) return {};
  if (!rule.unless.empty() && subject.has_option(rule.unless)) return {};
  if (rule.look) return rule.look(subject);
  return replace_all(rule.sentence, "{}", subject.program);
}

}  // namespace

std::optional<Offence> offence_of(const Subject& subject, const std::vector<bool>& is_on) {
  const auto own = std::ranges::equal_range(kByProgram, std::string_view(subject.program), {}, &Entry::program);
  auto mine = own.begin();
  auto general = kGeneral.begin();
  std::optional<Offence> asked;
  while (mine != own.end() || general != kGeneral.end()) {
    const bool takes_mine = general == kGeneral.end() || (mine != own.end() && mine->row < general->row);
    const Entry& entry = takes_mine ? *mine++ : *general++;
    const Rule& rule = kRules[entry.row];
    const std::string_view prefix = entry.program.substr(0, entry.program.size() - (entry.program.empty() ? 0 : 1));
    if (!takes_mine && !subject.program.starts_with(prefix)) continue;
    if (!is_on[static_cast<size_t>(rule.category)]) continue;
    if (Finding finding = finding_of(rule, subject);
        finding && !(rule.category == kDatabase && is_for_tests(subject))) {
      if (!finding.only_asked) return Offence{rule.category, std::move(finding)};
      if (!asked) asked = Offence{rule.category, std::move(finding)};
    }
  }
  return asked;
}

}  // namespace ralph
