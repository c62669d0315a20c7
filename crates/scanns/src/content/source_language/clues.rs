//! Extensions that several languages share: the first lines of the file tell which it is.
//!
//! The first line on which a clue is found decides. White space before a line does not count. Without any
//! clue, it is the most usual language of the extension, or none if none is.

use Clue::{Ends, Has, Starts};

use crate::content::BYTE_ORDER_MARK;

/// The number of first bytes that are searched for clues.
const SEARCHED: usize = 4 << 10;

/// What a line has to look like.
#[derive(Clone, Copy)]
pub(super) enum Clue {
    /// It begins with one of these.
    Starts(&'static [&'static str]),
    /// All of these contain a colon, which few lines do.
    Has(&'static [&'static str]),
    /// It ends with one of these.
    Ends(&'static [&'static str]),
}

/// The clues of an extension.
pub(super) struct ClueList {
    /// Clues and their languages; those that are not source code have none.
    clues: &'static [(Clue, Option<&'static str>)],
    otherwise: Option<&'static str>,
    /// The first bytes of lines that a clue of [`Starts`] may fit. Most lines begin otherwise.
    firsts: [bool; 256],
}

impl ClueList {
    const fn new(clues: &'static [(Clue, Option<&'static str>)], otherwise: Option<&'static str>) -> Self {
        let mut firsts = [false; 256];
        let mut clue = 0;
        while clue < clues.len() {
            if let Starts(starts) = clues[clue].0 {
                let mut start = 0;
                while start < starts.len() {
                    firsts[starts[start].as_bytes()[0] as usize] = true;
                    start += 1;
                }
            }
            clue += 1;
        }
        Self { clues, otherwise, firsts }
    }

    /// The language of a file with these first bytes.
    pub(super) fn language(&self, head: &[u8]) -> Option<&'static str> {
        let head = head.get(..SEARCHED).unwrap_or(head);
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
        let mut lines = head.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
        let found = lines.find_map(|line| self.clue_of(line));
        found.map_or(self.otherwise, |(_, language)| *language)
    }

    /// The first clue that a line fits.
    fn clue_of(&self, line: &[u8]) -> Option<&(Clue, Option<&'static str>)> {
        let first = usize::from(*line.first()?);
        let may_start = self.firsts.get(first).copied().unwrap_or(false);
        self.clues.iter().find(|(clue, _)| match clue {
            Starts(starts) => may_start && starts.iter().any(|start| line.starts_with(start.as_bytes())),
            Has(parts) => line.contains(&b':') && parts.iter().any(|part| has(line, part.as_bytes())),
            Ends(ends) => ends.iter().any(|end| line.ends_with(end.as_bytes())),
        })
    }
}

fn has(line: &[u8], part: &[u8]) -> bool {
    line.windows(part.len()).any(|window| window == part)
}

const XML: Clue = Starts(&["<?xml", "<!DOCTYPE", "<!--"]);

pub(super) static HEADER: ClueList = ClueList::new(
    &[
        // C headers that C++ may use say so, and may have a few lines in C++ after that.
        (Starts(&["#ifdef __cplusplus", "#if defined(__cplusplus)", "#if defined (__cplusplus)"]), Some("c")),
        (Starts(&["#import", "@interface", "@protocol", "@class", "@import"]), Some("objective-c")),
        (
            Starts(&[
                "class ",
                "template<",
                "template <",
                "namespace ",
                "using ",
                "public:",
                "private:",
                "protected:",
                "virtual ",
                "enum class ",
                "constexpr ",
                "#include <algorithm>",
                "#include <functional>",
                "#include <iostream>",
                "#include <map>",
                "#include <memory>",
                "#include <string>",
                "#include <utility>",
                "#include <vector>",
            ]),
            Some("cpp"),
        ),
        (Has(&["std::"]), Some("cpp")),
    ],
    Some("c"),
);

