// Makes file-local names that many files have unique when files are compiled as one. RALPH_THIS_FILE is a different
// word in each file (UNITY_BUILD_UNIQUE_ID).
#pragma once

#define RALPH_PASTE_NOW(name, file) name##_##file
#define RALPH_PASTE(name, file) RALPH_PASTE_NOW(name, file)
#define kOptions RALPH_PASTE(kOptions, RALPH_THIS_FILE)
#define kPositionals RALPH_PASTE(kPositionals, RALPH_THIS_FILE)
#define kListOptions RALPH_PASTE(kListOptions, RALPH_THIS_FILE)
#define kShowOptions RALPH_PASTE(kShowOptions, RALPH_THIS_FILE)
#define kStatusOptions RALPH_PASTE(kStatusOptions, RALPH_THIS_FILE)
