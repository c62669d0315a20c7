"""The recipes of packaging/serve for nginx, Apache and Open OnDemand, with the proxies themselves.

Each proxy runs with its recipe, of which only paths are changed, before a server of an index that knows who may see
what. Open OnDemand is not run: its way of reaching a node is written here for Apache, as its portal configures it.
"""

import base64
import hashlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import time

from harness import Skipped, quoted
from people import ordinary

RECIPES = os.path.join(os.path.dirname(__file__), "..", "..", "packaging", "serve")
SITE = "search.example.org"
PASSWORD = "pw"
PROXY_USER = "www-data"

APACHE = """
ServerRoot /usr/lib/apache2
ServerName {site}
Listen 127.0.0.1:{port}
PidFile {place}/apache.pid
ErrorLog {place}/apache.log
User www-data
Group www-data
{modules}
<VirtualHost *:{port}>
{recipe}
</VirtualHost>
"""

APACHE_MODULES = (
    "mpm_event authn_core authz_core authz_user authn_file auth_basic headers alias proxy proxy_http rewrite env"
)

NGINX = """
user www-data;
worker_processes 1;
pid {place}/nginx.pid;
error_log {place}/nginx.log;
events {{}}
http {{
    access_log off;
    server {{
        listen 127.0.0.1:{port};
        {recipe}
    }}
}}
"""

