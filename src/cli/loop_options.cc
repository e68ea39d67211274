#include "cli/loop_options.h"

#include "base/text.h"
#include "session/loop_command.h"

namespace ralph::cli {

Result<LoopRequest> loop_request_from(const Arguments& arguments) {
  for (const Option& option :
       {kZeroErrorsOption, kZeroWarningsOption, kZeroSecurityOption, kTestsPassOption, kStagnationOption}) {
    if (!arguments.has(option.name)) continue;
    return fail(
        ErrorKind::kUsage,
        "--{} is an option of loops that go by diagnostics, which this version of ralph does not have; leave it out",
        option.name);
  }
  LoopRequest request;
  request.task = arguments.positionals()[0];
  for (const Option& option : {kMaxIterationsOption, kPromiseOption, kMinToolCallsOption, kNoWorkOption}) {
    if (const auto value = arguments.value(option.name)) TRY(set_loop_option(request, option.name, *value));
  }
  request.ultrawork = arguments.has(kUltraworkOption.name);
  if (trim(request.task).empty())
    return fail(ErrorKind::kUsage, "the task is blank; say what is to be done, such as 'fix the failing tests'");
  TRY(check_request(request));
  return request;
}

}  // namespace ralph::cli
