#include "sandbox/upstream.h"

#include <gtest/gtest.h>

namespace ralph {
namespace {

Environment with(std::initializer_list<std::pair<const char*, const char*>> variables) {
  Environment environment;
  for (const auto& [name, value] : variables) environment.set(name, value);
  return environment;
}

TEST(Upstream, IsNoneWithoutVariables) {
  const auto none = Upstream::from(with({{"HTTPS_PROXY", " "}, {"NO_PROXY", "x"}}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->proxy_for("example.com", true), nullptr);
  EXPECT_EQ(none->proxy_for("example.com", false), nullptr);
}

TEST(Upstream, ReadsAddressesAsPeopleWriteThem) {
  struct Row {
    const char *value, *host;
    int port;
    const char* authorization;
  };
  for (const Row& row :
       {Row{"http://Proxy.Corp:3128", "proxy.corp", 3128, ""}, Row{"proxy:8080", "proxy", 8080, ""},
        Row{"HTTP://10.0.0.1/", "10.0.0.1", 80, ""}, Row{"http://[::1]:99", "::1", 99, ""},
        Row{"http://u:p@h:1", "h", 1, "Basic dTpw"}, Row{"http://a:b%40c@h:1", "h", 1, "Basic YTpiQGM="},
        Row{"http://user@h:1", "h", 1, "Basic dXNlcg=="}}) {
    const auto upstream = Upstream::from(with({{"https_proxy", row.value}}));
    ASSERT_TRUE(upstream) << row.value;
    const UpstreamProxy* proxy = upstream->proxy_for("example.com", true);
    ASSERT_NE(proxy, nullptr);
    EXPECT_EQ(proxy->host, row.host);
    EXPECT_EQ(proxy->port, row.port);
    EXPECT_EQ(proxy->authorization, row.authorization);
    EXPECT_EQ(upstream->proxy_for("example.com", false), nullptr);
  }
}

TEST(Upstream, RefusesWhatItCanNotSpeakToAndShowsNoPassword) {
  for (const char* value :
       {"socks5://u:secret@h:1", "https://u:secret@h:1", "http://u:secret@h:x", "http://u:secret@"}) {
    const auto upstream = Upstream::from(with({{"ALL_PROXY", value}}));
    ASSERT_FALSE(upstream) << value;
    EXPECT_EQ(upstream.error().kind, ErrorKind::kInput);
    EXPECT_NE(upstream.error().message.find("ALL_PROXY"), std::string::npos);
    EXPECT_EQ(upstream.error().message.find("secret"), std::string::npos);
  }
}

TEST(Upstream, LeavesOutTheHostsOfNoProxy) {
  const auto upstream =
      Upstream::from(with({{"ALL_PROXY", "http://h:1"}, {"NO_PROXY", "a.example, .b.example,*.c.example"}}));
  ASSERT_TRUE(upstream);
  for (const char* direct : {"a.example", "x.a.example", "b.example", "x.b.example", "c.example"})
    EXPECT_EQ(upstream->proxy_for(direct, true), nullptr) << direct;
  for (const char* through : {"example", "ba.example", "x.example"})
    EXPECT_NE(upstream->proxy_for(through, false), nullptr) << through;
  const auto none = Upstream::from(with({{"ALL_PROXY", "http://h:1"}, {"no_proxy", "*"}}));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->proxy_for("x.example", true), nullptr);
}

}  // namespace
}  // namespace ralph
