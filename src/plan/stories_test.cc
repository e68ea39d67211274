#include "plan/stories.h"

#include <cctype>
#include <random>

#include <gtest/gtest.h>

#include "base/text.h"
#include "json/schema.h"
#include "plan/plans_for_tests.h"

namespace ralph {
namespace {

// A hand-written plan; the tests refer to its line numbers.
constexpr std::string_view kPlan = R"({
  "project": "shop",
  "branchName": "ralph/shop",
  "description": "A shop.",
  "verifyCommands": ["make test"],
  "userStories": [
    {
      "id": "US-001",
      "title": "Prices",
      "description": "Each thing has one.",
      "acceptanceCriteria": ["it works", "it is tested"],
      "priority": 1,
      "passes": false,
      "reviewStatus": null,
      "reviewCount": 0,
      "reviewFeedback": "",
      "notes": "",
      "dependsOn": []
    },
    {
      "id": "US-002",
      "title": "Taxes",
      "acceptanceCriteria": ["they are right"],
      "priority": 2.5,
      "passes": true,
      "reviewStatus": "approved",
      "reviewCount": 3,
      "reviewFeedback": "well done",
      "notes": "all of it",
      "dependsOn": ["US-001"]
    }
  ]
}
)";

std::vector<PlanProblem> problems_of(std::string_view text) {
  StoryReading reading = read_tasks(text, "tasks.json");
  EXPECT_EQ(reading.tasks.has_value(), reading.problems.empty());
  for (const PlanProblem& problem : reading.problems) EXPECT_EQ(problem.check, Check::kSchema);
  return reading.problems;
}

// The plan with one piece of text replaced.
std::string with(std::string_view from, std::string_view to) {
  const size_t at = kPlan.find(from);
  EXPECT_NE(at, std::string_view::npos) << from;
  std::string text(kPlan);
  return text.replace(at, from.size(), to);
}

TEST(ReadTasks, TakesEveryFieldAsItIs) {
  const auto tasks = read_tasks(kPlan, "tasks.json").tasks;
  ASSERT_TRUE(tasks);
  EXPECT_EQ(tasks->project, "shop");
  EXPECT_EQ(tasks->branch, "ralph/shop");
  EXPECT_EQ(tasks->description, "A shop.");
  EXPECT_EQ(tasks->verify_commands, std::vector<std::string>{"make test"});
  ASSERT_EQ(tasks->stories.size(), 2U);
  const Story& first = tasks->stories[0];
  EXPECT_EQ(first.id, "US-001");
  EXPECT_EQ(first.title, "Prices");
  EXPECT_EQ(first.description, "Each thing has one.");
  EXPECT_EQ(first.criteria, (std::vector<std::string>{"it works", "it is tested"}));
  EXPECT_EQ(first.priority, 1);
  EXPECT_EQ(first.review, Review{});
  const Story& second = tasks->stories[1];
  EXPECT_EQ(second.description, "");
  EXPECT_EQ(second.notes, "all of it");
  EXPECT_EQ(second.priority, 2.5);
  EXPECT_EQ(second.depends_on, std::vector<std::string>{"US-001"});
  EXPECT_EQ(second.review, (Review{true, ReviewStatus::kApproved, 3, "well done"}));
  EXPECT_EQ(tasks->find("US-002"), &second);
  EXPECT_EQ(tasks->find("us-002"), nullptr);
}

TEST(ReadTasks, UnknownKeysAreIgnored) {
  EXPECT_TRUE(problems_of(with("\"project\"", "\"owner\": {\"a\": [1]}, \"project\"")).empty());
  EXPECT_TRUE(problems_of(with("\"title\"", "\"size\": null, \"title\"")).empty());
}

TEST(ReadTasks, WhatIsOptionalMayBeLeftOut) {
  for (const char* one :
       {"  \"verifyCommands\": [\"make test\"],\n", "      \"description\": \"Each thing has one.\",\n",
        "      \"notes\": \"\",\n", ",\n      \"dependsOn\": []"}) {
    EXPECT_TRUE(problems_of(with(one, "")).empty()) << one;
  }
}

TEST(ReadTasks, AByteOrderMarkIsAccepted) {
  EXPECT_TRUE(problems_of("\xEF\xBB\xBF" + std::string(kPlan)).empty());
}

// A fault, and the beginning of its only message.
struct Row {
  std::string_view from, to;
  const char* story;
  const char* message;
};

