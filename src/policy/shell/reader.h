// The implementation of read_shell(): a recursive-descent parser that records each simple command and then acts as the
// shell would (effects of builtins, calls of functions, commands that run commands).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/state.h"
#include "policy/shell/units.h"

namespace ralph {

class ShellReader {
 public:
  explicit ShellReader(const ShellSetting& setting) : state_(setting) {
    reading_.project = setting.project;
    reading_.effort = setting.effort ? setting.effort : std::make_shared<Effort>();
  }
  ShellReading read(std::string_view text);

 private:
  // The text being read: the line itself, or a text inside it (backquotes, eval, a function's body).
  struct Source {
    std::string_view text;
    size_t at = 0;
    // Here-documents follow the line that uses them; the reader skips them at the end of that line.
    size_t documents_newline = std::string_view::npos, documents_end = 0;
  };
  enum Stop : unsigned {
    kAtEnd = 0,
    kAtParen = 1,
    kAtBrace = 2,
    kAtCaseEnd = 4,
    kAtThen = 8,
    kAtFi = 16,
    kAtDo = 32,
    kAtDone = 64
  };

  // reader.cc: the grammar
  void read_list(unsigned stops);
  void read_and_or();
  void read_pipeline();
  void read_command();
  void read_simple();
  // compound.cc
  void read_subshell();
  void read_if();
  void read_while(bool until);
  void read_for();
  void read_case();
  void read_test();
  void read_double_paren();
  void read_function(const std::string& name);
  void finish_compound(size_t first);
  void read_again_with_input(std::string_view text, size_t first);
  void forever_loop(size_t first, size_t body);
  bool read_redirection(ShellCommand& command, std::vector<ShellSpan>& fed);
  bool read_assignment(ShellCommand& command);
  void read_array(ShellCommand& command, const std::string& name, bool append);
  std::string_view peek_reserved() const;
  bool take_reserved(std::string_view word);
  void skip_blanks();
  void skip_blanks_and_newlines();
  void newline();

  // expansion.cc: words; parameters.cc: expansions that begin with a dollar
  enum class Until { kMeta, kBrace, kQuote, kEnd };
  void read_units(Units& out, Until until, bool quoted);
  void read_single_quoted(Units& out);
  void read_ansi_quoted(Units& out);
  void read_backslash(Units& out, Until until, bool quoted);
  void read_dollar(Units& out, bool quoted);
  void read_braced_parameter(Units& out, bool quoted);
  void read_arithmetic(Units& out, bool quoted);
  void read_backquoted(Units& out, bool quoted);
  void read_substitution(Units& out, bool quoted);
  ShellWord read_process_substitution(std::vector<ShellSpan>* fed);
  std::string read_document(bool strip_tabs);
  void put(Units& out, std::string_view value, bool quoted);
  void put_variable(Units& out, std::string_view name, bool quoted, bool all);
  void put_unknown(Units& out, ShellSpan source);
  void put_output(Units& out, ShellSpan span, bool quoted);
  ShellWord read_one_word();                 // one word, not split
  void read_words(std::vector<ShellWord>&);  // one typed word, which may become several
  std::string take_name();

  // effects.cc: the effects of commands
  void add(ShellCommand command, const std::vector<ShellSpan>& fed = {});
  void run(int index);
  void assign(const ShellCommand& command);
  bool apply_builtin(int index);
  void call_function(int index, const std::string& body);
  void look_through(int index);
  std::optional<std::string> substituted_file(const ShellCommand& command) const;
  void run_words(std::vector<ShellWord> words, int via);
  // `args`: $1, $2, ...; nullptr: keep those of this shell.
  void run_script(const std::string& text, int via, bool in_this_shell,
                  std::shared_ptr<const std::vector<std::string>> args);
  void note_written(int index);
  const std::string* written_file(const ShellCommand& command) const;
  void set_variable(const std::string& name, ShellVariable value);
  void read_into_variables(const ShellCommand& command, int index);

  bool at_end() const { return source_.at >= source_.text.size(); }
  char peek(size_t ahead = 0) const {
    return source_.at + ahead < source_.text.size() ? source_.text[source_.at + ahead] : '\0';
  }
  bool looking_at(std::string_view what) const { return source_.text.substr(source_.at).starts_with(what); }
  void close(char c) {
    if (peek() == c) ++source_.at;
  }
  ShellCommand& command_at(int index) { return reading_.commands[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(reading_.commands.size()); }
  Surroundings around() const { return {state_.home, state_.cwd.str(), separators_}; }
  bool enter();  // goes one level deeper; false: too deep, and reading stops
  void stop_reading();
  bool spend(size_t bytes);  // takes from the budget for reading and expansion beyond the text itself

  // Runs `read` with `text` as the source.
  template <class F>
  void within(std::string_view text, F read) {
    const Source outer = std::exchange(source_, Source{text});
    read();
    source_ = outer;
    if (reading_.cut_short) stop_reading();
  }

  // Runs `read` as a subshell, one substitution deeper, and returns the commands that it adds.
  template <class F>
  ShellSpan substituted(F read) {
    const int first = size();
    const ShellState::Mark mark = state_.mark();
    const std::vector<ShellSpan> outer = std::exchange(word_sources_, {});
    ++level_;
    read();
    --level_;
    word_sources_ = outer;
    state_.undo_to(mark);
    return {first, size(), level_ + 1};
  }

  ShellReading reading_;
  ShellState state_;
  Source source_;
  std::string separators_ = " \t\n";
  std::vector<ShellSpan> word_sources_;                      // of the word being read
  ShellSpan input_;                                          // piped into the compound command being read
  std::set<std::string, std::less<>> active_;                // functions being read, at a definition or a call
  std::string function_;                                     // the function whose body is being read
  std::map<std::string, std::string, std::less<>> written_;  // known contents of files that the command line wrote
  int level_ = 0, depth_ = 0, via_ = -1;
  int conditional_ = 0;  // in a branch that may not be taken
  int forever_ = 0;      // in the body of an endless loop
  int definition_ = 0;
  size_t budget_ = 0;
};

}  // namespace ralph
