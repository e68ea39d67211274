#include "plan/enforce.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "base/utf8.h"

namespace ralph {
namespace {

// The pinned texts, followed by the added ones.
std::vector<std::string> with_additions(const std::vector<std::string>& pinned, const std::vector<std::string>& now) {
  std::vector<std::string> sum = pinned;
  const std::vector<std::string> added = missing_from(now, pinned);
  sum.insert(sum.end(), added.begin(), added.end());
  return sum;
}

std::string pointer_to(size_t index) {
  return fmt::format("/userStories/{}", index);
}

// Repairs one document: works on the parsed values and collects edits to the text.
class Repairer {
 public:
  Repairer(const StoryFile& before, const json::value& document, JsonEdits& edits, const ReviewRules& rules)
      : before_(before),
        document_(document),
        edits_(edits),
        rules_(rules),
        known_(before_from(before.tasks, rules.added)) {}

  // False if the document is too broken for a partial repair.
  bool repair() {
    const json::value* stories = find(document_, "userStories");
    if (!stories || !stories->is_array()) return false;
    repair_top_level();
    read_stories(stories->get_array());
    repair_review_fields();
    repair_criteria();
    repair_words();
    repair_dependencies();
    restore_missing_stories(stories->get_array().size());
    return true;
  }

  std::vector<PlanProblem> violations;
  Judgement judgement;
  bool refused = false;

 private:
  void report(const std::string& story, std::string why) {
    violations.push_back({Check::kTransitions, story, std::move(why)});
  }

  void repair_top_level() {
    for (const auto& [key, value] : {std::pair<std::string_view, const std::string&>{"project", before_.tasks.project},
                                     {"description", before_.tasks.description}}) {
      if (find_string(document_, key)) continue;
      edits_.set(fmt::format("/{}", key), to_json_string(value));
      report("", fmt::format("{} must be a string; the previous value was put back.", key));
    }
    const auto branch = find_string(document_, "branchName");
    if (!branch || *branch != before_.tasks.branch) {
      edits_.set("/branchName", to_json_string(before_.tasks.branch));
      report("", fmt::format("branchName is the user's to choose; it is \"{}\" again.", before_.tasks.branch));
    }
    const json::value* commands = find(document_, "verifyCommands");
    std::vector<std::string> now;
    bool all_texts = true;
    if (commands && commands->is_array()) {
      for (const json::value& one : commands->get_array()) {
        const bool good = one.is_string() && !trim(std::string_view(one.get_string())).empty();
        if (good) now.emplace_back(one.get_string());
        all_texts = all_texts && good;
      }
    } else {
      all_texts = !commands && before_.tasks.verify_commands.empty();
    }
    if (rules_.frozen && all_texts && now != before_.tasks.verify_commands) {
      edits_.set("/verifyCommands", to_json_array(before_.tasks.verify_commands));
      report("", "verifyCommands can't be changed while they run; they were put back.");
      return;
    }
    // Commands that agents added may be removed again.
    const std::vector<std::string>& pinned = *known_.verify_commands;
    const std::vector<std::string> kept = missing_from(now, missing_from(now, pinned));
    if (all_texts && missing_from(pinned, now).empty() && in_order(kept, pinned)) return;
    edits_.set("/verifyCommands", to_json_array(with_additions(pinned, now)));
    report("", "verifyCommands may be added, never removed or changed; they and their order were put back.");
  }

  void read_stories(const json::array& array) {
    for (size_t i = 0; i < array.size(); ++i) {
      const std::string id(find_string(array[i], "id").value_or(""));
      std::optional<Story> story = story_from(array[i]);
      if (index_.contains(id)) {
        edits_.remove(pointer_to(i));
        report(id,
               fmt::format("The id {} appeared twice in userStories; the second one was removed. Give a new story an "
                           "id of its own.",
                           id));
        continue;
      }
      if (!story && known_.stories.contains(id)) {
        replace_story(i, id);
        report(id,
               fmt::format("Story {} did not fit the schema ({}); it was put back as it was.", id, fault_of(array[i])));
        continue;
      }
      if (!story) {
        edits_.remove(pointer_to(i));
        report(id,
               fmt::format("A new story{} did not fit the schema ({}) and was removed; add it again with all fields.",
                           id.empty() ? "" : " " + id, fault_of(array[i])));
        continue;
      }
      index_.emplace(id, i);
      now_.stories.push_back(*std::move(story));
    }
  }

