# A thin front for ./dev, for hands that type make.
PREFIX ?= /usr/local

# In this order, as seed 001 has it; the recipe does not run in parallel with itself.
all:
	$(MAKE) fmt
	$(MAKE) lint
	$(MAKE) test
	$(MAKE) build

build test lint fmt clean:
	./dev $@

install:
	./dev install --prefix $(PREFIX)

.PHONY: all build test lint fmt clean install
