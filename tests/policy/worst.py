"""Lines of about 100 KB that make judging expensive, each in its own way: by what it repeats for each of many. All of them must be
denied, cheaply: a test asserts the memory, ./dev bench shows the time."""

WORST = {
    "cd": "cd a;" * 20_000,
    "commands": "a;" * 50_000,
    "pipe": "a|" * 50_000 + " rm -rf ~",
    "words": "x " * 50_000 + "; rm -rf ~",
    "files": "rm " + " ".join(str(i) for i in range(16_000)) + " ~",
    "wrappers": "env " * 25_000 + "rm -rf ~",
    "braces": "{a,b}" * 7 + "x" * 100_000,
    "nested": "$(" * 50_000,
    "copies": "cp " + "a " * 45_000 + "b" * 4_000 + "; rm -rf ~",
    "find": "find " + "r " * 10_000 + "-exec a {} + " * 6_000,
    "feeds": "{ " + "echo a;" * 6_000 + "} | { " + "cat;" * 10_000 + "}; rm -rf ~",
    "sources": "x=$(" + "a;" * 8_000 + "); " + "$x;" * 20_000,
    "parentheses": "((a) );" * 14_000,
    "shift": "set -- " + "a " * 20_000 + ";" + "shift;" * 8_000,
    "programs": "{ " + "python3;" * 6_000 + "} <<< '" + "system(" * 7_000 + "'",
    "pushes": "git push;" * 10_000 + "git push -f",
    "replacement": "x=" + "a" * 40_000 + "; echo ${x//a/" + "b" * 50_000 + "}; rm -rf ~",
    "deep folder": "cd " + "a/" * 80 + ";" + ">x;" * 3_600 + "cd; rm -rf ~",
    "containers": "docker exec a " * 7_000 + "; rm -rf ~",
    "deletions": "{ " + "perl -ne x;" * 5_000 + "} <<< '" + "unlink;" * 6_000 + "'; rm -rf ~",
    "made files": "sed a > x;" * 5_000 + "sh x;" * 9_000 + "rm -rf ~",
}