TEST(ReadTasks, AProblemNamesThePlaceTheStoryTheFieldAndWhatIsExpected) {
  const Row rows[] = {
      {"\"shop\"", "7", "", "tasks.json:2:14: project: expected a string, found 7"},
      {"\"project\": \"shop\",", "", "",
       "tasks.json:1:1: the top level: the key \"project\" is missing; it is a string"},
      {"\"ralph/shop\"", "null", "", "tasks.json:3:17: branchName: expected a string, found null"},
      {"\"branchName\": \"ralph/shop\",", "", "", "tasks.json:1:1: the top level: the key \"branchName\" is missing"},
      {"\"A shop.\"", "[]", "", "tasks.json:4:18: description: expected a string, found an empty list"},
      {"\"description\": \"A shop.\",", "", "", "tasks.json:1:1: the top level: the key \"description\" is missing"},
      {"[\"make test\"]", "\"make test\"", "", "tasks.json:5:21: verifyCommands: expected a list"},
      {"[\"make test\"]", "null", "", "tasks.json:5:21: verifyCommands: expected a list"},
      {"[\"make test\"]", "[\"\"]", "", "tasks.json:5:22: verifyCommands[0]: expected a command, found \"\""},
      {"[\"make test\"]", "[\"a\", 1]", "", "tasks.json:5:27: verifyCommands[1]: expected a string, found 1"},
      {"\"userStories\"", "\"stories\"", "",
       "tasks.json:1:1: the top level: the key \"userStories\" is missing; it is a "
       "list"},

      {"\"id\": \"US-001\",", "", "", "tasks.json:7:5: userStories[0]: the key \"id\" is missing; it is a string"},
      {"\"US-001\"", "1", "", "tasks.json:8:13: userStories[0].id: expected a string, found 1"},
      {"\"US-001\"", "\" \\t\"", "", "tasks.json:8:13: userStories[0].id: expected an id such as US-001, found \" "},
      {"\"title\": \"Prices\",", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"title\" is missing"},
      {"\"Prices\"", "{}", "US-001", "tasks.json:9:16: story US-001: userStories[0].title: expected a string"},
      {"\"Each thing has one.\"", "null", "US-001",
       "tasks.json:10:22: story US-001: userStories[0].description: expected a string, found null"},
      {"\"acceptanceCriteria\": [\"it works\", \"it is tested\"],", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"acceptanceCriteria\" is missing"},
      {"[\"it works\", \"it is tested\"]", "[]", "US-001",
       "tasks.json:11:29: story US-001: userStories[0].acceptanceCriteria: expected a list with at least 1 item"},
      {"[\"it works\", \"it is tested\"]", "\"it works\"", "US-001",
       "tasks.json:11:29: story US-001: userStories[0].acceptanceCriteria: expected a list"},
      {"\"it is tested\"", "3", "US-001",
       "tasks.json:11:42: story US-001: userStories[0].acceptanceCriteria[1]: expected a string, found 3"},
      {"\"priority\": 1,", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"priority\" is missing; it is a number"},
      {"\"priority\": 1,", "\"priority\": \"1\",", "US-001",
       "tasks.json:12:19: story US-001: userStories[0].priority: expected a number, found \"1\""},
      {"\"passes\": false,", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"passes\" is missing; it is true or false"},
      {"\"passes\": false", "\"passes\": \"false\"", "US-001",
       "tasks.json:13:17: story US-001: userStories[0].passes: expected true or false, found \"false\""},
      {"\"passes\": false", "\"passes\": 0", "US-001",
       "tasks.json:13:17: story US-001: userStories[0].passes: expected true or false, found 0"},
      {"\"reviewStatus\": null,", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"reviewStatus\" is missing"},
      {"\"reviewStatus\": null", "\"reviewStatus\": \"null\"", "US-001",
       "tasks.json:14:23: story US-001: userStories[0].reviewStatus: expected null, \"needs_review\", "
       "\"changes_requested\" or \"approved\", found \"null\""},
      {"\"reviewStatus\": null", "\"reviewStatus\": \"need_review\"", "US-001",
       "tasks.json:14:23: story US-001: userStories[0].reviewStatus: expected null, \"needs_review\", "
       "\"changes_requested\" or \"approved\", found \"need_review\" (a string); did you mean \"needs_review\"?"},
      {"\"reviewStatus\": null", "\"reviewStatus\": \"Approved\"", "US-001",
       "tasks.json:14:23: story US-001: userStories[0].reviewStatus: expected null"},
      {"\"reviewStatus\": null", "\"reviewStatus\": false", "US-001",
       "tasks.json:14:23: story US-001: userStories[0].reviewStatus: expected null"},
      {"\"reviewCount\": 0,", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"reviewCount\" is missing; it is a whole number of at "
       "least 0"},
      {"\"reviewCount\": 0", "\"reviewCount\": -1", "US-001",
       "tasks.json:15:22: story US-001: userStories[0].reviewCount: expected a whole number of at least 0, found -1"},
      {"\"reviewCount\": 0", "\"reviewCount\": 0.5", "US-001",
       "tasks.json:15:22: story US-001: userStories[0].reviewCount: expected a whole number of at least 0, found 0.5"},
      {"\"reviewCount\": 0", "\"reviewCount\": \"0\"", "US-001",
       "tasks.json:15:22: story US-001: userStories[0].reviewCount: expected a whole number of at least 0, found "
       "\"0\""},
      {"\"reviewCount\": 0", "\"reviewCount\": 9223372036854775807", "US-001",
       "tasks.json:15:22: story US-001: userStories[0].reviewCount: expected a whole number of at most 1000000"},
      {"\"reviewCount\": 0", "\"reviewCount\": 18446744073709551615", "US-001",
       "tasks.json:15:22: story US-001: userStories[0].reviewCount: expected a whole number of at most 1000000"},
      {"\"reviewFeedback\": \"\",", "", "US-001",
       "tasks.json:7:5: story US-001: userStories[0]: the key \"reviewFeedback\" is missing; it is a string"},
      {"\"reviewFeedback\": \"\"", "\"reviewFeedback\": null", "US-001",
       "tasks.json:16:25: story US-001: userStories[0].reviewFeedback: expected a string, found null"},
      {"\"notes\": \"\"", "\"notes\": null", "US-001",
       "tasks.json:17:16: story US-001: userStories[0].notes: expected a string, found null"},
      {"\"dependsOn\": []", "\"dependsOn\": \"US-002\"", "US-001",
       "tasks.json:18:20: story US-001: userStories[0].dependsOn: expected a list"},
      {"\"dependsOn\": [\"US-001\"]", "\"dependsOn\": [1]", "US-002",
       "tasks.json:30:21: story US-002: userStories[1].dependsOn[0]: expected a string, found 1"},

      {"\"dependsOn\": [\"US-001\"]", "\"dependsOn\": [\"US-009\"]", "US-002",
       "tasks.json: story US-002: dependsOn names \"US-009\", which is not a story of this list"},
      {"\"dependsOn\": [\"US-001\"]", "\"dependsOn\": [\"US-002\"]", "US-002",
       "tasks.json: story US-002: dependsOn names the story itself; remove it"},
      {"\"dependsOn\": []", "\"dependsOn\": [\"US-002\"]", "US-001",
       "tasks.json: story US-001: dependsOn forms a cycle: US-001 -> US-002 -> US-001; remove one of them"},
      {"\"all of it\"", "\" \\n\"", "US-002",
       "tasks.json: story US-002: passes is true, but notes is empty; say in notes what was done"},
      {",\n      \"notes\": \"all of it\"", "", "US-002",
       "tasks.json: story US-002: passes is true, but notes is empty"},
  };
  for (const Row& row : rows) {
    const std::vector<PlanProblem> problems = problems_of(with(row.from, row.to));
    ASSERT_EQ(problems.size(), 1U) << row.from << " -> " << row.to << "\n" << messages_of(problems);
    EXPECT_EQ(problems[0].story, row.story) << row.from << " -> " << row.to;
    EXPECT_TRUE(problems[0].message.starts_with(row.message)) << problems[0].message << "\nis not\n" << row.message;
  }
}

