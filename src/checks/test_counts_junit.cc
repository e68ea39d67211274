// Parses JUnit XML in a check's output, byte by byte.
#include "base/text.h"
#include "checks/test_counts.h"

namespace ralph {

void TestCountReader::feed_xml(std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    switch (xml_.where) {
      case Xml::Where::kText:
        i = bytes.find('<', i);
        if (i == std::string_view::npos) return;
        xml_.where = Xml::Where::kName;
        xml_.name.clear();
        xml_.last.clear();
        xml_.quote = 0;
        break;
      case Xml::Where::kName:
      case Xml::Where::kTag:
        feed_tag(bytes[i]);
        break;
      case Xml::Where::kCdata:
        if (bytes[i] == '>' && xml_.last == "]]") xml_.where = Xml::Where::kText;
        xml_.last = bytes[i] != ']' ? "" : xml_.last.empty() ? "]" : "]]";
        break;
    }
  }
}

void TestCountReader::feed_tag(char c) {
  if (xml_.where == Xml::Where::kName) {
    const bool first = xml_.name.empty() || xml_.name.starts_with('!');
    if (is_alphanumeric(c) || (first && contains("/?![", c))) {
      xml_.name += c;
      if (xml_.name == "?xml") xml_.announced = true;
      if (xml_.name == "![CDATA[") xml_.where = xml_.suites > 0 ? Xml::Where::kCdata : Xml::Where::kText;
      if (xml_.name.size() > 16) xml_.where = Xml::Where::kText;
      return;
    }
    // Only for these does it matter where they end.
    const bool matters = is_one_of(xml_.name, {"testsuite", "testsuites", "testcase"});
    if (!matters) read_element(false);
    xml_.where = matters ? Xml::Where::kTag : Xml::Where::kText;
    if (!matters) return;
  }
  if (xml_.quote != 0) {
    if (c == xml_.quote) xml_.quote = 0;
  } else if (c == '"' || c == '\'') {
    xml_.quote = c;
  } else if (c == '>') {
    read_element(xml_.last == "/");
    xml_.where = Xml::Where::kText;
  }
  xml_.last = c;
}

void TestCountReader::read_element(bool empty) {
  const std::string& name = xml_.name;
  if (name == "testsuites") xml_.announced = true;
  if (!xml_.announced) return;
  if (name == "testsuite" || name == "testsuites") {
    xml_.suites += empty ? 0 : 1;
    xml_.seen = true;
  }
  if (xml_.suites == 0) return;
  if (name == "/testsuite" || name == "/testsuites") end_case(), --xml_.suites;
  if (name == "testcase") end_case(), xml_.in_case = true;
  if (name == "/testcase" || empty) end_case();
  if (name == "failure" || name == "error") xml_.failed = true;
  if (name == "skipped") xml_.skipped = true;
}

void TestCountReader::end_case() {
  if (xml_.in_case) ++(xml_.failed ? xml_.counts.failed : xml_.skipped ? xml_.counts.skipped : xml_.counts.passed);
  xml_.in_case = xml_.failed = xml_.skipped = false;
}

}  // namespace ralph
