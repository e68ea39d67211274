// The names of rows of decide() that code outside its table asks about. All other names appear only in the table.
#pragma once

#include <array>
#include <string_view>

namespace ralph {

inline constexpr std::string_view kRepositoryGone = "repository_gone";

namespace rules {

// A session's stop.
inline constexpr std::string_view kCancelled = "cancelled";
inline constexpr std::string_view kChecksRunning = "checks_running";
inline constexpr std::string_view kChecksUnfinished = "checks_unfinished";
inline constexpr std::string_view kChecksUnmet = "checks_unmet";
inline constexpr std::string_view kFilesHeld = "files_held";
inline constexpr std::string_view kPromiseWithoutWork = "promise_without_work";
inline constexpr std::string_view kPromiseMentioned = "promise_mentioned";
inline constexpr std::string_view kPromiseMissing = "promise_missing";

// A task.
inline constexpr std::string_view kRestartsSpent = "restarts_spent";
inline constexpr std::array<std::string_view, 2> kEndsOfTasks = {"task_done", "task_children_overdue"};  // complete

}  // namespace rules
}  // namespace ralph
