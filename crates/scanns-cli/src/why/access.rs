//! Why a user may see a document or not, step by step.

use std::io::Write;

use anyhow::{Result, bail};
use scanns::Snapshot;
use scanns::access::{
    AccessExplanation, AccessNeed, AccessStep, AccessUser, AclEntry, AclTag, DecidedBy, ExplainedCheck,
    FilePermissions, Gate, PermissionAcl, StepSource, explain_access,
};
use serde_json::{Map, Value, json};

use crate::args::WhyArgs;
use crate::output::Output;
use crate::report::{self, Outcome};

/// Refuses an index that does not know it.
pub(super) fn must_be_known(snapshot: &Snapshot) -> Result<()> {
    if !snapshot.has_access() {
        bail!("the index does not know who may see what: build one with scanns index --access");
    }
    Ok(())
}

/// Explains what a user may see of a document.
pub(super) fn explain(
    args: &WhyArgs,
    snapshot: &Snapshot,
    path: &[u8],
    user: &AccessUser,
    out: &mut Output,
) -> Result<Outcome> {
    let Some(explained) = explain_access(snapshot, path, user)? else { return Ok(Outcome::NotFound) };
    if args.json {
        out.json(&as_json(path, user, &explained))?;
    } else {
        print(out, path, user, &explained)?;
    }
    Ok(if explained.rights.entry || explained.rights.content { Outcome::Done } else { Outcome::Nothing })
}

fn print(out: &mut Output, path: &[u8], user: &AccessUser, explained: &AccessExplanation) -> Result<()> {
    out.quoted(path)?;
    let groups: Vec<String> = user.groups().iter().map(u32::to_string).collect();
    writeln!(out, ", for user {} in the groups {}:", user.uid(), groups.join(","))?;
    for step in &explained.steps {
        write!(out, "  ")?;
        out.quoted(&step.path)?;
        match &step.permissions {
            Some(permissions) => writeln!(out, "  {}{}", described(step, permissions), source(step.source))?,
            None => writeln!(out, "  its permissions are not known")?,
        }
        for check in &step.checks {
            let passes = if check.passes { "yes" } else { "no" };
            writeln!(out, "    {}: {passes}, {}", asked(check.need), reason(step, check))?;
        }
    }
    match &explained.class {
        None => writeln!(out, "the document has no access class, so nobody sees it")?,
        Some(checks) if checks.is_empty() => writeln!(out, "in the index: everybody may see it")?,
        Some(checks) => {
            writeln!(out, "in the index:")?;
            for (need, gate, passes) in checks {
                let passes = if *passes { "yes" } else { "no" };
                writeln!(out, "  {} is for {}: {passes}", asked(*need), members(gate))?;
            }
        }
    }
    let yes = |holds| if holds { "yes" } else { "no" };
    writeln!(out, "entry {}, content {}", yes(explained.rights.entry), yes(explained.rights.content))?;
    Ok(())
}

/// The owner, the group, the mode and the ACL of a step.
fn described(step: &AccessStep, permissions: &FilePermissions) -> String {
    let name = |name: &Option<Vec<u8>>, number: u32| match name {
        Some(name) => crate::quoting::quoted(name).into_owned(),
        None => number.to_string(),
    };
    let [owner, group] = &step.owners;
    let (owner, group) = (name(owner, permissions.uid), name(group, permissions.gid));
    let acl = match &permissions.acl {
        PermissionAcl::None => String::new(),
        PermissionAcl::Posix(entries) => {
            let entries: Vec<String> = entries.iter().map(acl_entry).collect();
            format!(" {}", entries.join(","))
        }
        PermissionAcl::Undecided => " an ACL that cannot be decided".into(),
    };
    format!("{owner}:{group} {:04o}{acl}", permissions.mode & 0o7777)
}

