#include "checks/lsp/framing.h"

#include <gtest/gtest.h>

namespace ralph::lsp {
namespace {

std::string frame(std::string_view text) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

TEST(Framing, AMessageComesBackAsItWasSent) {
  const json::value message = json::object{{"jsonrpc", "2.0"}, {"method", "caf\u00e9"}};
  FrameReader reader;
  reader.add(framed(message));
  const auto read = reader.next();
  ASSERT_TRUE(read && *read);
  EXPECT_EQ(**read, message);
  EXPECT_FALSE(*reader.next());
}

TEST(Framing, MessagesMayComeByteByByteAndSeveralAtOnce) {
  const std::string wire = frame(R"({"id":1})") + frame(R"({"id":2})") + frame(R"({"id":3})");
  FrameReader at_once;
  at_once.add(wire);
  FrameReader slow;
  long long next = 1;
  for (const char byte : wire) {
    slow.add(std::string_view(&byte, 1));
    const auto read = slow.next();
    ASSERT_TRUE(read);
    if (!*read) continue;
    const auto other = at_once.next();
    ASSERT_TRUE(other && *other);
    EXPECT_EQ(**read, **other);
    EXPECT_EQ(find_integer(**read, "id"), next++);
  }
  EXPECT_EQ(next, 4);
}

TEST(Framing, OtherHeadersAndAnyCaseAreAccepted) {
  FrameReader reader;
  reader.add("content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:  2 \r\n\r\n{}");
  const auto read = reader.next();
  EXPECT_TRUE(read && *read);
}

TEST(Framing, WhatIsNoMessageIsAnError) {
  const std::string huge(kMostHeader + 8, 'x');
  for (const std::string& wire :
       {std::string("Content-Length: -1\r\n\r\n{}"), std::string("Content-Length: 1e3\r\n\r\n{}"),
        std::string("Content-Length:\r\n\r\n{}"), std::string("Content-Length: 99999999999999999999999\r\n\r\n"),
        fmt::format("Content-Length: {}\r\n\r\n", kMostMessage + 1),
        std::string("Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} "), std::string("Content-Type: x\r\n\r\n{}"),
        std::string("hello, I am no server\r\n\r\n"), huge, frame("{"), frame("[1]"), frame("null"), frame("\xff\xfe"),
        frame(R"({"a":1,"a":2})")}) {
    FrameReader reader;
    reader.add(wire);
    EXPECT_FALSE(reader.next()) << wire.substr(0, 60);
  }
}

TEST(Framing, ALineThatIsNoHeaderIsAnErrorBeforeTheHeaderHasEnded) {
  FrameReader reader;
  reader.add("Loading the project");
  ASSERT_TRUE(reader.next()) << "more may follow";
  EXPECT_EQ(reader.rest(), "Loading the project");
  reader.add("\nContent-Length: 2\r\n");
  const auto read = reader.next();
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("Loading the project"), std::string::npos) << read.error().message;
}

TEST(Framing, NothingIsReservedForALengthThatIsOnlyClaimed) {
  FrameReader reader;
  reader.add(fmt::format("Content-Length: {}\r\n\r\n", kMostMessage));
  for (int i = 0; i < 1000; ++i) reader.add("x");
  const auto read = reader.next();
  ASSERT_TRUE(read);
  EXPECT_FALSE(*read);
}

}  // namespace
}  // namespace ralph::lsp
