#!/bin/sh
# Cargo calls this instead of the compiler, with the compiler as first argument.
exec "$@" --cfg loom