fn acl_entry(entry: &AclEntry) -> String {
    let (name, id) = match entry.tag {
        AclTag::Owner => ("user", String::new()),
        AclTag::User(id) => ("user", id.to_string()),
        AclTag::OwningGroup => ("group", String::new()),
        AclTag::Group(id) => ("group", id.to_string()),
        AclTag::Mask => ("mask", String::new()),
        AclTag::Others => ("other", String::new()),
    };
    let letter = |bit, letter| if entry.permissions & bit != 0 { letter } else { '-' };
    format!("{name}:{id}:{}{}{}", letter(4, 'r'), letter(2, 'w'), letter(1, 'x'))
}

fn source(source: StepSource) -> &'static str {
    match source {
        StepSource::Index | StepSource::Unknown => "",
        StepSource::Now => " (as it is now)",
    }
}

fn asked(need: AccessNeed) -> &'static str {
    match need {
        AccessNeed::Search => "to search",
        AccessNeed::List => "to list",
        AccessNeed::Read => "to read",
    }
}

/// The rule that decided a check.
fn reason(step: &AccessStep, check: &ExplainedCheck) -> String {
    match check.by {
        DecidedBy::Root => "as root".into(),
        DecidedBy::Owner => "as the owner".into(),
        DecidedBy::Group => "as a member of the group".into(),
        DecidedBy::Others => "as others".into(),
        DecidedBy::AclGroups => "no group of the ACL that the user is in grants it".into(),
        DecidedBy::Undecided => "this cannot be decided here".into(),
        DecidedBy::AclEntry(at) => match step.permissions.as_ref().map(|permissions| &permissions.acl) {
            Some(PermissionAcl::Posix(entries)) => {
                let entry = entries.get(at).map(acl_entry).unwrap_or_default();
                let mask = entries.iter().find(|entry| entry.tag == AclTag::Mask).map(acl_entry);
                format!("by {entry}{}", mask.map(|mask| format!(" with {mask}")).unwrap_or_default())
            }
            _ => "by its ACL".into(),
        },
    }
}

/// Who passes a gate, in words.
fn members(gate: &Gate) -> String {
    let mut text = Vec::new();
    gate.write(&mut text);
    match String::from_utf8_lossy(&text) {
        text if text.is_empty() => "root alone".into(),
        text if text == "?" => "root alone, as it cannot be decided".into(),
        text => text
            .replace("+u", " user ")
            .replace("-u", " not user ")
            .replace("+g", " group ")
            .replace("-g", " not group ")
            .replace("+*", " all others")
            .trim()
            .to_owned(),
    }
}

fn as_json(path: &[u8], user: &AccessUser, explained: &AccessExplanation) -> Value {
    let step = |step: &AccessStep| {
        let mut object = Map::new();
        report::put_bytes(&mut object, "path", &step.path);
        let known = step.permissions.as_ref();
        for (name, value) in [
            ("uid", json!(known.map(|known| known.uid))),
            ("gid", json!(known.map(|known| known.gid))),
            ("mode", json!(known.map(|known| format!("{:04o}", known.mode & 0o7777)))),
            ("now", json!(step.source == StepSource::Now)),
            ("described", json!(known.map(|known| described(step, known)))),
        ] {
            object.insert(name.into(), value);
        }
        let check = |check: &ExplainedCheck| {
            let reason = reason(step, check);
            json!({ "need": asked(check.need), "passes": check.passes, "reason": reason })
        };
        object.insert("checks".into(), step.checks.iter().map(check).collect());
        Value::from(object)
    };
    let gate = |(need, gate, passes): &(AccessNeed, Gate, bool)| {
        let members = members(gate);
        json!({ "need": asked(*need), "for": members, "passes": passes })
    };
    let mut object = Map::new();
    report::put_bytes(&mut object, "path", path);
    for (name, value) in [
        ("uid", json!(user.uid())),
        ("groups", json!(user.groups())),
        ("steps", explained.steps.iter().map(step).collect()),
        ("class", json!(explained.class.as_ref().map(|gates| gates.iter().map(gate).collect::<Vec<_>>()))),
        ("entry", json!(explained.rights.entry)),
        ("content", json!(explained.rights.content)),
    ] {
        object.insert(name.into(), value);
    }
    object.into()
}
