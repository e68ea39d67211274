#include "os/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "os/scratch_folder_for_tests.h"

namespace ralph {
namespace {

TEST(UnixSocket, IsReachedAtAPathOfAnyLength) {
  const ScratchFolder folder;
  std::string deep = folder / "deep";
  for (int i = 0; i < 4; ++i) deep += "/" + std::string(60, 'x');
  ASSERT_TRUE(make_directories(deep));
  for (const SocketKind kind : {SocketKind::kStream, SocketKind::kPackets}) {
    const auto listener = listen_at(deep + "/socket", kind);
    ASSERT_TRUE(listener) << listener.error().message;
    struct stat info{};
    ASSERT_EQ(::stat((deep + "/socket").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    const auto client = connect_to(deep + "/socket", kind);
    ASSERT_TRUE(client) << client.error().message;
    const Fd server(::accept(listener->get(), nullptr, nullptr));
    ASSERT_EQ(::send(client->get(), "hello", 5, 0), 5);
    char bytes[8] = {};
    EXPECT_EQ(::recv(server.get(), bytes, sizeof bytes, 0), 5);
  }
}

TEST(UnixSocket, SaysThatNobodyListens) {
  const ScratchFolder folder;
  const std::string path = folder / "socket";
  EXPECT_EQ(connect_to(path, SocketKind::kStream).error().kind, ErrorKind::kNotFound);
  {
    ASSERT_TRUE(listen_at(path, SocketKind::kStream));
  }
  EXPECT_EQ(connect_to(path, SocketKind::kStream).error().kind, ErrorKind::kNotFound);  // exists, but nobody listens
  EXPECT_EQ(connect_to(folder / "none/socket", SocketKind::kStream).error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace ralph