pub(super) static M: ClueList = ClueList::new(
    &[
        (
            Starts(&[
                "#import",
                "#include",
                "@interface",
                "@implementation",
                "@import",
                "@class",
                "//",
                "/*",
            ]),
            Some("objective-c"),
        ),
        (Starts(&["(*", "BeginPackage[", "Needs["]), Some("mathematica")),
        (Has(&["::usage"]), Some("mathematica")),
        (Starts(&[":- module", ":- interface"]), Some("mercury")),
        (Starts(&["%", "function", "classdef", "##", "clear", "close all", "clc"]), Some("matlab")),
    ],
    Some("matlab"),
);

pub(super) static PL: ClueList = ClueList::new(
    &[
        (Starts(&["use v6", "use v7"]), Some("raku")),
        (Starts(&["use ", "my ", "our ", "package ", "sub ", "require ", "#!"]), Some("perl")),
        (Starts(&[":-", "% ", "%%", "%-"]), Some("prolog")),
        (Ends(&[":-"]), Some("prolog")),
    ],
    Some("perl"),
);

pub(super) static PM: ClueList = ClueList::new(
    &[
        (Starts(&["/* XPM"]), None),
        (Starts(&["use v6", "unit module", "unit class", "unit package"]), Some("raku")),
        (Starts(&["package ", "use "]), Some("perl")),
    ],
    Some("perl"),
);

pub(super) static PRO: ClueList = ClueList::new(
    &[
        (Starts(&["pro ", "PRO ", "Pro ", "function ", "FUNCTION ", "Function ", ";"]), Some("idl")),
        (
            Starts(&["QT ", "QT+", "TEMPLATE", "TARGET", "CONFIG", "SOURCES", "HEADERS", "SUBDIRS"]),
            Some("qmake"),
        ),
        (Starts(&["-keep", "-dont", "-opt"]), None),
        (Starts(&[":-"]), Some("prolog")),
        (Ends(&[":-"]), Some("prolog")),
    ],
    None,
);

pub(super) static T: ClueList = ClueList::new(
    &[
        (Starts(&["use v6"]), Some("raku")),
        (Starts(&["use ", "my ", "our ", "package ", "require ", "BEGIN {"]), Some("perl")),
    ],
    None,
);

pub(super) static V: ClueList = ClueList::new(
    &[
        (
            Starts(&[
                "(*",
                "Require ",
                "From ",
                "Import ",
                "Export ",
                "Theorem ",
                "Lemma ",
                "Definition ",
                "Inductive ",
                "Section ",
                "Module ",
                "Set ",
                "Proof",
            ]),
            Some("coq"),
        ),
        (Starts(&["fn ", "pub fn ", "import ", "module main", "struct ", "pub struct "]), Some("v")),
        (
            Starts(&["module ", "`", "endmodule", "input ", "output ", "wire ", "reg ", "always "]),
            Some("verilog"),
        ),
    ],
    Some("verilog"),
);

pub(super) static CLS: ClueList = ClueList::new(
    &[
        (Starts(&["%", "\\"]), Some("latex")),
        (Starts(&["VERSION 1.0 CLASS", "Attribute VB_"]), Some("vb")),
        (
            Starts(&["public ", "global ", "private ", "virtual ", "abstract ", "@isTest", "@IsTest", "/**"]),
            Some("apex"),
        ),
    ],
    None,
);

pub(super) static INC: ClueList = ClueList::new(
    &[
        (Starts(&["<?"]), Some("php")),
        (Starts(&["#include", "#if", "#define", "#undef", "#pragma"]), Some("c")),
        (Starts(&["%define", "%macro", "%ifdef", "section .", ".macro"]), Some("assembly")),
    ],
    None,
);

pub(super) static D: ClueList = ClueList::new(
    &[
        (Starts(&["#pragma D", "dtrace:", "BEGIN", "syscall:"]), Some("dtrace")),
        (Has(&[".o:", ".o :", ".lo:", ".obj:"]), None),
        (Ends(&[": \\", ":\\"]), None),
        (Starts(&["module ", "import ", "//", "/*", "/+"]), Some("d")),
    ],
    Some("d"),
);

pub(super) static TS: ClueList = ClueList::new(&[(XML, None), (Starts(&["<TS"]), None)], Some("typescript"));
pub(super) static R: ClueList = ClueList::new(&[(Starts(&["REBOL"]), Some("rebol"))], Some("r"));

