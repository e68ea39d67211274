// What the loop, the guardian and a keeper tell each other about jobs, as bytes. All three are one program: the bytes
// never meet another version of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "os/jobs.h"

namespace ralph {

// From the loop to the guardian, as it is. The guardian never answers on the channel, so nobody's silence can block it.
struct JobOrder {
  enum class Kind : std::uint32_t { kStart, kEnd };
  Kind kind;
  std::uint32_t job;
  std::int32_t stop_milliseconds;  // kStart: how long the job's stop sequence may take
};
std::string encode(const JobOrder& order);
Result<JobOrder> decode_order(std::string_view bytes);

// The descriptors that come with kStart, in this order.
enum JobDescriptor { kJobSocket, kJobRequest, kJobIn, kJobOut, kJobErr, kJobDescriptors };

// The content of kJobRequest: the request without its streams. A file, because an environment may be larger than any
// packet.
std::string encode(const JobRequest& request);
Result<JobRequest> decode_request(std::string_view bytes);

// From the keeper (or the guardian, if there is none) to the loop, over the job's socket: JobStarted and later
// JobEnded, or an Error. Long texts and lists are cut.
struct JobStarted {};
using JobReply = std::variant<JobStarted, Error, JobEnded>;
std::string encode(const JobReply& reply);
Result<JobReply> decode_reply(std::string_view bytes);

}  // namespace ralph
