#include "checks/lsp/conversation.h"

#include <gtest/gtest.h>

#include "checks/diagnostics/collector.h"
#include "checks/diagnostics/tools.h"

namespace ralph::lsp {
namespace {

// Acts as the server.
class Talk {
 public:
  explicit Talk(std::string_view server, std::string_view capabilities = "{}") : talk(*server_named(server), "/p", 1) {
    const json::value initialize = sent();
    EXPECT_EQ(find_string(initialize, "method"), "initialize");
    answer(initialize, fmt::format(R"({{"capabilities": {}}})", capabilities));
    EXPECT_EQ(find_string(sent(), "method"), "initialized");
  }

  // The next message sent by ralph.
  json::value sent() {
    from_ralph_.add(talk.take_output());
    auto message = from_ralph_.next();
    return message && *message ? **message : json::value();
  }
  std::string sent_method() { return std::string(find_string(sent(), "method").value_or("")); }
  void send(std::string_view json) { talk.receive(framed(parse_json(json, "").value())); }
  void answer(const json::value& request, std::string_view result) {
    send(fmt::format(R"({{"jsonrpc": "2.0", "id": {}, "result": {}}})", find_integer(request, "id").value(), result));
  }
  void refuse(const json::value& request, int code) {
    send(fmt::format(R"({{"id": {}, "error": {{"code": {}, "message": "no"}}}})", find_integer(request, "id").value(),
                     code));
  }
  void publish(std::string_view path, std::string_view version, std::string_view diagnostics) {
    send(fmt::format(
        R"({{"method": "textDocument/publishDiagnostics", "params": {{"uri": "file://{}", {} "diagnostics": {}}}}})",
        path, version, diagnostics));
  }

  Conversation talk;

