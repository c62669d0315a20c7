#!/usr/bin/env bash
# Tests the page of the server in web/: types, unit tests, journeys in Chromium, and that the committed web/dist is what the
# sources give. Needs Node 20 or newer with npm, and the registry of npm once; journeys need Chromium. An argument
# chooses test files by a part of their path.
set -euo pipefail
cd "$(dirname "$0")/../web"
. ../ci/optional.sh

command -v npm >/dev/null || skip "install Node 20 or newer, with npm"
node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || skip "Node is older than 20"
if ! cmp -s package-lock.json node_modules/.installed; then
    echo "installing the packages of web/package-lock.json"
    npm ci --no-audit --no-fund --loglevel=error || skip "cannot install the packages of web/package-lock.json"
    cp package-lock.json node_modules/.installed
fi
npm test --silent -- "$@"
