# A thin front for ./dev, for hands that type make.
PREFIX ?= /usr/local

all: build

build test lint fmt clean:
	./dev $@

install:
	./dev install --prefix $(PREFIX)

.PHONY: all build test lint fmt clean install
