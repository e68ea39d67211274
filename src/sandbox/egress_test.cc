#include <gtest/gtest.h>

#include "sandbox/allowlist.h"
#include "sandbox/client_hello.h"
#include "sandbox/proxy_request.h"

namespace ralph {
namespace {

TEST(Allowlist, NamesAndPortsDecide) {
  const auto list = Allowlist::from({"api.example.com", "*.below.org", "port.net:8443", "10.0.0.7:80"}, {});
  ASSERT_TRUE(list);
  struct Row {
    const char* host;
    int port;
    bool allowed;
  };
  for (const Row& row :
       {Row{"api.example.com", 443, true}, Row{"api.example.com", 80, true}, Row{"API.Example.COM.", 443, true},
        Row{"api.example.com", 22, false}, Row{"example.com", 443, false}, Row{"xapi.example.com", 443, false},
        Row{"api.example.com.evil.org", 443, false}, Row{"a.below.org", 443, true}, Row{"a.b.below.org", 443, true},
        Row{"below.org", 443, false}, Row{"xbelow.org", 443, false}, Row{"port.net", 8443, true},
        Row{"port.net", 443, false}, Row{"10.0.0.7", 80, true}, Row{"10.0.0.8", 80, false}, Row{"", 443, false}}) {
    EXPECT_EQ(list->allows(row.host, row.port), row.allowed) << row.host << ":" << row.port;
  }
}

TEST(Allowlist, BadEntriesAreErrors) {
  for (const char* bad : {"a b", "x:0", "x:70000", "x:y", "", "http://x", "x/y"})
    EXPECT_FALSE(Allowlist::from({bad}, {})) << bad;
  EXPECT_FALSE(Allowlist::from({}, {{"x", "not an address"}}));
  EXPECT_TRUE(Allowlist::from({"[::1]:80", "::1"}, {{"x", "::1"}}));
}

TEST(Allowlist, PrivateAddressesAreKnown) {
  for (const char* address : {"fec0::1",
                              "2001::1",
                              "3fff::1",
                              "5f00::1",
                              "168.63.129.16",
                              "127.0.0.1",
                              "127.255.0.1",
                              "10.1.2.3",
                              "172.16.0.1",
                              "172.31.255.255",
                              "192.168.1.1",
                              "169.254.169.254",
                              "100.64.0.1",
                              "0.0.0.0",
                              "224.0.0.1",
                              "255.255.255.255",
                              "::1",
                              "::",
                              "fe80::1",
                              "fd00::1",
                              "::ffff:127.0.0.1",
                              "::ffff:8.8.8.8",
                              "64:ff9b::7f00:1",
                              "nonsense"})
    EXPECT_TRUE(is_private_address(address)) << address;
  for (const char* address : {"8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1", "192.169.0.1"})
    EXPECT_FALSE(is_private_address(address)) << address;
}

// The lookup functions stop at a NUL: what follows it could be chosen to match the list.
TEST(Allowlist, AHostIsANameOrAnAddressAndNothingElse) {
  for (const char* host : {"a.example.com", "a-b_c.d", "1.2.3.4", "x"}) EXPECT_TRUE(is_host_name(host)) << host;
  for (const std::string& host :
       {std::string("127.0.0.1\0.example.com", 21), std::string("evil.org\0.example.com", 21),
        std::string(".example.com"), std::string("a..b"), std::string("a."), std::string("A.b"), std::string("a b"),
        std::string("a\nb"), std::string("a%00b"), std::string(64, 'a'), std::string(""), std::string("::1")})
    EXPECT_FALSE(is_host_name(host)) << host;
  EXPECT_FALSE(is_ip_address(std::string("127.0.0.1\0.example.com", 21)));
}

TEST(ProxyRequest, HeadsAreRead) {
  const auto tunnel = parse_proxy_request("CONNECT API.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(tunnel);
  EXPECT_TRUE(tunnel->connect);
  EXPECT_EQ(tunnel->host, "api.example.com");
  EXPECT_EQ(tunnel->port, 443);
  const auto plain = parse_proxy_request(
      "GET http://a.org:81/p?q=1 HTTP/1.1\r\nHost: evil\r\nProxy-Connection: x\r\nConnection: keep-alive\r\nAccept: "
      "y\r\n\r\n");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "a.org");
  EXPECT_EQ(plain->port, 81);
  EXPECT_EQ(plain->head, "GET /p?q=1 HTTP/1.1\r\nHost: a.org:81\r\nConnection: close\r\nAccept: y\r\n\r\n");
  EXPECT_EQ(parse_proxy_request("GET http://a.org HTTP/1.0\r\n\r\n")->head,
            "GET / HTTP/1.0\r\nHost: a.org\r\nConnection: close\r\n\r\n");
}

TEST(ProxyRequest, NonsenseIsAnError) {
  for (const char* head :
       {"", "\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "CONNECT x HTTP/1.1\r\n\r\n", "CONNECT x:0 HTTP/1.1\r\n\r\n",
        "CONNECT :443 HTTP/1.1\r\n\r\n", "GET http://u@h/ HTTP/1.1\r\n\r\n", "GET ftp://h/ HTTP/1.1\r\n\r\n",
        "GET http://h/ HTTP/2\r\n\r\n", "GET http://h/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
        "GET http://h/ HTTP/1.9\r\n\r\n", "G T http://h/ HTTP/1.1\r\n\r\n", "GET http://..h/ HTTP/1.1\r\n\r\n"})
    EXPECT_FALSE(parse_proxy_request(head)) << head;
  using namespace std::string_literals;
  for (const std::string& head :
       {"CONNECT 127.0.0.1\0.a.org:443 HTTP/1.1\r\n\r\n"s, "GET http://evil\0.a.org/ HTTP/1.1\r\n\r\n"s,
        "GET http://a.org/\0 HTTP/1.1\r\n\r\n"s})
    EXPECT_FALSE(parse_proxy_request(head)) << head;
}

// Parsers disagree about where such a line, field or request ends.
TEST(ProxyRequest, WhatCouldBeReadInTwoWaysIsAnError) {
  for (const char* fields :
       {"A: b\nHost: evil\r\n", "Host : evil\r\n", "\x0bHost: evil\r\n", "no colon\r\n", ": x\r\n",
        "A: b\rHost: evil\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: +1\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length:\r\n", "Content-Length: 99999999999999999999999\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding : chunked\r\n"})
    EXPECT_FALSE(parse_proxy_request(std::string("POST http://a.org/ HTTP/1.1\r\n") + fields + "\r\n")) << fields;
  auto plain = parse_proxy_request("POST http://a.org/ HTTP/1.1\r\nContent-Length: 3\r\nUpgrade: x\r\nTE: y\r\n\r\n");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->head, "POST / HTTP/1.1\r\nHost: a.org\r\nConnection: close\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(plain->body.take("abcdef"), 3U);
}

// A hello with one extension, in records of `piece` bytes. `more`: a second name in it; `again`: the extension twice.
std::string hello_with(const std::string& host, size_t piece = 10000, const std::string& more = "",
                       bool again = false) {
  const auto number = [](size_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
  };
  const auto vector = [&](const std::string& body, int bytes) { return number(body.size(), bytes) + body; };
  const std::string names =
      vector(number(0, 1) + vector(host, 2) + (more.empty() ? "" : number(0, 1) + vector(more, 2)), 2);
  const std::string name = host.empty() ? "" : number(0, 2) + vector(names, 2);
  const std::string extensions = number(10, 2) + vector("xx", 2) + name + (again ? name : "");
  const std::string body = number(0x0303, 2) + std::string(32, 'r') + vector("session", 1) + vector("cc", 2) +
                           vector("0", 1) + vector(extensions, 2);
  const std::string message = number(1, 1) + vector(body, 3);
  std::string records;
  for (size_t at = 0; at < message.size(); at += piece)
    records += number(22, 1) + number(0x0301, 2) + vector(message.substr(at, piece), 2);
  return records;
}

TEST(TlsHello, TheHostIsFoundHoweverTheMessageIsCut) {
  using State = ClientHello::State;
  for (const size_t piece : {1U, 7U, 40U, 10000U}) {
    const std::string bytes = hello_with("api.example.com", piece);
    const ClientHello hello = read_client_hello(bytes + "more");
    EXPECT_EQ(hello.state, State::kComplete) << piece;
    EXPECT_EQ(hello.host, "api.example.com");
  }
  const std::string bytes = hello_with("api.example.com");
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(read_client_hello(bytes.substr(0, size)).state, State::kIncomplete) << size;
  EXPECT_EQ(read_client_hello(hello_with("")).state, State::kComplete);
  // With two names, the server could choose either.
  EXPECT_EQ(read_client_hello(hello_with("a.org", 10000, "b.org")).state, State::kBad);
  EXPECT_EQ(read_client_hello(hello_with("a.org", 10000, "", true)).state, State::kBad);
  EXPECT_EQ(read_client_hello("GET / HTTP/1.1").state, State::kNotTls);
  EXPECT_EQ(read_client_hello(std::string("\x16\x03\x01\x00\x04\x02\x00\x00\x00", 9)).state, State::kBad);
}

}  // namespace
}  // namespace ralph