 private:
  FrameReader from_ralph_;
};

constexpr std::string_view kOne =
    R"([{"range": {"start": {"line": 4, "character": 2}}, "severity": 1, "code": "x1", "message": "bad"}])";

TEST(Conversation, PublishedDiagnosticsCountForTheVersionThatWasSent) {
  Talk server("clangd");
  const QuestionId question = server.talk.ask("/p/a.cc", "int x;");
  const json::value open = server.sent();
  EXPECT_EQ(find_string(open, "method"), "textDocument/didOpen");
  EXPECT_EQ(text_at(open, {"params", "textDocument", "languageId"}), "cpp");
  EXPECT_FALSE(server.talk.take_answer(question));
  server.publish("/p/a.cc", "", "[]");                  // without a version: it may be about an earlier text
  server.publish("/p/b.cc", R"("version": 1,)", "[]");  // another file
  EXPECT_FALSE(server.talk.take_answer(question));
  server.publish("/p/a.cc", R"("version": 1,)", kOne);
  const auto answer = server.talk.take_answer(question);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->findings.size(), 1u);
  const diagnostics::Finding& finding = answer->findings.front();
  EXPECT_EQ(finding.file, "/p/a.cc");
  EXPECT_EQ(finding.line, 5);
  EXPECT_EQ(finding.column, 3);
  EXPECT_EQ(finding.rule, "x1");
  EXPECT_EQ(finding.message, "bad");
}

TEST(Conversation, WhatWasSaidOfAnEarlierVersionIsNoAnswer) {
  Talk server("clangd");
  const QuestionId first = server.talk.ask("/p/a.cc", "one");
  const QuestionId second = server.talk.ask("/p/a.cc", "two");
  server.publish("/p/a.cc", R"("version": 1,)", "[]");
  EXPECT_FALSE(server.talk.take_answer(first));
  EXPECT_FALSE(server.talk.take_answer(second));
  server.publish("/p/a.cc", R"("version": 2,)", kOne);
  EXPECT_TRUE(server.talk.take_answer(first));  // a newer version answers it, too
  EXPECT_EQ(server.talk.take_answer(second)->findings.size(), 1u);
}

TEST(Conversation, TheSameTextIsAnsweredFromMemoryUntilSomethingChangesOnDisk) {
  Talk server("clangd");
  server.talk.forget(server.talk.ask("/p/a.cc", "one"));
  const QuestionId first = server.talk.ask("/p/a.cc", "two");
  server.publish("/p/a.cc", R"("version": 2,)", kOne);
  ASSERT_TRUE(server.talk.take_answer(first));
  while (!server.sent().is_null()) continue;
  const QuestionId again = server.talk.ask("/p/a.cc", "two");
  EXPECT_EQ(server.talk.take_answer(again)->findings.size(), 1u);
  EXPECT_TRUE(server.sent().is_null());  // nothing was asked
  server.talk.tell({{"/p/a.h", DiskChange::kChanged}});
  EXPECT_EQ(server.sent_method(), "workspace/didChangeWatchedFiles");
  const QuestionId header = server.talk.ask("/p/a.cc", "two");
  EXPECT_FALSE(server.talk.take_answer(header));
  const json::value change = server.sent();
  EXPECT_EQ(find_string(change, "method"), "textDocument/didChange");
  EXPECT_EQ(number_at(change, {"params", "textDocument", "version"}), 3);
  // The text must differ, or the server would publish nothing.
  EXPECT_EQ(text_at(*find(*find(change, "params"), "contentChanges")->get_array().begin(), {"text"}), "two\n");
}

TEST(Conversation, PullsWhereThatIsOfferedOrRegistered) {
  Talk at_once("gopls", R"({"diagnosticProvider": {"interFileDependencies": true}})");
  const QuestionId question = at_once.talk.ask("/p/a.go", "package a");
  EXPECT_EQ(at_once.sent_method(), "textDocument/didOpen");
  const json::value pull = at_once.sent();
  EXPECT_EQ(find_string(pull, "method"), "textDocument/diagnostic");
  at_once.publish("/p/a.go", R"("version": 1,)", "[]");  // it is pulled, so only its answer counts
  EXPECT_FALSE(at_once.talk.take_answer(question));
  at_once.refuse(pull, -32802);  // cancelled by the server: ask again
  const json::value again = at_once.sent();
  EXPECT_EQ(find_string(again, "method"), "textDocument/diagnostic");
  at_once.answer(again, fmt::format(R"({{"kind": "full", "items": {}}})", kOne));
  EXPECT_EQ(at_once.talk.take_answer(question)->findings.size(), 1u);

  Talk later("pyright-langserver");
  const QuestionId early = later.talk.ask("/p/a.py", "x");
  EXPECT_EQ(later.sent_method(), "textDocument/didOpen");
  later.send(R"({"id": "r1", "method": "client/registerCapability",
                 "params": {"registrations": [{"id": "1", "method": "textDocument/diagnostic"}]}})");
  EXPECT_EQ(find_string(later.sent(), "id"), "r1");
  later.answer(later.sent(), R"({"kind": "full", "items": []})");
  EXPECT_TRUE(later.talk.take_answer(early)->findings.empty());
}

TEST(Conversation, AnAnswerThatIsNoneIsAFailureAndNeverClean) {
  for (const std::string_view result : {"null", "{}", R"({"kind": "unchanged", "resultId": "1"})", R"({"items": 3})"}) {
    Talk server("gopls", R"({"diagnosticProvider": {}})");
    const QuestionId question = server.talk.ask("/p/a.go", "x");
    server.sent();
    server.answer(server.sent(), result);
    EXPECT_NE(server.talk.take_answer(question)->failure, "") << result;
  }
  Talk server("gopls", R"({"diagnosticProvider": {}})");
  const QuestionId question = server.talk.ask("/p/a.go", "x");
  server.sent();
  server.refuse(server.sent(), -32603);
  EXPECT_EQ(server.talk.take_answer(question)->failure, "gopls could not tell: no");
}

// gopls: type errors immediately, its analyses later, both for the same version.
TEST(Conversation, WhatIsPublishedInPartsIsNotTheLastWord) {
  Talk server("gopls", R"({"diagnosticProvider": {}})");
  const QuestionId question = server.talk.ask("/p/a.go", "package p");
  EXPECT_EQ(server.sent_method(), "textDocument/didOpen");
  const json::value pull = server.sent();
  server.publish("/p/a.go", R"("version": 1,)", "[]");
  EXPECT_FALSE(server.talk.take_answer(question));
  server.answer(pull, fmt::format(R"({{"kind": "full", "items": {}}})", kOne));
  EXPECT_EQ(server.talk.take_answer(question)->findings.size(), 1u);
}

