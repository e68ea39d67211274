#include "sandbox/relay.h"

#include <memory>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ralph {
namespace {

struct Sides {
  Fd outer_left, outer_right;
  std::unique_ptr<Relay> relay;
};

Sides make_relay() {
  int left[2], right[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, left), 0);
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, right), 0);
  return {Fd(left[0]), Fd(right[0]), std::make_unique<Relay>(Fd(left[1]), Fd(right[1]))};
}

// Moves as long as poll() would wake the relay. False: it is over.
bool run(Relay& relay) {
  for (;;) {
    std::vector<pollfd> fds;
    relay.add_to(fds);
    if (::poll(fds.data(), fds.size(), 0) <= 0) return true;
    if (!relay.move()) return false;
  }
}

std::string read_all(int fd, bool* ended = nullptr) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const ssize_t n = ::read(fd, bytes, sizeof bytes);
    if (ended) *ended = n == 0;
    if (n <= 0) return text;
    text.append(bytes, static_cast<size_t>(n));
  }
}

// The end of one side must never be missed, whatever came before it: nothing else would report it.
TEST(Relay, TheEndIsPassedOnHoweverManyPiecesCameBefore) {
  for (int pieces = 0; pieces < 40; ++pieces) {
    Sides sides = make_relay();
    std::string sent;
    for (int i = 0; i < pieces; ++i) {
      const std::string piece(100, static_cast<char>('a' + i % 26));
      ASSERT_EQ(::write(sides.outer_left.get(), piece.data(), piece.size()), 100);
      sent += piece;
    }
    ::shutdown(sides.outer_left.get(), SHUT_WR);
    EXPECT_TRUE(run(*sides.relay));
    bool ended = false;
    EXPECT_EQ(read_all(sides.outer_right.get(), &ended), sent);
    EXPECT_TRUE(ended) << pieces;
    ASSERT_EQ(::write(sides.outer_right.get(), "back", 4), 4);
    EXPECT_TRUE(run(*sides.relay));
    EXPECT_EQ(read_all(sides.outer_left.get()), "back");
    ::shutdown(sides.outer_right.get(), SHUT_WR);
    EXPECT_FALSE(run(*sides.relay));
  }
}

TEST(Relay, AFullSideIsWaitedForAndNothingIsLost) {
  Sides sides = make_relay();
  std::string sent, got;
  for (int i = 0; i < 3000; ++i) {
    const std::string piece(1000, static_cast<char>('a' + i % 26));
    size_t at = 0;
    while (at < piece.size()) {
      const ssize_t n = ::write(sides.outer_right.get(), piece.data() + at, piece.size() - at);
      if (n > 0) at += static_cast<size_t>(n);
      ASSERT_TRUE(run(*sides.relay));
      if (n <= 0) got += read_all(sides.outer_left.get());
    }
    sent += piece;
  }
  for (int i = 0; i < 1000 && got.size() < sent.size(); ++i) {
    ASSERT_TRUE(run(*sides.relay));
    got += read_all(sides.outer_left.get());
  }
  EXPECT_EQ(got, sent);
}

TEST(Relay, OnlyTheRequestsOwnBytesPass) {
  Sides sides = make_relay();
  sides.relay->send_right("HEAD ");
  sides.relay->limit_right(RequestBody::of_length(4));
  ASSERT_EQ(::write(sides.outer_left.get(), "bodyGET /evil", 13), 13);
  EXPECT_TRUE(run(*sides.relay));
  ASSERT_EQ(::write(sides.outer_left.get(), "GET /evil", 9), 9);
  EXPECT_TRUE(run(*sides.relay));
  EXPECT_EQ(read_all(sides.outer_right.get()), "HEAD body");
  Sides chunked = make_relay();
  chunked.relay->limit_right(RequestBody::chunked());
  ASSERT_EQ(::write(chunked.outer_left.get(), "zz\r\n", 4), 4);
  EXPECT_FALSE(run(*chunked.relay));
}

}  // namespace
}  // namespace ralph
