#!/bin/bash
# Makes ./configure out of configure.ac, after a fresh clone or a change of it.
set -euo pipefail

cd "$(dirname "$0")"
mkdir -p m4
exec autoreconf -fi "$@"
