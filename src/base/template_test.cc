#include "base/template.h"

#include <vector>

#include <gtest/gtest.h>

namespace ralph {
namespace {

using Values = std::vector<std::pair<std::string_view, std::string>>;

TEST(Template, PutsInEveryValueThatIsGiven) {
  const Values values = {{"A", "one"}, {"B_C", "two"}};
  EXPECT_EQ(render_template("{{A}} and {{B_C}}, {{A}}{{A}}", values), "one and two, oneone");
  EXPECT_EQ(render_template("", values), "");
  EXPECT_EQ(render_template("nothing to do", values), "nothing to do");
}

TEST(Template, LeavesAllOtherBracesAlone) {
  const Values values = {{"A", "one"}};
  for (const char* text : {"{{B}}", "{{ A }}", "{{a}}", "{A}", "{{A}", "{{A", "{{", "{{}}", "}}{{", "{{AB}}"}) {
    EXPECT_EQ(render_template(text, values), text);
  }
  EXPECT_EQ(render_template("{{{A}}}", values), "{one}");
  EXPECT_EQ(render_template("{{{{A}}", values), "{{one");
  EXPECT_EQ(render_template("style={{x: {{A}}}}", values), "style={{x: one}}");
}

TEST(Template, DoesNotLookIntoValues) {
  const Values values = {{"A", "{{B}}"}, {"B", "{{A}}"}, {"C", ""}, {"D", "{"}};
  EXPECT_EQ(render_template("{{A}}{{B}}", values), "{{B}}{{A}}");
  EXPECT_EQ(render_template("{{D}}{{{C}}A}}", values), "{{A}}");  // nor are placeholders that values form
}

TEST(Template, ReplacesNothingWithoutValues) {
  EXPECT_EQ(render_template("{{A}}", Values{}), "{{A}}");
}

}  // namespace
}  // namespace ralph
