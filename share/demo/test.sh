#!/bin/sh
# The project's test. What the agent claims does not count; this does.
failed=0
check() {
  expected=$1
  shift
  actual=$(sh ./sum.sh "$@")
  if [ "$actual" = "$expected" ]; then
    echo "ok: sum of $* is $expected"
  else
    echo "FAILED: sum of $* is $expected, got $actual"
    failed=1
  fi
}
check 5 2 3
check 10 1 2 3 4
exit $failed
