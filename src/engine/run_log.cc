#include "engine/run_log.h"

namespace ralph {

Status RunLog::note(record::Body body) {
  TRY_VALUE(const record::Record written, writer_.append(std::move(body)));
  progress_ = fold(std::move(progress_), written);
  listener_.on_record(written);
  return {};
}

}  // namespace ralph