TEST(ReadTasks, AnIdThatStandsTwiceIsRefused) {
  const auto problems = problems_of(with("\"US-002\"", "\"US-001\""));
  EXPECT_TRUE(says(messages_of(problems), "story US-001: the id appears twice in userStories"))
      << messages_of(problems);
  EXPECT_TRUE(read_tasks(with("\"US-002\"", "\"US-001 \""), "x").tasks) << "a blank makes it another id";
}

TEST(ReadTasks, WhatIsNoListOfStoriesIsRefused) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"", "tasks.json is empty; git may have it, or remove it and 'ralph plan init' makes a new one"},
      {" \n\t\r\n", "tasks.json is empty"},
      {"x", "tasks.json:1:1: "},
      {"{\"project\": \"a\",}", "tasks.json:1:16: remove this comma"},
      {"{\"project\": \"a\", \"project\": \"b\"}", "tasks.json:1:18: "},
      {"{\"project\": \"a", "tasks.json:1:"},
      {"{}{}", "tasks.json:1:3: "},
      {"\xff\xfe{\0}\0", "tasks.json:1:1: "},
      {"[]", "tasks.json:1:1: the top level: expected an object {...}, found an empty list"},
      {"null", "tasks.json:1:1: the top level: expected an object {...}, found null"},
      {"\"tasks\"", "tasks.json:1:1: the top level: expected an object {...}, found \"tasks\""},
      {R"({"project": "", "branchName": "", "description": "", "userStories": []})",
       "tasks.json: userStories is an empty list; a plan needs at least one story"},
      {R"({"project": "", "branchName": "", "description": "", "userStories": {}})",
       "tasks.json:1:69: userStories: expected a list"},
      {R"({"project": "", "branchName": "", "description": "", "userStories": [[]]})",
       "tasks.json:1:70: userStories[0]: expected an object {...}, found an empty list"},
      {R"({"project": "", "branchName": "", "description": "", "userStories": [null]})",
       "tasks.json:1:70: userStories[0]: expected an object {...}, found null"},
  };
  for (const auto& [text, message] : rows) {
    const auto problems = problems_of(text);
    ASSERT_EQ(problems.size(), 1U) << text << "\n" << messages_of(problems);
    EXPECT_TRUE(problems[0].message.starts_with(message)) << problems[0].message << "\nis not\n" << message;
    EXPECT_EQ(problems[0].story, "");
  }
}

