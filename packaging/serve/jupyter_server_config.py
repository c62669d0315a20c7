# A part of ~/.jupyter/jupyter_server_config.py: jupyter-server-proxy starts the server when it is opened, below
# /scanns/ of the notebook server. It listens on a Unix socket, where the kernel says that only you connect. The host
# name is replaced because the one of the notebook server is not known to scanns.
c.ServerProxy.servers = {
    "scanns": {
        "command": ["scanns", "serve", "--log", "none", "--socket", "{unix_socket}", "files.scanns"],
        "unix_socket": True,
        "request_headers_override": {"Host": "localhost"},
        "launcher_entry": {"title": "File search"},
    }
}
