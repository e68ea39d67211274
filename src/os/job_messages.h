// The messages about jobs between the loop, the guardian and a keeper, as bytes. All three are the same program, so the
// bytes are never read by another version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "os/jobs.h"

namespace ralph {

// From the loop to the guardian, as raw bytes. The guardian never answers on the channel, so a silent peer can't block
// it.
struct JobOrder {
  enum class Kind : std::uint32_t { kStart, kEnd };
  Kind kind;
  std::uint32_t job;
  std::int32_t stop_milliseconds;  // kStart: how long the job's stop sequence may take
};
std::string encode(const JobOrder& order);
Result<JobOrder> decode_order(std::string_view bytes);

// The descriptors sent with kStart, in this order.
enum JobDescriptor { kJobSocket, kJobRequest, kJobIn, kJobOut, kJobErr, kJobDescriptors };

// The content of kJobRequest: the request without its streams. It is a file because an environment may be larger than
// any packet.
std::string encode(const JobRequest& request);
Result<JobRequest> decode_request(std::string_view bytes);

// From the keeper (or the guardian, if no keeper could be started) to the loop, over the job's socket: JobStarted and
// later JobEnded, or an Error. Long texts and lists are truncated.
struct JobStarted {};
using JobReply = std::variant<JobStarted, Error, JobEnded>;
std::string encode(const JobReply& reply);
Result<JobReply> decode_reply(std::string_view bytes);

}  // namespace ralph