pub(super) static CL: ClueList = ClueList::new(
    &[
        (Starts(&["(", ";", "#|"]), Some("lisp")),
        (Starts(&["__kernel", "kernel ", "#", "//", "/*"]), Some("opencl")),
    ],
    None,
);

pub(super) static LEX: ClueList = ClueList::new(
    &[
        (Starts(&["%", "/*"]), Some("lex")),
        (Starts(&["(", ";"]), Some("lisp")),
        (Starts(&[".\\\"", ".TH", "'\\\""]), None),
    ],
    Some("lex"),
);

pub(super) static YACC: ClueList = ClueList::new(&[(Starts(&["{"]), None)], Some("yacc"));

pub(super) static FS: ClueList = ClueList::new(
    &[
        (Starts(&["#version", "precision ", "uniform ", "varying ", "void main", "in vec"]), Some("glsl")),
        (Starts(&["\\ ", ": "]), Some("forth")),
        (Starts(&["module ", "namespace ", "open ", "let ", "type "]), Some("fsharp")),
    ],
    Some("fsharp"),
);

pub(super) static PP: ClueList = ClueList::new(
    &[
        (Starts(&["unit ", "program ", "library ", "{", "(*", "Unit ", "Program ", "UNIT "]), Some("pascal")),
        (Starts(&["class ", "define ", "node ", "#", "include "]), Some("puppet")),
    ],
    Some("puppet"),
);

pub(super) static HH: ClueList = ClueList::new(&[(Starts(&["<?hh"]), Some("hack"))], Some("cpp"));
pub(super) static PHP: ClueList = ClueList::new(&[(Starts(&["<?hh"]), Some("hack"))], Some("php"));

pub(super) static MOD: ClueList = ClueList::new(
    &[
        (XML, None),
        (Starts(&["NEURON", "TITLE", "COMMENT", "UNITS"]), Some("nmodl")),
        (Starts(&["varexo", "parameters ", "model;"]), Some("dynare")),
        (Starts(&["param ", "set ", "minimize ", "maximize ", "subject to"]), Some("ampl")),
        (Starts(&["MODULE ", "DEFINITION MODULE", "IMPLEMENTATION MODULE"]), Some("modula-2")),
    ],
    None,
);

pub(super) static MM: ClueList =
    ClueList::new(&[(XML, None), (Starts(&["<map", "$c "]), None)], Some("objective-c"));
pub(super) static GD: ClueList =
    ClueList::new(&[(Starts(&["Declare", "#############"]), Some("gap"))], Some("gdscript"));

pub(super) static ST: ClueList = ClueList::new(
    &[
        (Starts(&["'From", "\"", "!", "Object subclass:", "Smalltalk"]), Some("smalltalk")),
        (Has(&[" subclass: #"]), Some("smalltalk")),
    ],
    None,
);

pub(super) static F: ClueList = ClueList::new(&[(Starts(&["\\ ", ": "]), Some("forth"))], Some("fortran"));
pub(super) static BAS: ClueList = ClueList::new(&[(Starts(&["Attribute VB_"]), Some("vb"))], Some("basic"));
pub(super) static FRM: ClueList =
    ClueList::new(&[(Starts(&["VERSION 5", "Attribute VB_"]), Some("vb"))], None);
pub(super) static BB: ClueList = ClueList::new(&[(Starts(&["(", ";"]), Some("clojure"))], Some("bitbake"));
pub(super) static SLS: ClueList =
    ClueList::new(&[(Starts(&["#!r6rs", "#!chezscheme", "(", ";"]), Some("scheme"))], None);
pub(super) static SPS: ClueList = ClueList::new(&[(Starts(&["#!", "(", ";"]), Some("scheme"))], Some("spss"));
pub(super) static SWIG: ClueList = ClueList::new(&[(Starts(&["%module"]), Some("swig"))], None);
pub(super) static NCL: ClueList = ClueList::new(&[(XML, None)], Some("ncl"));

pub(super) static SPEC: ClueList = ClueList::new(
    &[
        (Starts(&["Name:", "%define", "%global", "Summary:"]), Some("rpmspec")),
        (Starts(&["# -*- mode: python", "a = Analysis("]), Some("python")),
    ],
    None,
);
