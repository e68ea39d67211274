#include "plan/stories.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "embedded_schemas.h"
#include "json/own.h"
#include "json/schema.h"
#include "json/value.h"
#include "json/walk.h"

namespace ralph {
namespace {

constexpr size_t kMaxProblems = 20;  // nobody reads more, and each lookup in the text takes time

const json::value& parsed_tasks_schema() {
  // The text is part of the program and tested, so parsing it can't fail.
  static const json::value& schema = parse_own_json(tasks_schema());
  return schema;
}

// Reads typed values and remembers whether all of them fit the schema. The schema itself is slow, so it is evaluated
// only for the details of an invalid file.
class Reader {
 public:
  bool fits() const { return fits_; }

  StoryList tasks(const json::value& from) {
    StoryList list;
    list.project = text(from, "project");
    list.branch = text(from, "branchName");
    list.description = text(from, "description");
    if (find(from, "verifyCommands")) list.verify_commands = texts(from, "verifyCommands", true);
    const json::value* stories = find(from, "userStories");
    if (!must(stories && stories->is_array())) return list;
    const json::array& array = stories->get_array();
    list.stories.reserve(array.size());
    const bool fits_so_far = fits_;
    for (size_t i = 0; i < array.size(); ++i) {
      fits_ = true;
      list.stories.push_back(story(array[i]));
      if (!fits_) unfit_.push_back(i);
    }
    fits_ = fits_so_far && unfit_.empty();
    return list;
  }

  // The indexes of stories that do not fit the schema.
  const std::vector<size_t>& unfit() const { return unfit_; }

  Story story(const json::value& from) {
    Story story;
    story.id = text(from, "id");
    must(!trim(story.id).empty());
    story.title = text(from, "title");
    if (find(from, "description")) story.description = text(from, "description");
    if (find(from, "notes")) story.notes = text(from, "notes");
    story.criteria = texts(from, "acceptanceCriteria", false);
    must(!story.criteria.empty());
    if (find(from, "dependsOn")) story.depends_on = texts(from, "dependsOn", false);
    const json::value* priority = find(from, "priority");
    if (must(priority && priority->is_number())) story.priority = priority->to_number<double>();
    story.review = review(from);
    return story;
  }

 private:
  bool must(bool condition) {
    fits_ = fits_ && condition;
    return condition;
  }

  Review review(const json::value& from) {
    Review review;
    const auto passes = find_bool(from, "passes");
    must(passes.has_value());
    review.passes = passes.value_or(false);
    const json::value* status = find(from, "reviewStatus");
    if (must(status && (status->is_null() || status->is_string())) && status->is_string()) {
      const auto known = from_word<ReviewStatus>(std::string_view(status->get_string()));
      must(known && known != ReviewStatus::kNone);
      review.status = known.value_or(ReviewStatus::kNone);
    }
    const auto count = find_integer(from, "reviewCount");
    must(count && *count >= 0 && *count <= kMostReviews);
    review.count = count.value_or(0);
    review.feedback = text(from, "reviewFeedback");
    return review;
  }

  std::string text(const json::value& from, std::string_view key) {
    const auto text = find_string(from, key);
    must(text.has_value());
    return std::string(text.value_or(""));
  }

  std::vector<std::string> texts(const json::value& from, std::string_view key, bool not_blank) {
    std::vector<std::string> list;
    const json::value* found = find(from, key);
    if (!must(found && found->is_array())) return list;
    for (const json::value& one : found->get_array()) {
      if (!must(one.is_string())) continue;
      list.emplace_back(one.get_string());
      must(!not_blank || !trim(list.back()).empty());
    }
    return list;
  }

  bool fits_ = true;
  std::vector<size_t> unfit_;
};

// The id of the story in a pointer such as /userStories/3/passes.
std::string story_at(const json::value& document, std::string_view pointer) {
  constexpr std::string_view kStoriesAt = "/userStories/";
  if (!pointer.starts_with(kStoriesAt)) return {};
  boost::system::error_code error;
  const size_t end = pointer.find('/', kStoriesAt.size());
  const json::value* story = document.find_pointer(pointer.substr(0, end), error);
  const auto id = story ? find_string(*story, "id") : std::nullopt;
  return id && !trim(*id).empty() ? std::string(*id) : std::string();
}

// Keeps the first kMaxProblems and counts the rest. `unasked` stories have at least one more problem each.
void shorten(std::vector<PlanProblem>& problems, size_t found, size_t unasked, std::string_view where) {
  if (found <= kMaxProblems && unasked == 0) return;
  problems.resize(std::min(problems.size(), kMaxProblems));
  const size_t more = found - problems.size() + unasked;
  problems.push_back(
      {Check::kSchema,
       {},
       fmt::format("{}: and {}{} more problem{}", where, unasked == 0 ? "" : "at least ", more, more == 1 ? "" : "s")});
}

// Looks up lines and columns of a long text, continuing from the last lookup if possible.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  TextPosition at(size_t offset) {
    if (offset < line_start_) line_ = 1, line_start_ = 0;
    for (size_t end = text_.find('\n', line_start_); end < offset; end = text_.find('\n', line_start_)) {
      line_start_ = end + 1;
      ++line_;
    }
    return {line_, position_of(text_.substr(line_start_), offset - line_start_).column};
  }

