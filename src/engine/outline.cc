#include "engine/outline.h"

#include "journal/reader.h"
#include "journal/writer.h"
#include "os/files.h"

namespace ralph {

Outline outline_of(const std::string& folder) {
  Outline outline;
  auto reader = JournalReader::open(join_path(folder, kJournalFile));
  if (!reader) return outline;
  for (auto record = reader->next(); record && *record; record = reader->next()) {
    const auto* started = std::get_if<record::RunStarted>(&(*record)->body);
    if (started && !outline.start) outline.start = *started;
    if (outline.began == WallTime{}) outline.began = (*record)->time;
    outline.progress = fold(std::move(outline.progress), **record);
  }
  return outline;
}

}  // namespace ralph
