#include "journal/changed_file.h"

namespace ralph {

std::string changed_file_text(const record::ChangedFile& file) {
  std::string text = fmt::format("{} was {}", file.path, file.what);
  if (file.action == WatchAction::kPutBack) text += " and put back";
  if (file.action == WatchAction::kFailed) text += ", which is not allowed";
  if (!file.note.empty()) text += fmt::format(": {}", file.note);
  if (!file.kept.empty())
    text += fmt::format(" (the changed version is kept: {}{})", file.kept,
                        file.exact.empty() ? "" : ", with its secrets in " + file.exact);
  return text;
}

}  // namespace ralph
