# Spack: put the directory `scanns` into the directory `packages` of a repository of yours, then `spack install scanns`.
from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Scanns(CargoPackage):
    """Indexes file systems, the text of files, and records, and answers questions about them."""

    homepage = "@DIRECTORY@"
    url = "@URL@"

    license("Apache-2.0 OR MIT", checked_by="scanns")

    version("@VERSION@", sha256="@SHA256@")

    variant("arrow", default=True, description="Read and write Arrow and Parquet")

    # Zstandard is compiled from C.
    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")

    # The command is one package of a workspace, whose root cannot be installed.
    build_directory = "crates/scanns-cli"

    @property
    def build_args(self):
        args = ["--locked", "-j", str(make_jobs)]
        if self.spec.satisfies("~arrow"):
            args.append("--no-default-features")
        return args

    @run_after("install")
    def install_pages(self):
        scanns = Executable(self.prefix.bin.scanns)
        scanns("generate", "man", self.prefix.share.man.man1)
        completions = {
            "bash": self.prefix.share.join("bash-completion").completions.scanns,
            "zsh": self.prefix.share.zsh.join("site-functions").join("_scanns"),
            "fish": self.prefix.share.fish.join("vendor_completions.d").join("scanns.fish"),
        }
        for shell, path in completions.items():
            mkdirp(ancestor(path))
            with open(path, "w", encoding="utf-8") as script:
                scanns("completions", shell, output=script)

    def check(self):
        """Leaves out the tests of the workspace, which take an hour; `make test` in the source runs them."""

    def test_version(self):
        """run the command"""
        scanns = which(self.prefix.bin.scanns)
        assert str(self.spec.version) in scanns("--version", output=str.split)
