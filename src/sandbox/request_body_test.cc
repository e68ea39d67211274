#include "sandbox/request_body.h"

#include <string>

#include <gtest/gtest.h>

namespace ralph {
namespace {

// The part of `bytes` that is passed on when they arrive in pieces of `piece`.
std::string passed(RequestBody& body, std::string_view bytes, size_t piece) {
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string_view next = bytes.substr(at, piece);
    text += next.substr(0, body.take(next));
  }
  return text;
}

TEST(RequestBody, WhatComesBehindItIsNotPassedOn) {
  struct Row {
    RequestBody body;
    std::string own;
  };
  const std::string behind = "GET http://evil/ HTTP/1.1\r\n\r\n";
  for (const Row& row :
       {Row{RequestBody::none(), ""}, Row{RequestBody::of_length(0), ""}, Row{RequestBody::of_length(5), "hello"},
        Row{RequestBody::chunked(), "0\r\n\r\n"}, Row{RequestBody::chunked(), "5\r\nhello\r\n0\r\n\r\n"},
        Row{RequestBody::chunked(), "A;x=y\r\n0123456789\r\n00\r\nTrailer: x\r\nOther: y\r\n\r\n"},
        Row{RequestBody::chunked(), "2\r\n\r\n\r\n0\r\n\r\n"}}) {
    for (const size_t piece : {1U, 2U, 3U, 7U, 1000U}) {
      RequestBody body = row.body;
      EXPECT_EQ(passed(body, row.own + behind, piece), row.own) << piece;
      EXPECT_TRUE(body.over());
    }
  }
}

TEST(RequestBody, ChunksThatCouldBeReadInTwoWaysAreBroken) {
  for (const char* bytes :
       {"\r\n", "x\r\n", "5\nhello\r\n0\r\n\r\n", "5\r\nhelloX\r\n", "5 \r\nhello\r\n", "-1\r\n", "0x5\r\nhello",
        "5\rhello", "1234567890123456\r\n", "0\r\nA: b\nHost: c\r\n\r\n", "5;a\nb\r\nhello\r\n"}) {
    RequestBody body = RequestBody::chunked();
    passed(body, bytes, 1);
    EXPECT_TRUE(body.broken()) << bytes;
    EXPECT_FALSE(body.over());
  }
}

}  // namespace
}  // namespace ralph