  void replace_story(size_t at, const std::string& id) {
    const Story& was = *before_.tasks.find(id);
    refused = refused || id == rules_.story;
    edits_.set_raw(pointer_to(at), text_before(id));
    index_.emplace(id, at);
    now_.stories.push_back(was);
  }

  static std::string fault_of(const json::value& story) {
    json::object list;
    list["project"] = list["branchName"] = list["description"] = "";
    list["userStories"] = json::array{story};
    const auto reading = read_tasks(to_compact_json(list), "tasks.json");
    if (reading.problems.empty()) return "it is not a valid story";
    const std::string& message = reading.problems[0].message;
    const size_t from = message.rfind("userStories[0]");
    const size_t path = std::min(from + 15, message.size());  // after the dot or colon that follows
    return std::string(trim(std::string_view(message).substr(from == std::string::npos ? 0 : path)));
  }

  std::string_view text_before(const std::string& id) {
    if (!old_) {
      old_ = JsonEdits::of(before_.text, "tasks.json");
      for (size_t i = 0; i < before_.tasks.stories.size(); ++i) old_index_[before_.tasks.stories[i].id] = i;
    }
    return (*old_)->raw(pointer_to(old_index_.at(id))).value_or("{}");
  }

  void repair_review_fields() {
    if (rules_.skip_review) {
      keep_reviews();
      keep_to_one_story();
      require_notes();
      return;
    }
    judgement = judge_transitions(known_, now_, rules_);
    if (!judgement.no_verdict)
      violations.insert(violations.end(), judgement.problems.begin(), judgement.problems.end());
    const std::unordered_set<std::string_view> illegal(judgement.illegal.begin(), judgement.illegal.end());
    for (Story& story : now_.stories) {
      if (illegal.contains(story.id)) put_back(story);
    }
    require_notes();
  }

  // Without reviews, an agent may change only `passes`: a later run with reviews must not find a false approval.
  void keep_reviews() {
    for (Story& story : now_.stories) {
      const auto was = known_.stories.find(story.id);
      Review wanted = was == known_.stories.end() ? Review{} : was->second.review;
      if (!rules_.frozen) wanted.passes = story.review.passes;
      if (wanted == story.review) continue;
      report(story.id, fmt::format("Reviews are switched off for this run: only passes may change. The other review "
                                   "fields of story {} were put back.",
                                   story.id));
      story.review = wanted;
      set_review(edits_, index_.at(story.id), wanted);
    }
  }

  // The rule without reviews: one story may begin to pass, after its dependencies.
  void keep_to_one_story() {
    Story* chosen = nullptr;
    for (Story& story : now_.stories) {
      const auto was = known_.stories.find(story.id);
      if (!story.review.passes || (was != known_.stories.end() && was->second.review.passes)) continue;
      if (was == known_.stories.end()) {
        refuse_to_pass(story,
                       fmt::format("New stories must start incomplete: story {} began with passes true.", story.id));
      } else if (!all_pass(was->second.depends_on)) {
        refuse_to_pass(story, fmt::format("Story {} passes, but depends on {}: not all of that passes.", story.id,
                                          join_for_people(was->second.depends_on)));
      } else if (!chosen) {
        chosen = &story;
      } else {
        Story& other = story.id == rules_.story ? *std::exchange(chosen, &story) : story;
        refuse_to_pass(other, fmt::format("An iteration may complete one story only; story {} was changed besides {}.",
                                          other.id, chosen->id));
      }
    }
    if (!chosen) return;
    judgement.moved = chosen->id;
    judgement.step = StoryStep::kPassed;
  }

  bool all_pass(const std::vector<std::string>& ids) const {
    return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
      const auto story = known_.stories.find(id);
      return story != known_.stories.end() && story->second.review.passes;
    });
  }

  void refuse_to_pass(Story& story, std::string why) {
    put_back(story);
    report(story.id, std::move(why));
  }

  void put_back(Story& story) {
    refused = refused || story.id == rules_.story;
    const auto was = known_.stories.find(story.id);
    story.review = was == known_.stories.end() ? Review{} : was->second.review;
    set_review(edits_, index_.at(story.id), story.review);
  }

