#include "agents/todo_items.h"

#include <gtest/gtest.h>

#include "agents/recordings_for_tests.h"

namespace ralph {
namespace {

// "done Write hello.txt; active Check it" for each Todo event.
std::vector<std::string> lists_in(std::string_view agent, std::string_view stream) {
  class Lists : public EventSink {
   public:
    void on_event(const AgentEvent& event) override {
      const auto* todo = std::get_if<event::Todo>(&event);
      if (!todo) return;
      std::string list;
      for (const event::TodoItem& item : todo->items) {
        if (!list.empty()) list += "; ";
        list += item.status == event::TodoStatus::kDone     ? "done "
                : item.status == event::TodoStatus::kActive ? "active "
                                                            : "pending ";
        list += item.text;
      }
      lists.push_back(list);
    }
    std::vector<std::string> lists;
  } lists;
  const auto reader = make_json_stream(make_line_parser(agent));
  reader->feed(stream, lists);
  reader->finish(lists);
  return lists.lists;
}

using Lists = std::vector<std::string>;

TEST(TodoTest, OfRecordings) {
  const Lists two = {"done Write hello.txt; active Check it"};
  EXPECT_EQ(lists_in("claude", recording("claude", "stream-todowrite")), two);
  EXPECT_EQ(lists_in("claude", recording("claude", "stream-todowrite-not-available")), Lists());
  EXPECT_EQ(lists_in("claude", recording("claude", "stream-write-bash-todo-promise")),
            (Lists{"pending Check hello.txt", "done Check hello.txt"}));
  EXPECT_EQ(lists_in("gemini", recording("gemini", "stream-write-shell-todo-promise")), two);
  EXPECT_EQ(lists_in("opencode", recording("opencode", "run-write-bash-todo-promise")), two);
  EXPECT_EQ(lists_in("codex", recording("codex", "exec-reasoning-todo-command-patch-message")).front(),
            "pending Look around; pending Write hello.txt");
}

std::string use(std::string_view id, std::string_view name, std::string_view input) {
  return fmt::format(
      R"({{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"{}","name":"{}","input":{}}}]}}}})"
      "\n",
      id, name, input);
}
std::string done(std::string_view id, std::string_view told) {
  return fmt::format(
      R"({{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{}","content":"ok"}}]}},"tool_use_result":{}}})"
      "\n",
      id, told);
}

TEST(TodoTest, ClaudesTasksAreReportedAsAWholeListEachTime) {
  const std::string stream =
      // Two at once: only the results contain the ids.
      use("a", "TaskCreate", R"({"subject":"One"})") + use("b", "TaskCreate", R"({"subject":"Two"})") +
      done("b", R"({"task":{"id":"2","subject":"Two"}})") + done("a", R"({"task":{"id":"1","subject":"One"}})") +
      use("c", "TaskUpdate", R"({"taskId":"1","status":"in_progress","subject":"Number one"})") +
      done("c", R"({"success":true,"taskId":"1","statusChange":{"from":"pending","to":"in_progress"}})") +
      use("d", "TaskUpdate", R"({"taskId":"2","status":"completed"})") + done("d", R"({"success":false})") +
      use("e", "TaskUpdate", R"({"taskId":"2","status":"deleted"})") + done("e", R"({"success":true})") +
      use("f", "TaskUpdate", R"({"taskId":"9","status":"completed"})") + done("f", R"({"success":true})") +
      use("g", "TaskList", "{}") +
      done(
          "g",
          R"({"tasks":[{"id":"1","subject":"Number one","status":"completed"},{"id":"9","subject":"Nine","status":"pending"}]})");
  EXPECT_EQ(lists_in("claude", stream), (Lists{
                                            "pending Two",
                                            "pending Two; pending One",
                                            "pending Two; active Number one",
                                            "active Number one",
                                            "active Number one; done Task #9",
                                            "done Number one; pending Nine",
                                        }));
}

TEST(TodoTest, CancelledItemsAreLeftOut) {
  const std::string stream =
      use("a", "TodoWrite", R"({"todos":[{"content":"x","status":"cancelled"},{"content":"y","status":"pending"}]})") +
      done("a", "{}");
  EXPECT_EQ(lists_in("claude", stream), (Lists{"pending y"}));
}

TEST(TodoTest, TheListOfASubAgentIsItsOwn) {
  std::string stream = use("a", "TodoWrite", R"({"todos":[{"content":"x","status":"pending"}]})");
  stream.insert(1, R"("parent_tool_use_id":"t",)");
  std::string end = done("a", "{}");
  end.insert(1, R"("parent_tool_use_id":"t",)");
  EXPECT_EQ(lists_in("claude", stream + end), Lists());
}

}  // namespace
}  // namespace ralph
