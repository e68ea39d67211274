#include "os/job_messages.h"

#include <csignal>

#include <gtest/gtest.h>

#include "os/packets.h"

namespace ralph {
namespace {

TEST(JobMessages, ARequestIsDecodedUnchangedAndAPartOfOneIsRejected) {
  JobRequest request;
  request.name = "server";
  request.launch.argv = {"/bin/sh", "", "a\nb"};
  request.launch.environment.set("A", "x=y");
  request.launch.environment.set("B", "");
  request.launch.folder = "/tmp";
  request.launch.files = {"a file", ""};
  request.launch.groups = {"/a/cgroup.procs"};
  request.launch.blocks_signals = true;
  request.stop = {{0, Milliseconds(5)}, {SIGKILL, Milliseconds(7)}};
  const std::string bytes = encode(request);
  const auto back = decode_request(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(encode(*back), bytes);
  EXPECT_EQ(back->launch.argv, request.launch.argv);
  EXPECT_EQ(back->launch.environment.get("A"), "x=y");
  EXPECT_EQ(back->launch.files, request.launch.files);
  EXPECT_EQ(back->launch.groups, request.launch.groups);
  EXPECT_TRUE(back->launch.blocks_signals);
  EXPECT_EQ(back->stop.at(1).grace.count(), 7);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_request(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decode_request(bytes + "x"));
  EXPECT_FALSE(decode_request(std::string(64, '\xff')));
}

TEST(JobMessages, AnAnswerAlwaysFitsAPacket) {
  JobEnded ended;
  ended.status = {128 + SIGTERM, SIGTERM};
  ProcessInfo process;
  process.pid = 12;
  process.command.assign(100'000, 'x');
  ended.swept.ended.assign(1000, process);
  ended.swept.survivors.assign(1000, process);
  ended.swept.unseen = true;
  const std::string bytes = encode(JobReply(ended));
  EXPECT_LE(bytes.size(), kMaxPacketBytes);
  const auto back = decode_reply(bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(std::get<JobEnded>(*back).status.signal, SIGTERM);
  EXPECT_EQ(std::get<JobEnded>(*back).swept.survivors.at(0).pid, 12);
  EXPECT_TRUE(std::get<JobEnded>(*back).swept.unseen);

  const std::string error = encode(JobReply(Error{ErrorKind::kNotFound, std::string(100'000, 'x')}));
  EXPECT_LE(error.size(), kMaxPacketBytes);
  EXPECT_EQ(std::get<Error>(*decode_reply(error)).kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace ralph
