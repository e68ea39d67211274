"""A pytest plugin: --failed-list FILE writes the ids of the tests that failed, a line each. ./dev runs them once more, alone."""


def pytest_addoption(parser):
    parser.addoption("--failed-list", metavar="FILE", help="write the ids of the tests that failed to this file")


def pytest_configure(config):
    path = config.getoption("failed_list")
    if path and not hasattr(config, "workerinput"):  # the workers report to the one that started them
        config.pluginmanager.register(FailedList(path))


class FailedList:
    def __init__(self, path):
        self.path, self.failed = path, {}

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = True

    def pytest_sessionfinish(self):
        with open(self.path, "w", encoding="utf-8") as file:
            file.writelines(f"{test}\n" for test in self.failed)
