// The rows of the collector table, each in its own file (or that of its family).
#pragma once

#include "checks/diagnostics/collector.h"

namespace ralph::diagnostics {

extern const Collector kRuff, kMypy, kPyright;                     // ruff.cc, mypy.cc, pyright.cc
extern const Collector kTsc, kEslint, kBiome;                      // tsc.cc, eslint.cc, biome.cc
extern const Collector kGoVet, kGoTest;                            // go.cc
extern const Collector kCargoCheck, kClippy, kCargoTest;           // cargo.cc
extern const Collector kGcc, kClang, kClangTidy;                   // compilers.cc
extern const Collector kShellcheck, kAstGrep;                      // shellcheck.cc, ast_grep.cc
extern const Collector kPytest, kVitest, kJest, kNpmTest, kCtest;  // pytest.cc, jest.cc, npm.cc, ctest.cc

extern const Collector kClangd, kPyrightServer, kGopls, kRustAnalyzer, kTypescriptServer;  // language_servers.cc

}  // namespace ralph::diagnostics