 private:
  std::string_view text_;
  size_t line_ = 1, line_start_ = 0;
};

struct SchemaAnswer {
  std::vector<SchemaProblem> problems;
  size_t unasked = 0;  // further stories that do not fit, not evaluated
};

// The schema's problems with the unfit stories, then with the rest of the document. A long plan may be wrong
// throughout, so hardly more is evaluated than is reported.
Result<SchemaAnswer> ask_schema(const json::value& document, const std::vector<size_t>& unfit) {
  const json::value& schema = parsed_tasks_schema();
  SchemaAnswer answer;
  if (unfit.empty()) {
    TRY_VALUE(answer.problems, check_schema(schema, document));
    return answer;
  }
  const json::value& story_schema = schema.at("properties").at("userStories").at("items");
  const json::array& stories = find(document, "userStories")->get_array();
  json::object around;
  for (const auto& member : document.get_object()) {
    if (member.key() != "userStories") around[member.key()] = member.value();
  }
  around["userStories"] = json::array();
  for (size_t i = 0; i < unfit.size(); ++i) {
    if (answer.problems.size() >= kMaxProblems) {
      answer.unasked = unfit.size() - i;
      break;
    }
    TRY_VALUE(auto found, check_schema(story_schema, stories[unfit[i]]));
    for (SchemaProblem& problem : found) {
      problem.pointer.insert(0, fmt::format("/userStories/{}", unfit[i]));
      answer.problems.push_back(std::move(problem));
    }
  }
  TRY_VALUE(const auto found, check_schema(schema, around));
  answer.problems.insert(answer.problems.end(), found.begin(), found.end());
  return answer;
}

std::vector<PlanProblem> schema_problems(const json::value& document, const std::vector<size_t>& unfit,
                                         std::string_view text, std::string_view where) {
  const auto answer = ask_schema(document, unfit);
  if (!answer) return {{Check::kSchema, {}, answer.error().message}};
  const size_t told = std::min(answer->problems.size(), kMaxProblems);
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < told; ++i) places.emplace(answer->problems[i].pointer, 0);
  scan_json(text, [&](const JsonPlace& place) {
    if (const auto wanted = places.find(place.pointer); wanted != places.end()) wanted->second = place.value;
  });
  Lines lines(text);
  std::vector<PlanProblem> problems;
  for (size_t i = 0; i < told; ++i) {
    const SchemaProblem& problem = answer->problems[i];
    const TextPosition at = lines.at(places.at(problem.pointer));
    const std::string story = story_at(document, problem.pointer);
    const std::string whose = story.empty() ? "" : fmt::format("story {}: ", story);
    problems.push_back({Check::kSchema, story,
                        fmt::format("{}:{}:{}: {}{}: {}", where, at.line, at.column, whose,
                                    readable_path(problem.pointer), problem.message)});
  }
  shorten(problems, answer->problems.size(), answer->unasked, where);
  return problems;
}

// Rules between stories, which the schema can't express.
class Relations {
 public:
  Relations(const StoryList& tasks, std::string_view where) : tasks_(tasks), where_(where) {
    index_.reserve(tasks.stories.size());
  }

  std::vector<PlanProblem> problems() {
    if (tasks_.stories.empty())
      add("", "userStories is an empty list; a plan needs at least one story ('ralph plan draft' writes them)");
    for (size_t i = 0; i < tasks_.stories.size(); ++i) {
      const Story& story = tasks_.stories[i];
      if (!index_.emplace(story.id, i).second)
        add(story.id, "the id appears twice in userStories; give each story an id of its own");
      if (story.review.passes && trim(story.notes).empty())
        add(story.id, "passes is true, but notes is empty; say in notes what was done");
    }
    for (const Story& story : tasks_.stories) check_dependencies(story);
    if (problems_.empty()) check_cycles();
    shorten(problems_, problems_.size(), 0, where_);
    return std::move(problems_);
  }

 private:
  void add(const std::string& story, std::string_view message) {
    const std::string whose = story.empty() ? "" : fmt::format("story {}: ", story);
    problems_.push_back({Check::kSchema, story, fmt::format("{}: {}{}", where_, whose, message)});
  }

  void check_dependencies(const Story& story) {
    for (const std::string& id : story.depends_on) {
      if (id == story.id) add(story.id, "dependsOn names the story itself; remove it");
      if (!index_.contains(id))
        add(story.id, fmt::format("dependsOn names \"{}\", which is not a story of this list", id));
    }
  }

