#include <cerrno>

#include "json/fields.h"
#include "os/files.h"
#include "sandbox/attacks.h"

namespace ralph {

std::string to_text(const AttackPlace& place) {
  return to_compact_json(json_from(place));
}

Result<AttackPlace> attack_place_from(std::string_view text) {
  TRY_VALUE(const json::value value, parse_json(text, "the place of an attack"));
  AttackPlace place = from_json<AttackPlace>(value);
  if (place.base.empty() || place.canary.empty())
    return fail(ErrorKind::kUsage, "the place of an attack is not complete");
  return place;
}

std::string harm_file(const AttackPlace& place) {
  return join_path(place.base, "harm");
}

std::string victim_secret(const AttackPlace& place) {
  return "victim-" + place.canary;
}

Attempt attempt_of(long result, std::string_view done) {
  if (result >= 0) return {true, std::string(done)};
  return {false, errno_text(errno)};
}

}  // namespace ralph
