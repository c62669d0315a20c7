use super::*;

#[test]
fn extensions_are_in_lower_case_and_languages_are_plain_words() {
    let extensions = EXTENSIONS.entries();
    for (extension, _) in extensions {
        assert!(extension.len() <= MOST_EXTENSION && !extension.contains(|c: char| c.is_ascii_uppercase()));
    }
    let languages: std::collections::BTreeSet<_> = extensions
        .iter()
        .filter_map(|(_, says)| if let ByExtension::Is(language) = says { Some(*language) } else { None })
        .collect();
    assert!(languages.len() > 120, "{}", languages.len());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(languages.iter().all(|language| language.chars().all(is_plain)));
}

/// The language of a name without a look at the file.
fn by_name(name: &str) -> Option<&'static str> {
    source_language(name.as_bytes(), b"")
}

#[test]
fn names_tell_the_language() {
    for (name, language) in [
        ("a.py", "python"),
        ("setup.PY", "python"),
        ("lib.rs", "rust"),
        ("a.F90", "fortran"),
        ("a.f", "fortran"),
        ("a.c", "c"),
        ("a.C", "cpp"),
        ("LEGACY.C", "c"),
        ("fvCFD.H", "cpp"),
        ("a.R", "r"),
        ("a.tar.sh", "shell"),
        ("config.h.in", "c"),
        ("run.py.in", "python"),
        ("Makefile.in", "makefile"),
        ("Makefile", "makefile"),
        ("Makefile.am", "makefile"),
        ("Makefile.linux-gnu", "makefile"),
        ("Makefile.PL", "perl"),
        ("CMakeLists.txt", "cmake"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("Jenkinsfile", "groovy"),
        ("Snakefile", "snakemake"),
        ("configure.ac", "m4"),
        ("configure.in", "m4"),
        (".bashrc", "shell"),
        ("a.jl", "julia"),
        ("a.tex", "latex"),
        ("a.tsx", "typescript"),
        ("a.sbatch", "shell"),
        ("BUILD", "starlark"),
        ("a.m", "matlab"),
        ("a.pl", "perl"),
        ("a.h", "c"),
        ("a.hh", "cpp"),
    ] {
        assert_eq!(by_name(name), Some(language), "{name}");
    }
}

#[test]
fn data_and_unknown_names_have_no_language() {
    for name in [
        "",
        ".",
        "..",
        "a",
        "a.",
        "py",
        ".py",
        "a.json",
        "a.yaml",
        "a.toml",
        "a.csv",
        "a.txt",
        "a.xml",
        "a.html",
        "a.md",
        "README",
        "go.mod",
        "a.ipynb",
        "a.in",
        "makefiles",
        "a.pyc.bak",
        "\u{e9}.\u{e9}",
        "a.pro",
        "a.cls",
        "a.averyveryverylongextension",
    ] {
        assert_eq!(by_name(name), None, "{name}");
    }
    assert_eq!(source_language(b"\xff.\xfe", b"\xff"), None);
}

#[test]
fn scripts_name_their_interpreter() {
    for (line, language) in [
        ("#!/bin/sh\n", Some("shell")),
        ("#! /usr/bin/env bash", Some("shell")),
        ("#!/usr/bin/env -S python3 -u\n", Some("python")),
        ("#!/usr/bin/env -i A=b python3.11\r\n", Some("python")),
        ("#!/opt/perl5.36.0/bin/perl5.36.0 -w\n", Some("perl")),
        ("#!/usr/bin/perl6\n", Some("raku")),
        ("#!/usr/bin/env Rscript\n", Some("r")),
        ("#!/usr/bin/awk -f\n", Some("awk")),
        ("#!/usr/bin/env -S uv run --script\n", Some("python")),
        ("#!\n", None),
        ("#!/usr/bin/env\n", None),
        ("#!/usr/bin/unknown\n", None),
        ("#!/3.5\n", None),
        ("# /bin/sh\n", None),
    ] {
        assert_eq!(source_language(b"script", line.as_bytes()), language, "{line}");
        assert_eq!(source_language(b"v1.2", line.as_bytes()), language, "{line}");
        assert_eq!(source_language(b"a.rb", line.as_bytes()), Some("ruby"), "{line}");
    }
    assert_eq!(source_language(b"a.do", b"#!/bin/sh\n"), Some("stata"));
    assert_eq!(source_language(b"a.t", b"#!/usr/bin/perl\n"), Some("perl"));
}

#[test]
fn first_lines_decide_between_languages_that_share_an_extension() {
    for (name, head, language) in [
        ("a.h", "// x\n#include <vector>\n", Some("cpp")),
        ("a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n", Some("c")),
        ("a.h", "\u{feff}#import <Foundation/Foundation.h>\n", Some("objective-c")),
        ("a.h", "/*\n * class of things\n */\n  std::size_t n;\n", Some("cpp")),
        ("a.m", "% help\nfunction y = f(x)\n", Some("matlab")),
        ("a.m", "//\n// A.m\n#import \"A.h\"\n", Some("objective-c")),
        ("a.m", "(* ::Package:: *)\n", Some("mathematica")),
        ("a.pl", ":- module(a, [b/1]).\n", Some("prolog")),
        ("a.h", "#ifdef __cplusplus\nclass A {};\n#endif\n", Some("c")),
        ("a.pl", "%hash = (\n", Some("perl")),
        ("a.pl", "# comment\nuse strict;\n", Some("perl")),
        ("a.pl", "parent(X, Y) :-\n  child(Y, X).\n", Some("prolog")),
        ("a.pro", "; docs\nPRO plot_it\n", Some("idl")),
        ("a.pro", "QT += core\nTARGET = x\n", Some("qmake")),
        ("a.pro", "-keep class x\n", None),
        ("a.t", "use Test::More;\n", Some("perl")),
        ("a.t", "  $ hg init\n", None),
        ("a.v", "Require Import List.\n", Some("coq")),
        ("a.v", "// x\nmodule top(input a);\n", Some("verilog")),
        ("a.v", "module main\n\nfn main() {\n", Some("v")),
        ("a.cls", "\\NeedsTeXFormat{LaTeX2e}\n", Some("latex")),
        ("a.cls", "public with sharing class A {\n", Some("apex")),
        ("a.inc", "<?php\n", Some("php")),
        ("a.inc", "      integer n\n", None),
        ("a.d", "main.o: main.c \\\n  a.h\n", None),
        ("a.d", "module a;\n", Some("d")),
        ("a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n", None),
        ("a.ts", "import x from 'y';\n", Some("typescript")),
        ("a.cl", "(defun f ())\n", Some("lisp")),
        ("a.cl", "__kernel void f() {}\n", Some("opencl")),
        ("a.fs", "#version 330\n", Some("glsl")),
        ("a.fs", "module A\n", Some("fsharp")),
        ("a.mod", "TITLE leak\nNEURON {\n", Some("nmodl")),
        ("a.spec", "Name: x\n", Some("rpmspec")),
        ("a.php", "<?hh\n", Some("hack")),
    ] {
        assert_eq!(source_language(name.as_bytes(), head.as_bytes()), language, "{name} {head}");
    }
}

#[test]
fn any_name_and_head_give_an_answer() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let rounds = if cfg!(debug_assertions) { 20_000 } else { 100_000 };
    let parts: [&[u8]; 12] = [
        b".",
        b"in",
        b"h",
        b"m",
        b"#!",
        b"/env",
        b" -S ",
        b"\n",
        b"\xef\xbb\xbf",
        b"python3.",
        b"\xff",
        b"Makefile",
    ];
    let mut make = |most: usize| -> Vec<u8> {
        (0..random.usize(..most)).flat_map(|_| parts[random.usize(..parts.len())]).copied().collect()
    };
    for _ in 0..rounds {
        source_language(&make(5), &make(12));
    }
}