  void check_cycles() {
    std::vector<const Story*> stories;
    for (const Story& story : tasks_.stories) stories.push_back(&story);
    const std::vector<size_t> waits = endless_waits(stories);
    const auto first = static_cast<size_t>(
        std::find_if(waits.begin(), waits.end(), [](size_t count) { return count > 0; }) - waits.begin());
    if (first == waits.size()) return;
    std::vector<std::string> circle = circle_from(first, waits);
    const std::string story = circle.front();
    constexpr size_t kNamed = 20;
    if (circle.size() > kNamed) {
      const size_t left_out = circle.size() - kNamed;
      circle.erase(circle.begin() + kNamed - 1, circle.end() - 2);
      circle.insert(circle.end() - 1, fmt::format("({} more)", left_out));
    }
    add(story, fmt::format("dependsOn forms a cycle: {}; remove one of them", join(circle, " -> ")));
  }

  // Follows waiting dependencies until a story repeats. Every waiting story has such a dependency.
  std::vector<std::string> circle_from(size_t at, const std::vector<size_t>& waits) const {
    std::vector<size_t> path;
    auto again = path.end();
    while ((again = std::find(path.begin(), path.end(), at)) == path.end()) {
      path.push_back(at);
      const auto& needs = tasks_.stories[at].depends_on;
      at = index_.at(
          *std::find_if(needs.begin(), needs.end(), [&](const std::string& id) { return waits[index_.at(id)] > 0; }));
    }
    std::vector<std::string> names;
    for (auto one = again; one != path.end(); ++one) names.push_back(tasks_.stories[*one].id);
    names.push_back(tasks_.stories[at].id);
    return names;
  }

  const StoryList& tasks_;
  std::string_view where_;
  std::unordered_map<std::string_view, size_t> index_;
  std::vector<PlanProblem> problems_;
};

}  // namespace

json::value to_json(ReviewStatus status) {
  return status == ReviewStatus::kNone ? json::value(nullptr) : json::value(to_string(status));
}

ReviewStatus review_status_in(const json::value& story) {
  return from_word<ReviewStatus>(find_string(story, "reviewStatus").value_or("")).value_or(ReviewStatus::kNone);
}

const Story* StoryList::find(std::string_view id) const {
  const auto found = std::find_if(stories.begin(), stories.end(), [&](const Story& story) { return story.id == id; });
  return found == stories.end() ? nullptr : &*found;
}

bool is_done(const Story& story, bool skip_review) {
  return story.review.passes && (skip_review || story.review.status == ReviewStatus::kApproved);
}

size_t count_done(const StoryList& tasks, bool skip_review) {
  return static_cast<size_t>(std::count_if(tasks.stories.begin(), tasks.stories.end(),
                                           [&](const Story& story) { return is_done(story, skip_review); }));
}

// Repeatedly removes stories whose dependencies are gone.
std::vector<size_t> endless_waits(const std::vector<const Story*>& stories) {
  std::unordered_map<std::string_view, size_t> index;
  for (size_t i = 0; i < stories.size(); ++i) index.emplace(stories[i]->id, i);
  std::vector<size_t> waits(stories.size(), 0), free;
  std::vector<std::vector<size_t>> needed_by(stories.size());
  for (size_t i = 0; i < stories.size(); ++i) {
    for (const std::string& id : stories[i]->depends_on) {
      const auto other = index.find(id);
      if (other == index.end()) continue;
      needed_by[other->second].push_back(i);
      ++waits[i];
    }
    if (waits[i] == 0) free.push_back(i);
  }
  while (!free.empty()) {
    const size_t one = free.back();
    free.pop_back();
    for (const size_t next : needed_by[one]) {
      if (--waits[next] == 0) free.push_back(next);
    }
  }
  return waits;
}

StoryReading read_tasks(std::string_view text, std::string_view where) {
  if (trim(text).empty())
    return {{},
            {{Check::kSchema,
              {},
              fmt::format("{} is empty; git may have it, or remove it and 'ralph plan init' makes a new one", where)}}};
  const auto document = parse_json(text, where);
  if (!document) return {{}, {{Check::kSchema, {}, document.error().message}}};
  Reader reader;
  StoryList tasks = reader.tasks(*document);
  StoryReading reading;
  if (!reader.fits()) {
    reading.problems = schema_problems(*document, reader.unfit(), text, where);
    if (reading.problems.empty())
      reading.problems = {{Check::kSchema, {}, fmt::format("{} does not fit its schema", where)}};
    return reading;
  }
  reading.problems = Relations(tasks, where).problems();
  if (reading.problems.empty()) reading.tasks = std::move(tasks);
  return reading;
}

std::optional<Story> story_from(const json::value& value) {
  Reader reader;
  Story story = reader.story(value);
  if (!reader.fits()) return std::nullopt;
  return story;
}

Result<StoryList> tasks_from(std::string_view text, std::string_view where) {
  StoryReading reading = read_tasks(text, where);
  if (reading.tasks) return *std::move(reading.tasks);
  std::vector<std::string> lines;
  for (const PlanProblem& problem : reading.problems) lines.push_back(problem.message);
  return tl::unexpected(Error{ErrorKind::kInput, join(lines, "\n")});
}

std::string_view tasks_schema() {
  return embedded::tasks_schema_json;
}

}  // namespace ralph
