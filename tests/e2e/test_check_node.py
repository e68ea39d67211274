"""`ralph check` with the real tsc, eslint, biome, vitest and jest."""
import json

from check_support import check, collector, found, statuses, write

CONFIG = {"compilerOptions": {"strict": True, "target": "es2022", "module": "esnext", "moduleResolution": "bundler", "types": []}}


def test_tsc(project):
    write(project, "tsconfig.json", json.dumps(CONFIG))
    write(project, "src/a.ts", 'export const x: number = "one";\n')
    code, report = check(project, "--only", "tsc", tools=("tsc",))
    assert code == 1 and found(report, "tsc") == [("src/a.ts", 1, "TS2322")]
    write(project, "src/a.ts", "export const x: number = 1;\n")
    assert check(project, "--only", "tsc", tools=("tsc",))[0] == 0


def test_eslint_and_biome_run_where_they_are_configured(project):
    write(project, "a.js", "var unused = 1;\nfoo();\n")
    tools = ("eslint", "biome")
    assert statuses(check(project, "--no-tests", tools=tools)[1]) == {"ast-grep": "unavailable"}
    write(project, "eslint.config.js", 'module.exports = [{ files: ["a.js"], rules: { "no-undef": "error", "no-unused-vars": "warn" } }];\n')
    write(project, "biome.json", "{}\n")
    code, report = check(project, "--no-tests", tools=tools)
    assert code == 1
    assert ("a.js", 2, "no-undef") in found(report, "eslint") and ("a.js", 1, "no-unused-vars") in found(report, "eslint")
    assert collector(report, "biome")["status"] == "findings"
    assert ("a.js", 1, "lint/correctness/noUnusedVariables") in found(report, "biome")


def test_vitest_and_jest(project):
    write(project, "package.json", json.dumps({"devDependencies": {"vitest": "*"}}))
    write(project, "jest.config.js", 'module.exports = { testMatch: ["**/*.jest.js"] };\n')
    write(project, "vitest.config.mjs", 'export default { test: { include: ["**/*.vi.mjs"], globals: true } };\n')
    write(project, "a.vi.mjs", 'test("adds", () => expect(1).toBe(1));\ntest("fails", () => {\n  expect(1).toBe(2);\n});\n')
    write(project, "a.jest.js", 'test("adds", () => expect(1).toBe(1));\ntest.skip("later", () => {});\n')
    code, report = check(project, "--only", "vitest,jest", tools=("vitest", "jest"))
    assert code == 1, report
    assert collector(report, "vitest")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}
    assert found(report, "vitest") == [("a.vi.mjs", 3, "fails")]
    assert collector(report, "jest")["tests"] == {"passed": 1, "failed": 0, "skipped": 1}
    assert statuses(report)["jest"] == "clean"


def test_npm_test(project):
    write(project, "package.json", json.dumps({"scripts": {"test": "node --test"}}))
    write(project, "a.test.js", 'const test = require("node:test");\ntest("a", () => {});\ntest("b", () => { throw new Error("no"); });\n')
    code, report = check(project, "--only", "npm-test", tools=("npm",))
    assert code == 1 and collector(report, "npm-test")["status"] == "findings"
    assert collector(report, "npm-test")["tests"] == {"passed": 1, "failed": 1, "skipped": 0}
    assert [f["rule"] for f in report["findings"]] == ["b"]
