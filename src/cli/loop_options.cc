#include "cli/loop_options.h"

#include "base/text.h"
#include "hooks/host.h"
#include "session/loop_command.h"

namespace ralph::cli {

Result<LoopRequest> loop_request_from(const Arguments& arguments, const std::string& folder,
                                      const std::string& project) {
  LoopRequest request;
  request.task = arguments.positionals()[0];
  take_targets(request);
  TRY(settle_targets(request, folder, project));
  if (const auto most = arguments.value("max-iterations")) TRY(set_loop_option(request, "max-iterations", *most));
  for (const Option& option : kLoopOptions) {
    if (const auto value = arguments.value(option.name)) TRY(set_loop_option(request, option.name, *value));
  }
  for (const Option& option : kCriteriaOptions) {
    if (arguments.has(option.name)) TRY(set_loop_option(request, option.name, ""));
  }
  for (const std::string& check : arguments.values("check")) TRY(set_loop_option(request, "check", check));
  if (trim(request.task).empty())
    return fail(ErrorKind::kUsage, "the task is blank; say what is to be done, such as 'fix the failing tests'");
  TRY(check_request(request));
  return request;
}

Result<std::string> session_from(const Arguments& arguments, const Environment& environment) {
  if (arguments.value("session") == "")
    return fail(ErrorKind::kUsage, "--session is empty; leave it out, or give the session's id");
  if (const auto session = arguments.value("session")) return std::string(*session);
  return arguments.has("all") ? "" : enclosing_session_id(environment);
}

}  // namespace ralph::cli