TEST(Conversation, OneThatPublishesInPartsAndCanNotBeAskedIsTooOld) {
  Conversation old(*server_named("gopls"), "/p", 1);
  old.receive(framed(json::object{{"id", 1}, {"result", json::object{{"capabilities", json::object()}}}}));
  EXPECT_TRUE(old.broken().starts_with("gopls is too old")) << old.broken();
}

TEST(Conversation, TsserverIsAskedForBothKinds) {
  Talk server("typescript-language-server");
  const QuestionId question = server.talk.ask("/p/a.ts", "x");
  EXPECT_EQ(server.sent_method(), "textDocument/didOpen");
  const json::value syntax = server.sent(), types = server.sent();
  server.publish("/p/a.ts", "", "[]");
  server.answer(syntax, R"({"success": true, "body": []})");
  EXPECT_FALSE(server.talk.take_answer(question));
  server.answer(types, R"({"success": true, "body": [
      {"start": {"line": 2, "offset": 7}, "text": "bad", "code": 2322, "category": "error"},
      {"start": {"line": 2, "offset": 7}, "text": "nicer", "code": 80001, "category": "suggestion"}]})");
  const auto answer = server.talk.take_answer(question);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->findings.size(), 1u);
  EXPECT_EQ(answer->findings[0].rule, "TS2322");
  EXPECT_EQ(answer->findings[0].line, 2);

  const QuestionId next = server.talk.ask("/p/a.ts", "y");
  EXPECT_EQ(server.sent_method(), "textDocument/didChange");
  server.answer(server.sent(), R"({"success": false, "message": "no project"})");
  EXPECT_EQ(server.talk.take_answer(next)->failure, "typescript-language-server could not tell: no project");
}

TEST(Conversation, RustAnalyzerHasFinishedWhenItsCheckHas) {
  Talk server("rust-analyzer", R"({"diagnosticProvider": {}})");
  EXPECT_FALSE(server.talk.is_ready());
  server.send(R"({"method": "experimental/serverStatus", "params": {"health": "ok", "quiescent": true}})");
  EXPECT_TRUE(server.talk.is_ready());
  const QuestionId question = server.talk.ask("/p/a.rs", "x");
  EXPECT_EQ(server.sent_method(), "textDocument/didOpen");
  EXPECT_EQ(server.sent_method(), "textDocument/didSave");
  const auto progress = [&](std::string_view token, std::string_view kind) {
    server.send(fmt::format(R"({{"method": "$/progress", "params": {{"token": "{}", "value": {{"kind": "{}"}}}}}})",
                            token, kind));
  };
  progress("rust-analyzer/flycheck/0", "end");  // from a check that began earlier
  progress("rustAnalyzer/Indexing", "begin");
  progress("rustAnalyzer/Indexing", "end");
  EXPECT_TRUE(server.sent().is_null());
  progress("rust-analyzer/flycheck/0", "begin");
  progress("rust-analyzer/flycheck/0", "end");
  const json::value pull = server.sent();
  server.publish("/p/a.rs", R"("version": 1,)", kOne);
  EXPECT_FALSE(server.talk.take_answer(question));
  server.answer(pull, R"({"kind": "full", "items": []})");
  EXPECT_EQ(server.talk.take_answer(question)->findings.size(), 1u);
}

TEST(Conversation, RequestsOfTheServerAreAnswered) {
  Talk server("pyright-langserver");
  server.send(R"({"id": 7, "method": "workspace/configuration",
                  "params": {"items": [{"section": "python.analysis"}, {"section": "other"}, {}]}})");
  const json::value settings = server.sent();
  ASSERT_EQ(find(settings, "result")->get_array().size(), 3u);
  EXPECT_TRUE(find(settings, "result")->get_array()[0].is_object());
  EXPECT_TRUE(find(settings, "result")->get_array()[1].is_null());
  server.send(R"({"id": 8, "method": "window/workDoneProgress/create", "params": {"token": 1}})");
  EXPECT_TRUE(find(server.sent(), "result")->is_null());
  server.send(R"({"id": 9, "method": "workspace/applyEdit", "params": {}})");
  EXPECT_EQ(find_bool(*find(server.sent(), "result"), "applied"), false);
  server.send(R"({"id": 10, "method": "made/up"})");
  EXPECT_EQ(find_integer(*find(server.sent(), "error"), "code"), -32601);
}