TEST(ReadTasks, ADuplicateKeyIsRefusedBecauseTwoReadersWouldDisagree) {
  const auto problems = problems_of(with("\"passes\": false", "\"passes\": false, \"passes\": true"));
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_TRUE(says(problems[0].message, "passes")) << problems[0].message;
}

TEST(ReadTasks, ACircleIsNamedWithoutTheStoriesThatOnlyLeadIntoIt) {
  struct Circle {
    std::vector<Story> stories;
    const char* told;
    const char* story;
  };
  const Circle rows[] = {
      {{story("A", {}, {"B"}), story("B", {}, {"C"}), story("C", {}, {"A"})}, "A -> B -> C -> A;", "A"},
      {{story("A", {}, {"B"}), story("B", {}, {"C"}), story("C", {}, {"B"})}, "B -> C -> B;", "B"},
      {{story("A"), story("B", {}, {"A", "D"}), story("C", {}, {"A"}), story("D", {}, {"C", "B"})},
       "B -> D -> B;",
       "B"},
      {{story("one two", {}, {"three four"}), story("three four", {}, {"one two"})},
       "one two -> three four -> one two;",
       "one two"},
  };
  for (const Circle& row : rows) {
    const auto problems = problems_of(text_of(list(row.stories)));
    ASSERT_EQ(problems.size(), 1U) << row.told;
    EXPECT_TRUE(says(problems[0].message, fmt::format("dependsOn forms a cycle: {}", row.told))) << problems[0].message;
    EXPECT_EQ(problems[0].story, row.story);
  }
}

