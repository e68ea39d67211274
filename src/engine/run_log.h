// The run's record: every note goes to the journal, then into progress, then to whoever watches. In this order, always,
// so that nothing is shown or acted on that a crash could make unsaid.
#pragma once

#include <string>
#include <vector>

#include "journal/listener.h"
#include "journal/writer.h"
#include "engine/progress.h"

namespace ralph {

class RunLog {
 public:
  RunLog(JournalWriter writer, RunListener& listener) : writer_(std::move(writer)), listener_(listener) {}

  Status note(record::Body body);
  Status sync() { return writer_.sync(); }  // before effects outside, and at the end of an iteration
  const Progress& progress() const { return progress_; }

 private:
  JournalWriter writer_;
  RunListener& listener_;
  Progress progress_;
};

}  // namespace ralph