  // A story that passes needs notes on what was done.
  void require_notes() {
    for (Story& story : now_.stories) {
      if (!story.review.passes || !trim(story.notes).empty()) continue;
      const auto was = known_.stories.find(story.id);
      if (was != known_.stories.end() && was->second.review.passes) {
        edits_.set(pointer_to(index_.at(story.id)) + "/notes", to_json_string(before_.tasks.find(story.id)->notes));
        report(story.id, fmt::format("The notes of story {} were deleted; they were put back.", story.id));
        continue;
      }
      if (judgement.moved == story.id) judgement.moved.clear(), judgement.step = StoryStep::kNone;
      put_back(story);
      report(story.id,
             fmt::format("Story {} passes, but its notes are empty: say in notes what was done, and decide again.",
                         story.id));
    }
  }

  void repair_criteria() {
    for (const Story& story : now_.stories) {
      const auto was = known_.stories.find(story.id);
      if (was == known_.stories.end() || missing_from(was->second.criteria, story.criteria).empty()) continue;
      edits_.set(pointer_to(index_.at(story.id)) + "/acceptanceCriteria",
                 to_json_array(with_additions(was->second.criteria, story.criteria)));
      report(story.id, fmt::format("Acceptance criteria may be added, never removed or changed; those of story {} were "
                                   "put back.",
                                   story.id));
    }
  }

  // Only the user may change a story's title and description.
  void repair_words() {
    for (const Story& story : now_.stories) {
      const Story* const was = before_.tasks.find(story.id);
      if (!was) continue;
      for (const auto& [key, then, now] :
           {std::tuple<std::string_view, const std::string&, const std::string&>{"title", was->title, story.title},
            {"description", was->description, story.description}}) {
        if (then == now) continue;
        edits_.set(fmt::format("{}/{}", pointer_to(index_.at(story.id)), key), to_json_string(then));
        report(story.id, fmt::format("The {} of story {} is pinned and was put back. It was changed to: {}; was: {}",
                                     key, story.id, shortened(now), shortened(then)));
      }
    }
  }

  static std::string shortened(std::string_view text) {
    return trim(text).empty() ? "(empty)" : fit_to_width(trim(text), 150);
  }

  // Whether `texts`, all of them pinned, are in the pinned order; a text may occur twice.
  static bool in_order(const std::vector<std::string>& texts, const std::vector<std::string>& pinned) {
    auto at = pinned.begin();
    for (const std::string& text : texts) {
      const auto found = std::find(pinned.begin(), pinned.end(), text);
      if (found < at) return false;
      at = found;
    }
    return true;
  }

  // Agents may change dependencies as long as these exist and form no cycle.
  void repair_dependencies() {
    std::unordered_map<std::string_view, bool> exists;
    for (const Story& story : now_.stories) exists[story.id] = true;
    for (const auto& [id, story] : known_.stories) exists[id] = true;  // deleted ones are restored
    for (Story& story : now_.stories) {
      std::vector<std::string> good;
      for (const std::string& id : story.depends_on) {
        if (id != story.id && exists.contains(id)) good.push_back(id);
      }
      if (good.size() == story.depends_on.size()) continue;
      edits_.set(pointer_to(index_.at(story.id)) + "/dependsOn", to_json_array(good));
      report(story.id,
             fmt::format("dependsOn of story {} named itself or a story that does not exist; that was removed.",
                         story.id));
      story.depends_on = good;
    }
    if (!goes_in_circles()) return;
    for (const Story& story : now_.stories) {
      const auto was = known_.stories.find(story.id);
      const auto wanted = was == known_.stories.end() ? std::vector<std::string>{} : was->second.depends_on;
      if (wanted == story.depends_on) continue;
      edits_.set(pointer_to(index_.at(story.id)) + "/dependsOn", to_json_array(wanted));
      report(story.id, fmt::format("dependsOn formed a cycle; that of story {} was put back.", story.id));
    }
  }

  bool goes_in_circles() const {
    std::vector<const Story*> stories;
    for (const Story& story : now_.stories) stories.push_back(&story);
    for (const Story& story : before_.tasks.stories) {
      if (!index_.contains(story.id)) stories.push_back(&story);
    }
    const std::vector<size_t> waits = endless_waits(stories);
    return std::any_of(waits.begin(), waits.end(), [](size_t count) { return count > 0; });
  }