TEST(ReadTasks, ALongChainIsNoCircleAndClosingItIsOne) {
  std::vector<Story> stories;
  for (int i = 0; i < 10'000; ++i)
    stories.push_back(
        story(std::to_string(i), {}, i == 0 ? std::vector<std::string>{} : std::vector{std::to_string(i - 1)}));
  EXPECT_TRUE(problems_of(text_of(list(stories))).empty());
  stories[0].depends_on = {"9999"};
  EXPECT_EQ(problems_of(text_of(list(stories))).size(), 1U);
}

TEST(ReadTasks, SeveralDependenciesOnOneStoryAreNoCircle) {
  EXPECT_TRUE(problems_of(text_of(list({story("A"), story("B", {}, {"A", "A"}), story("C", {}, {"A", "B"})}))).empty());
}

TEST(ReadTasks, AllProblemsAreToldButNotMoreThanAnybodyReads) {
  StoryList tasks = list({});
  for (int i = 0; i < 500; ++i) tasks.stories.push_back(story(fmt::format("US-{}", i)));
  json::object document = to_object(tasks);
  for (json::value& one : document["userStories"].as_array()) one.as_object()["passes"] = "yes";
  const auto problems = problems_of(to_pretty_json(document));
  ASSERT_EQ(problems.size(), 21U);
  EXPECT_EQ(problems[0].story, "US-0");
  EXPECT_EQ(problems[19].story, "US-19");
  EXPECT_EQ(problems[20].message, "tasks.json: and at least 480 more problems");

  for (Story& one : tasks.stories) one.depends_on = {"nobody"};
  const auto relations = problems_of(text_of(tasks));
  ASSERT_EQ(relations.size(), 21U);
  EXPECT_EQ(relations[20].message, "tasks.json: and 480 more problems");
}

TEST(ReadTasks, ManyProblemsOfOneStoryAreCounted) {
  json::object document = to_object(list({story("A"), story("B")}));
  for (int i = 0; i < 30; ++i)
    document["userStories"].as_array()[1].as_object()["acceptanceCriteria"].as_array().push_back(i);
  document["project"] = 1;
  const auto problems = problems_of(to_pretty_json(document));
  ASSERT_EQ(problems.size(), 21U);
  EXPECT_EQ(problems[19].story, "B");
  EXPECT_EQ(problems[20].message, "tasks.json: and 11 more problems");
}

TEST(ReadTasks, ProblemsOfStoriesComeBeforeThoseAroundThem) {
  json::object document = to_object(list({story("A"), story("B"), story("C")}));
  document["project"] = 1;
  document["userStories"].as_array()[2].as_object()["passes"] = 1;
  document["userStories"].as_array()[0].as_object()["title"] = 1;
  const auto problems = problems_of(to_pretty_json(document));
  ASSERT_EQ(problems.size(), 3U) << messages_of(problems);
  EXPECT_EQ(problems[0].story, "A");
  EXPECT_EQ(problems[1].story, "C");
  EXPECT_TRUE(problems[1].message.starts_with("tasks.json:47:17: ")) << problems[1].message;
  EXPECT_TRUE(problems[2].message.starts_with("tasks.json:2:14: project: ")) << problems[2].message;
}

TEST(TasksFrom, PutsAllProblemsIntoOneError) {
  const auto tasks = tasks_from(text_of(list({story("A", {}, {"x"}), story("B", {}, {"y"})})), "tasks.json");
  ASSERT_FALSE(tasks);
  EXPECT_EQ(tasks.error().kind, ErrorKind::kInput);
  EXPECT_EQ(tasks.error().message,
            "tasks.json: story A: dependsOn names \"x\", which is not a story of this list\n"
            "tasks.json: story B: dependsOn names \"y\", which is not a story of this list");
  EXPECT_TRUE(tasks_from(kPlan, "tasks.json"));
}

TEST(Stories, AreDoneWhenApprovedOrWithoutReviewsWhenTheyPass) {
  const Review passes_only{true, ReviewStatus::kNone, 0, ""};
  EXPECT_TRUE(is_done(story("A", approved()), false));
  EXPECT_TRUE(is_done(story("A", approved()), true));
  EXPECT_FALSE(is_done(story("A", passes_only), false));
  EXPECT_TRUE(is_done(story("A", passes_only), true));
  EXPECT_FALSE(is_done(story("A", Review{false, ReviewStatus::kApproved, 1, ""}), false));
  const StoryList tasks = list({story("A", approved()), story("B", passes_only), story("C")});
  EXPECT_EQ(count_done(tasks, false), 1U);
  EXPECT_EQ(count_done(tasks, true), 2U);
}

TEST(ReviewStatus, HasTheNamesOfTheFile) {
  for (const ReviewStatus status :
       {ReviewStatus::kNone, ReviewStatus::kNeedsReview, ReviewStatus::kChangesRequested, ReviewStatus::kApproved}) {
    EXPECT_EQ(from_word<ReviewStatus>(to_string(status)), status);
  }
  EXPECT_EQ(to_string(ReviewStatus::kChangesRequested), "changes_requested");
  EXPECT_EQ(from_word<ReviewStatus>("APPROVED"), std::nullopt);
  EXPECT_EQ(from_word<ReviewStatus>(""), std::nullopt);
}

// ---- the fast reader and the schema

json::value odd_value(std::mt19937& random) {
  static const std::vector<json::value> kValues = {nullptr,
                                                   true,
                                                   false,
                                                   0,
                                                   1,
                                                   -1,
                                                   2.5,
                                                   10.0,
                                                   -0.0,
                                                   1e300,
                                                   9e15,
                                                   1e6,
                                                   1e6 + 1,
                                                   "",
                                                   " ",
                                                   "\t\n",
                                                   "\v\f",
                                                   "\xC2\xA0",
                                                   "text",
                                                   "null",
                                                   "needs_review",
                                                   "changes_requested",
                                                   "approved",
                                                   "Approved",
                                                   "US-1",
                                                   json::array{},
                                                   json::object{},
                                                   json::array{"a"},
                                                   json::array{1},
                                                   json::array{" "},
                                                   json::array{json::array{1, 2}, 3},
                                                   json::object{{"id", "x"}},
                                                   18446744073709551615ULL,
                                                   9223372036854775807LL,
                                                   1000000,
                                                   1000001};
  return kValues[random() % kValues.size()];
}

// Changes the document in one place: removes, renames, replaces or moves a member.
void change_somewhere(json::value& value, std::mt19937& random) {
  const bool here = random() % 3 == 0;
  if (value.is_object() && !value.get_object().empty()) {
    json::object& object = value.get_object();
    const std::string key(std::next(object.begin(), static_cast<std::ptrdiff_t>(random() % object.size()))->key());
    if (!here) return change_somewhere(object[key], random);
    const json::value was = object[key];
    switch (random() % 4) {
      case 0:
        object.erase(key);
        return;
      case 1:
        object.erase(key);
        object[key + "s"] = was;
        return;
      case 2:
        object["notes"] = was;
        return;
      default:
        object[key] = odd_value(random);
        return;
    }
  }
  if (value.is_array() && !value.get_array().empty()) {
    json::array& array = value.get_array();
    const size_t at = random() % array.size();
    if (!here) return change_somewhere(array[at], random);
    switch (random() % 3) {
      case 0:
        array.erase(array.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      case 1:
        array.push_back(odd_value(random));
        return;
      default:
        array[at] = odd_value(random);
        return;
    }
  }
  value = odd_value(random);
}

// Only schema problems have a line number.
bool names_a_line(const PlanProblem& problem) {
  constexpr std::string_view kWhere = "tasks.json:";
  return problem.message.starts_with(kWhere) &&
         std::isdigit(static_cast<unsigned char>(problem.message[kWhere.size()])) != 0;
}

TEST(TasksSchema, AgreesWithTheReaderOnEveryDocument) {
  const json::value schema = parse_json(tasks_schema(), "schema").value();
  const json::value plan = parse_json(kPlan, "plan").value();
  std::mt19937 random(4);
  int good = 0, bad = 0;
  for (int i = 0; i < 5'000; ++i) {
    json::value document = plan;
    for (unsigned n = 1 + random() % 3; n > 0; --n) change_somewhere(document, random);
    const std::string text = json::serialize(document);
    const auto faults = check_schema(schema, parse_json(text, "x").value());
    ASSERT_TRUE(faults) << faults.error().message;
    const auto problems = read_tasks(text, "tasks.json").problems;
    if (faults->empty()) {
      ++good;
      for (const PlanProblem& problem : problems) {
        EXPECT_FALSE(names_a_line(problem)) << problem.message;
        EXPECT_FALSE(says(problem.message, "does not fit its schema")) << "only the reader refuses\n" << text;
      }
    } else {
      ++bad;
      ASSERT_FALSE(problems.empty()) << "only the schema refuses\n" << text << "\n" << (*faults)[0].message;
      EXPECT_TRUE(names_a_line(problems[0])) << problems[0].message << "\n" << text;
    }
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

TEST(StoryFrom, TakesAStoryByItselfOrNothing) {
  json::object object = to_object(story("US-1", rejected(2)));
  const auto read = story_from(object);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->id, "US-1");
  EXPECT_EQ(read->review, rejected(2));
  for (const auto& member : to_object(story("US-1"))) {
    json::object lacking = object, wrong = object;
    lacking.erase(member.key());
    wrong[member.key()] = json::array{1, 2};
    const bool optional = member.key() == "notes" || member.key() == "dependsOn";
    EXPECT_EQ(story_from(lacking).has_value(), optional) << member.key();
    EXPECT_FALSE(story_from(wrong)) << member.key();
  }
  EXPECT_FALSE(story_from(nullptr));
  EXPECT_FALSE(story_from(json::array{object}));
}

}  // namespace
}  // namespace ralph