TEST(Conversation, SaysWhyTsserverCouldNotTell) {
  Talk server("typescript-language-server");
  const QuestionId question = server.talk.ask("/p/a.ts", "text");
  json::value request = server.sent();
  while (find_string(request, "method") != "workspace/executeCommand") request = server.sent();
  server.send(fmt::format(R"({{"id": {}, "error": {{"code": 1, "message": "the project is being loaded anew"}}}})",
                          *find_integer(request, "id")));
  const auto answer = server.talk.take_answer(question);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->failure, "typescript-language-server could not tell: the project is being loaded anew");
}

TEST(Conversation, EndsByShutdownAndExit) {
  Talk server("clangd");
  server.talk.end();
  const json::value shutdown = server.sent();
  EXPECT_EQ(find_string(shutdown, "method"), "shutdown");
  server.answer(shutdown, "null");
  EXPECT_EQ(server.sent_method(), "exit");
}

TEST(Conversation, IsBrokenByARefusalAndByWhatIsNoMessage) {
  Conversation refused(*server_named("clangd"), "/p", 1);
  refused.receive(framed(parse_json(R"({"id": 1, "error": {"code": 1, "message": "no licence"}})", "").value()));
  EXPECT_EQ(refused.broken(), "clangd refused to begin: no licence");
  Conversation noise(*server_named("clangd"), "/p", 1);
  noise.receive("usage: clangd [options]\r\n\r\n");
  EXPECT_NE(noise.broken(), "");
  noise.receive(framed(parse_json(R"({"id": 1, "result": {}})", "").value()));
  EXPECT_FALSE(noise.is_ready());
}

TEST(Conversation, KeepsOnlySomeDocumentsOpen) {
  Talk server("clangd");
  int opened = 0, closed = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string path = fmt::format("/p/{}.cc", i);
    const QuestionId question = server.talk.ask(path, "x");
    server.publish(path, R"("version": 1,)", "[]");
    EXPECT_TRUE(server.talk.take_answer(question));
  }
  for (json::value message = server.sent(); !message.is_null(); message = server.sent()) {
    opened += find_string(message, "method") == "textDocument/didOpen";
    closed += find_string(message, "method") == "textDocument/didClose";
  }
  EXPECT_EQ(opened, 40);
  EXPECT_EQ(closed, 40 - static_cast<int>(kKeptOpen));
}

TEST(Conversation, PathsWithAnyByteComeBack) {
  for (const std::string_view path : {"/a b/c%20d.cc", "/caf\xc3\xa9/#?.py", "/x+y@z.go"})
    EXPECT_EQ(path_of_uri(uri_of(path)), path);
  EXPECT_EQ(path_of_uri("https://x/a"), "");
  EXPECT_EQ(path_of_uri("file:///a%2"), "");
  EXPECT_EQ(path_of_uri("file:///a%zz"), "");
  EXPECT_EQ(path_of_uri("file:///a%00b"), "");
}

TEST(Servers, EveryOneIsACollectorAndReplacesCollectorsThatThereAre) {
  for (const ServerRow& row : all_servers()) {
    EXPECT_TRUE(diagnostics::collector_named(row.name)) << row.name;
    for (const std::string_view other : row.replaces) EXPECT_TRUE(diagnostics::collector_named(other)) << other;
    for (const std::string_view text : {row.options, row.settings}) {
      if (!text.empty()) {
        EXPECT_TRUE(parse_json(text, row.name)) << row.name;
      }
    }
    EXPECT_FALSE(language_of(row, fmt::format("a{}", row.languages.front().ending)).empty());
    EXPECT_TRUE(language_of(row, "a.unknown").empty());
  }
}

}  // namespace
}  // namespace ralph::lsp
