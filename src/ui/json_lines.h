// `--json`: shows a run to a program.
#pragma once

#include <string>
#include <unistd.h>
#include <vector>

#include "engine/listener.h"
#include "os/console_stream.h"

namespace ralph {

// Writes every record to standard output as one line of JSON, as in the journal. The agent's output is in the files
// that the records name. If the reader falls behind, the rest is reread from the journal, so no record is ever lost.
class JsonLines : public NullListener {
 public:
  explicit JsonLines(std::string journal);

  std::vector<Outlet*> outlets() override { return {&out_}; }
  void on_record(const record::Record& record, const Progress& progress) override;
  void on_trouble(std::string_view line) override;

 private:
  void catch_up();

  std::string journal_;
  size_t behind_ = 0;  // bytes at the end of the journal that are not written yet
  ConsoleStream out_{STDOUT_FILENO};
};

}  // namespace ralph