# How the portal of Open OnDemand passes requests below /rnode to a node: without the prefix, with the node as the name
# of the host, and with the paths of redirections and cookies changed. Its Lua becomes a rewrite here.
ONDEMAND = r"""
RewriteEngine On
RewriteRule "^/rnode/([^/]+)/(\d+)(/.*|)$" "http://$1:$2$3" [P]
<LocationMatch "^/rnode/(?<host>[^/]+)/(?<port>\d+)(?<uri>/.*|)">
    Header edit Location "^([^/]+//[^/]+)|(?=/)|^([\./]{1,}(?<!/))" "/rnode/%{MATCH_HOST}e/%{MATCH_PORT}e"
    Header edit* Set-Cookie ";\s*(?i)Path[^;]*" ""
    Header edit Set-Cookie "^([^;]+)" "$1; Path=/rnode/%{MATCH_HOST}e/%{MATCH_PORT}e"
</LocationMatch>
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Proxy:
    """A proxy that runs until the end of the block."""

    def __init__(self, place, configuration, recipe, command):
        self.port, path = free_port(), place.at("proxy.conf")
        modules = "\n".join(f"LoadModule {name}_module modules/mod_{name}.so" for name in APACHE_MODULES.split())
        with open(path, "w") as out:
            out.write(configuration.format(site=SITE, port=self.port, place=place.path, recipe=recipe, modules=modules))
        self.process = subprocess.Popen([*command, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def __enter__(self):
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > until:
                    self.process.kill()
                    raise AssertionError(f"the proxy did not start: {self.process.stderr.read().decode()}") from None
                time.sleep(0.05)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        self.process.stderr.close()

    def ask(self, path, user=None, method="GET", body=None, **headers):
        """The status, the headers and the body of an answer."""
        given = {"Host": SITE, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if user:
            given["Authorization"] = "Basic " + base64.b64encode(f"{user}:{PASSWORD}".encode()).decode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()


def apache():
    program = shutil.which("apache2", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program or os.geteuid() != 0:
        raise Skipped("it needs root and apache2-bin of Debian")
    return [program, "-D", "FOREGROUND", "-f"]


def nginx():
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program or os.geteuid() != 0:
        raise Skipped("it needs root and nginx-light of Debian")
    return [program, "-g", "daemon off;", "-c"]


def behind(place, index, key, configuration, command, name, users_path):
    """A site with a login: the page, its files, answers, keys, exports, and users who are not let in."""
    known, user = command(), ordinary(1)[0].name
    users = place.at("users")
    with open(users, "w") as out:
        for one in (user, "root", "no-such-user", "a b"):
            out.write(f"{one}:{{SHA}}{base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()}\n")
    options = ["--trust-proxy", PROXY_USER, "--user-header", "X-Remote-User", "--host", SITE]
    server = place.serve(*options, index)
    with open(os.path.join(RECIPES, name)) as recipe:
        text = recipe.read().replace(users_path, users).replace("/run/scanns-web/search.sock", server.socket)
    with Proxy(place, configuration, text, known) as proxy:
        with_a_login(proxy, user, key)
        # nginx decodes the slashes of a path, and joins them.
        if name == "apache.conf":
            document(proxy, user, f"/{quoted(key)}", key)
    server.must_be_sound()
    server.stop()


def with_a_login(proxy, user, key):
    assert proxy.ask("/search/")[0] == 401 and proxy.ask("/search/api/v1", X_Remote_User=user)[0] == 401
    status, headers, _ = proxy.ask("/search", user)
    assert status in (301, 302, 308) and headers["Location"].endswith("/search/"), (status, str(headers))
    status, headers, page = proxy.ask("/search/", user)
    assert status == 200 and "script-src 'self'" in headers["Content-Security-Policy"], (status, str(headers))
    for link in re.findall(rb'(?:href|src)="(assets/[^"]+)"', page):
        assert proxy.ask("/search/" + link.decode(), user)[0] == 200, link
    spoofed = {"X_Remote_User": "root", "X_remote_user": "root"}
    for path in ("/search/api/v1", "//search/api/v1", "/x/../search/api/v1"):
        for headers in ({}, spoofed):
            status, _, body = proxy.ask(path, user, **headers)
            told = json.loads(body)
            assert status == 200 and told["user"]["name"] == user and told["recognized_by"] == "proxy", (path, body)
    for path in ("/search/..%2fapi/v1", "/search%2fapi/v1", "/search/%2e%2e/api/v1"):
        assert proxy.ask(path)[0] in (400, 401, 404), path
    for stranger in ("root", "no-such-user", "a b"):
        assert proxy.ask("/search/api/v1", stranger)[0] == 403, stranger
    document(proxy, user, f"?key={quoted(key)}", key)
    status, _, body = proxy.ask("/search/api/v1/docs/search?q=*&limit=0", user)
    count = json.loads(body)["count"]
    status, _, body = proxy.ask("/search/api/v1/docs/export?format=csv&fields=_key", user)
    assert status == 200 and body.count(b"\n") == count + 1, (status, count, body[:300])
    body = json.dumps({"q": "word" + " " * 50_000, "limit": 1})
    status, _, answer = proxy.ask("/search/api/v1/docs/search", user, "POST", body, Content_Type="application/json")
    assert status == 200, (status, answer[:300])


def document(proxy, user, asked, key):
    status, _, body = proxy.ask(f"/search/api/v1/docs/documents{asked}", user)
    assert status == 200 and json.loads(body)["key"] == key, f"{asked}: {status} {body[:300]}"


def ondemand(place, index, key):
    """The script of the app runs as its template says, and the portal reaches it: the login, the page, a key."""
    known, port, token = apache(), free_port(), "0123456789abcdef0123456789abcdef"
    node = socket.gethostname()
    with open(place.at("token"), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(token)
    with open(os.path.join(RECIPES, "ondemand", "template", "script.sh.erb")) as template:
        script = re.sub(r"<%=.*?%>", index, re.sub(r"<% require.*?%>", "", template.read()))
    os.makedirs(place.at("bin"), exist_ok=True)
    os.symlink(place.program, place.at("bin", "scanns"))
    variables = {"host": node, "port": str(port), "scanns_token_file": place.at("token")}
    path = place.at("bin") + ":" + os.environ["PATH"]
    process = subprocess.Popen(
        ["bash", "-c", script],
        env={**os.environ, **variables, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout.readline(), "the script did not start the server"
        with Proxy(place, APACHE, ONDEMAND, known) as proxy:
            through_the_portal(proxy, f"/rnode/{node}/{port}", token, key)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


def through_the_portal(proxy, base, token, key):
    form = {"Content_Type": "application/x-www-form-urlencoded", "Host": "ondemand.example.org"}
    origin = {"Origin": "https://ondemand.example.org"}
    status, headers, body = proxy.ask(base + "/login", None, "POST", f"token={token}", **form, **origin)
    assert status == 303 and headers["Location"] == base + "/", (status, str(headers), body[:300])
    cookie = headers["Set-Cookie"]
    assert f"Path={base};" in cookie, cookie
    pair = {"Cookie": cookie.split(";")[0]}
    assert proxy.ask(base + "/")[0] == 401
    status, _, page = proxy.ask(base + "/", **pair)
    links = re.findall(rb'(?:href|src)="(assets/[^"]+)"', page)
    assert status == 200 and links, (status, page[:300])
    for link in links:
        assert proxy.ask(f"{base}/{link.decode()}", **pair)[0] == 200, link
    status, _, body = proxy.ask(f"{base}/api/v1/docs/documents?key={quoted(key)}", **pair)
    assert status == 200 and json.loads(body)["key"] == key, (status, body[:300])


def run_all(report, place, index, key):
    users = "/etc/{}/users"
    for name, configuration, command in [("apache", APACHE, apache), ("nginx", NGINX, nginx)]:
        path = users.format("apache2" if name == "apache" else name)
        report.test(f"proxies::{name}", behind, place, index, key, configuration, command, f"{name}.conf", path)
    report.test("proxies::open_ondemand", ondemand, place, index, key)