  // Restores them as close as possible to their old place: before the story that followed them.
  void restore_missing_stories(size_t size) {
    size_t place = size;
    const auto& old = before_.tasks.stories;
    std::vector<std::pair<size_t, std::string>> returning;
    for (auto story = old.rbegin(); story != old.rend(); ++story) {
      const auto there = index_.find(story->id);
      if (there != index_.end()) {
        place = there->second;
      } else {
        returning.emplace_back(place, story->id);
      }
    }
    std::reverse(returning.begin(), returning.end());
    for (const auto& [at, id] : returning) {
      edits_.insert_raw("/userStories", at, text_before(id));
      report(id, fmt::format("Stories may be added, never deleted or renamed. Story {} was put back.", id));
    }
  }

  const StoryFile& before_;
  const json::value& document_;
  JsonEdits& edits_;
  const ReviewRules& rules_;
  const Before known_;
  StoryList now_;                                  // the readable stories
  std::unordered_map<std::string, size_t> index_;  // their positions in the document
  std::optional<Result<JsonEdits>> old_;
  std::unordered_map<std::string, size_t> old_index_;
};

// Checks the result against the same rules, as a safeguard against bugs in the repair.
bool satisfies_rules(const StoryFile& before, const StoryList& after, const ReviewRules& rules) {
  const Before known = before_from(before.tasks, rules.added);
  return judge_pins(known, after).empty() &&
         (rules.skip_review || judge_transitions(known, after, rules).illegal.empty());
}

Enforcement start_over(const StoryFile& before, std::string why) {
  Enforcement result;
  result.file = before;
  result.replaced = true;
  result.violations = {{Check::kSchema, {}, std::move(why)}};
  return result;
}

}  // namespace

void set_review(JsonEdits& edits, size_t story, const Review& review) {
  const std::string at = pointer_to(story);
  edits.set(at + "/passes", review.passes);
  edits.set(at + "/reviewStatus", to_json(review.status));
  edits.set(at + "/reviewCount", review.count);
  edits.set(at + "/reviewFeedback", to_json_string(review.feedback));
}

Result<StoryFile> story_file_from(std::string text, std::string_view where) {
  TRY_VALUE(StoryList tasks, tasks_from(text, where));
  return StoryFile{std::move(text), std::move(tasks)};
}

StoryFile with_review(const StoryFile& file, const std::string& id, const Review& review, std::string_view notes) {
  const Story* const story = file.tasks.find(id);
  if (!story || (story->review == review && notes.empty())) return file;
  auto edits = JsonEdits::of(file.text, "tasks.json");
  if (!edits) return file;
  const auto index = static_cast<size_t>(story - file.tasks.stories.data());
  set_review(*edits, index, review);
  if (!notes.empty()) edits->set(pointer_to(index) + "/notes", to_json_string(notes));
  auto changed = story_file_from(edits->apply(), "tasks.json");
  return changed ? *std::move(changed) : file;
}

Enforcement enforce(const StoryFile& before, const std::optional<std::string>& found, const ReviewRules& rules,
                    std::string_view where) {
  if (!found) return start_over(before, fmt::format("{} was gone or could not be read; it was put back.", where));
  const auto document = parse_json(*found, where);
  if (!document)
    return start_over(before,
                      fmt::format("{} was not JSON any more ({}); it was put back.", where, document.error().message));
  auto edits = JsonEdits::of(*found, where);
  if (!edits) return start_over(before, fmt::format("{}; it was put back.", edits.error().message));
  Repairer repairer(before, *document, *edits, rules);
  if (!document->is_object() || !repairer.repair())
    return start_over(before, fmt::format("{} had no list userStories any more; it was put back.", where));
  auto file = story_file_from(edits->apply(), where);
  if (!file) {
    return start_over(before, fmt::format("{} could not be repaired ({}); it was put back.", where,
                                          first_line(file.error().message)));
  }
  if (!satisfies_rules(before, file->tasks, rules))
    return start_over(before, fmt::format("{} could not be repaired; it was put back.", where));
  Enforcement result;
  result.file = *std::move(file);
  result.violations = std::move(repairer.violations);
  result.moved = std::move(repairer.judgement.moved);
  result.step = repairer.judgement.step;
  result.no_verdict = repairer.judgement.no_verdict;
  result.refused = repairer.refused;
  return result;
}

}  // namespace ralph
