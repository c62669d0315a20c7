#!/usr/bin/env bash
# Attacks `scanns serve` as its worst clients would, and looks whether it goes on answering the others.
#
#   ci/serve.sh PROGRAM [--quick] [TEST]...     all parts, or the tests with these words in their names
#   ci/serve.sh PROGRAM --soak SECONDS          clients, a writer that is killed now and then, and flat memory
#
# PROGRAM is a scanns that is built already. --quick takes a minute. The parts are in ci/serve: requests of two meanings
# (smuggling.py), requests that ask for much (bombs.py), HTTP/2 (http2.py), slow and silent clients (slow.py, with TLS
# tls.py), the description of the API by schemathesis (conformance.py), who may see what (visibility.py), tokens and
# pages of others (tokens.py), the recipes for proxies (proxies.py), users who take all (fairness.py), and soak.py.
# SCANNS_SEED is the seed of random choices.
#
# Needs Python 3.11; the packages of ci/serve/requirements.txt are installed into a virtual environment beside the build.
# Root is needed to take on other users, slowhttptest of Debian for a part of slow.py, and apache2-bin and nginx-light for
# proxies.py. What cannot run prints SKIPPED.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/optional.sh
[ $# -gt 0 ] || { sed -n '2,16s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1
shift
[ -x "$program" ] || { echo "$program is not a program: build scanns, and give its path" >&2; exit 2; }

python=
for candidate in ${SCANNS_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || skip "install Python 3.11 or newer, with venv"

# Without the packages their parts are skipped, and the others run.
packages=ci/serve/requirements.txt
environment=$(realpath -m "${CARGO_TARGET_DIR:-target}")/serve-python
if [[ " $* " != *" --soak "* ]]; then
    [ -x "$environment/bin/pip" ] || "$python" -m venv "$environment" >/dev/null 2>&1 || true
    if [ -x "$environment/bin/pip" ] && ! cmp -s "$packages" "$environment/installed.txt"; then
        echo "installing the packages of $packages"
        if timeout 600 "$environment/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 15 \
            -r "$packages" </dev/null; then
            cp "$packages" "$environment/installed.txt"
        else
            echo "SKIPPED serve.sh: cannot install the packages of $packages"
        fi
    fi
    if [ -x "$environment/bin/python" ]; then python=$environment/bin/python; fi
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        for needed in slowhttptest:slowhttptest nginx:nginx-light apache2:apache2-bin; do
            PATH=$PATH:/usr/sbin command -v "${needed%:*}" >/dev/null ||
                apt-get install -y --no-install-recommends "${needed#*:}" >/dev/null 2>&1 || true
        done
    fi
fi
exec "$python" -B ci/serve/main.py "$program" "$@"
