#include "task/bus.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/dice_for_tests.h"
#include "os/files.h"
#include "os/scratch_folder_for_tests.h"
#include "task/yaml_lines.h"

namespace ralph {
namespace {

BusMessage message_with(std::string body, std::string id = "MSG-1") {
  BusMessage message;
  message.id = std::move(id);
  message.time = "2026-11-17T08:30:12.123Z";
  message.type = "FACT";
  message.project = "yes";  // a word with another meaning in YAML
  message.task = "task: \"x\" # y";
  message.body = std::move(body);
  message.parents = {"MSG-0", "a, b]"};
  return message;
}

TEST(Bus, AnyBodyComesBackAsItWas) {
  const std::string every_byte = [] {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    return bytes;
  }();
  std::string text;
  std::vector<BusMessage> posted;
  for (const std::string& body :
       {std::string(), std::string("---"), std::string("\n---\n"), std::string("a\n---\nid: MSG-7\ntype: FACT\n---\nb"),
        every_byte, to_bus_text(message_with("quoted")), std::string("no end of line"), std::string(100'000, '\n')}) {
    posted.push_back(message_with(body, fmt::format("MSG-{}", posted.size())));
    text += to_bus_text(posted.back());
  }
  const BusText read = parse_bus(text, true);
  EXPECT_EQ(read.messages, posted);
  EXPECT_EQ(read.consumed, text.size());
  EXPECT_EQ(read.skipped, 0U);
}

// A writer that is killed at any byte loses only its own message, wherever the next one begins.
TEST(Bus, AMessageTornAnywhereCostsNoOther) {
  const std::string before = to_bus_text(message_with("before", "MSG-1"));
  const std::string torn = to_bus_text(message_with("torn\n---\nbody", "MSG-2"));
  const std::string after = to_bus_text(message_with("after", "MSG-3"));
  for (size_t cut = 0; cut < torn.size(); ++cut) {
    const BusText read = parse_bus(before + torn.substr(0, cut) + after, true);
    const bool whole = cut + 1 == torn.size();  // only the final newline is missing
    ASSERT_EQ(read.messages.size(), whole ? 3U : 2U) << "cut at " << cut;
    EXPECT_EQ(read.messages.front().body, "before");
    EXPECT_EQ(read.messages.back().body, "after") << "cut at " << cut;
    const BusText tail = parse_bus(before + torn.substr(0, cut), false);
    EXPECT_EQ(tail.messages.size(), 1U);
    EXPECT_LE(tail.consumed, before.size() + (cut == 0 ? 0 : cut));
  }
}

// Reading in pieces while the bus grows gives the same messages as reading all at once.
TEST(Bus, ReadsWhileItGrows) {
  std::string text = "typed by hand\n";
  for (int i = 0; i < 20; ++i)
    text += to_bus_text(message_with(std::string(static_cast<size_t>(i * 7), 'x'), fmt::format("MSG-{}", i)));
  text += "\n---\nid: MSG-torn\nti";
  text += to_bus_text(message_with("last", "MSG-last"));
  for (size_t step : {1U, 3U, 50U, 1000U}) {
    std::vector<std::string> ids;
    size_t offset = 0;
    for (size_t size = 0; size <= text.size() + step; size += step) {
      const bool end = size >= text.size();
      const BusText read = parse_bus(std::string_view(text).substr(offset, std::min(size, text.size()) - offset), end);
      for (const BusMessage& message : read.messages) ids.push_back(message.id);
      offset += read.consumed;
    }
    ASSERT_EQ(ids.size(), 21U) << "in steps of " << step;
    EXPECT_EQ(ids.front(), "MSG-0");
    EXPECT_EQ(ids.back(), "MSG-last");
  }
}

TEST(Bus, DamageNeverMakesItFail) {
  Dice dice(7);
  const std::string good = to_bus_text(message_with("one", "MSG-1")) + to_bus_text(message_with("two", "MSG-2"));
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int i = 0; i < 4; ++i) text[dice.below(text.size())] = static_cast<char>(dice.below(256));
    const BusText read = parse_bus(text, true);
    EXPECT_EQ(read.consumed, text.size());
    EXPECT_LE(read.messages.size(), 2U);
  }
}

TEST(Bus, WritersThatAreKilledLoseNothingOfOthers) {
  const ScratchFolder folder;
  const std::string path = folder / "bus.md";
  std::vector<pid_t> writers;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) static_cast<void>(post_message(path, {.type = "INFO", .body = std::string(300'000, 'x')}));
    }
    writers.push_back(pid);
  }
  std::vector<std::string> ids;
  for (int i = 0; i < 40; ++i) {
    if (i % 10 == 5) ::kill(writers[static_cast<size_t>(i) / 10], SIGKILL);
    const auto posted = post_message(path, {.type = "FACT", .body = "mine"});
    ASSERT_TRUE(posted) << posted.error().message;
    ids.push_back(posted->id);
  }
  for (const pid_t pid : writers) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
  BusReader reader(path);
  const auto messages = reader.read_on();
  ASSERT_TRUE(messages);
  std::vector<std::string> found;
  for (const BusMessage& message : *messages) {
    if (message.type == "FACT") found.push_back(message.id);
    EXPECT_TRUE(message.body == "mine" || message.body == std::string(300'000, 'x'));
  }
  EXPECT_EQ(found, ids);
}

TEST(Bus, RefusesWhatIsNoPlainFile) {
  const ScratchFolder folder;
  std::ofstream(folder / "real") << "";
  std::filesystem::create_symlink(folder / "real", folder / "link");
  std::filesystem::create_directory(folder / "folder");
  for (const char* name : {"link", "folder"}) {
    EXPECT_FALSE(post_message(folder / name, {.type = "FACT", .body = "x"})) << name;
    EXPECT_FALSE(BusReader(folder / name).read_on()) << name;
  }
  EXPECT_EQ(read_file(folder / "real"), "");
  EXPECT_FALSE(post_message(folder / "new", {.type = "two words", .body = "x"}));
  EXPECT_FALSE(file_exists(folder / "new"));
}

TEST(YamlLines, AnyTextComesBack) {
  for (const char* text :
       {"",     "plain", "yes", "12",  "a: b", "# x",  "\"quoted\"", "line\nend", "-",   "~",
        "null", "ü",     "0x1", "[a]", "{a}",  "a #b", " lead",      "1.5",       "1e3", "2026-11-17"}) {
    YamlLines lines;
    lines.text("key", text);
    const auto parsed = parse_yaml_lines(lines.str(), "test");
    ASSERT_TRUE(parsed) << lines.str();
    EXPECT_EQ(find_string(json::value(*parsed), "key"), std::string_view(text)) << lines.str();
  }
}

TEST(YamlLines, RefusesWhatItDoesNotWrite) {
  for (const char* text :
       {"no colon", "a: 1\na: 2", "a: {b: 1}", "  indented: 1", "a: 'x'", "a: &b", "a: \"open", "- a"})
    EXPECT_FALSE(parse_yaml_lines(text, "test")) << text;
}

// Two buses that exchange new messages.
TEST(Bus, TwoBusesGetTheSameMessagesOnceEach) {
  const ScratchFolder folder;
  const std::string here = folder / "here", there = folder / "there";
  std::uint64_t at_here = 0, at_there = 0;
  const auto pass = [&] {
    const auto fresh = exchange_messages(here, at_here, "");
    const auto back = exchange_messages(there, at_there, *fresh);
    return exchange_messages(here, at_here, *back);
  };
  const auto bodies_of = [](const std::string& path) {
    std::multiset<std::string> bodies;
    const auto messages = BusReader(path).read_on();
    for (const BusMessage& message : *messages) bodies.insert(message.body);
    return bodies;
  };
  std::multiset<std::string> posted;
  for (int i = 0; i < 20; ++i) {
    const std::string body = fmt::format("{}\n---\nid: MSG-{}\n", i, i);
    ASSERT_TRUE(post_message(i % 3 == 0 ? here : there, message_with(body)));
    posted.insert(body);
    if (i % 4 == 0) {
      EXPECT_EQ(pass(), "");
    }
  }
  EXPECT_EQ(pass(), "");
  EXPECT_EQ(bodies_of(here), posted);
  EXPECT_EQ(bodies_of(there), posted);
}

TEST(Bus, WhatIsNoMessageDoesNotPassToTheOtherBus) {
  const ScratchFolder folder;
  const std::string path = folder / "bus";
  ScratchFolder::write(path, "typed by somebody" + to_bus_text(message_with("whole")) + "\n---\nid: MSG-torn");
  std::uint64_t offset = 0;
  EXPECT_EQ(exchange_messages(path, offset, "no message" + to_bus_text(message_with("added"))),
            to_bus_text(message_with("whole")));
  EXPECT_EQ(exchange_messages(path, offset, ""), "");
  ScratchFolder::write(path, "");  // somebody truncates it: nothing is passed on twice
  EXPECT_EQ(exchange_messages(path, offset, ""), "");
  std::filesystem::remove(path);
  std::filesystem::create_symlink("/etc/passwd", path);
  EXPECT_FALSE(exchange_messages(path, offset, ""));
}

}  // namespace
}  // namespace ralph
